"""Laws of scope sets: whatever is cited or titled, the engine's own set is well-formed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.findings import triage
from qrspi.core.model import Problem
from qrspi.core.pipeline import subject
from qrspi.core.rounds import scope_set
from qrspi.core.rounds.scope_set import FULL, ScopeSet
from tests.core.round_files import finding, round_of

RUN = "2026-05-17-user-auth"
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
PATHS = st.sampled_from(["design.md", f"docs/qrspi/{RUN}/design.md", "src/a b.py"]) | TEXT
CITATIONS = st.builds("{}{}".format, PATHS, st.sampled_from(["", ":3", ":L5-L9", ":x"])) | TEXT
FINDINGS = st.lists(st.lists(CITATIONS, max_size=3), max_size=5).map(
    lambda rows: [finding(at, cites=cites) for at, cites in enumerate(rows, 1)]
)
ARTIFACTS = st.lists(st.builds("## {}".format, TEXT) | TEXT, max_size=9).map("\n".join)


def derived(cites: list[object], word: str, artifact: str) -> ScopeSet:
    read = round_of(cites)  # type: ignore[arg-type]
    triaged = triage.partition(read, verifier_enabled=True, skipped=False)
    reviewed = subject(word)
    assert reviewed is not None
    return scope_set.derive(triaged, reviewed, RUN, artifact.encode())


@pytest.mark.rule("SCP-01", "SCP-04")
@given(FINDINGS, st.sampled_from(["design", "plan"]), ARTIFACTS)
def test_a_derived_set_reads_back_as_it_was(
    findings: list[object], word: str, artifact: str
) -> None:
    found = derived(findings, word, artifact)
    assert scope_set.read(scope_set.render(3, found)) == found
    assert found.total == len(findings)
    assert bool(found.warnings) == (FULL in found.tags)
    assert not any("," in tag for tag in found.tags)


@pytest.mark.rule("SCP-04")
@given(st.binary())
def test_any_bytes_are_a_set_or_a_problem(data: bytes) -> None:
    assert isinstance(scope_set.read(data), ScopeSet | Problem)
