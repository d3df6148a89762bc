"""Laws of the verified file, and the shell that it must agree with."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrspi.core.config import reader
from qrspi.core.filenames import RoundPaths
from qrspi.core.findings import guard, triage
from qrspi.core.model import CHANGE_TYPES, Round, Triaged
from qrspi.core.pipeline import subject
from qrspi.core.rounds import verified_file
from tests import runs

SHELL = Path(__file__).resolve().parents[2] / "bench" / "assembly.sh"
PLAN = subject("plan")
assert PLAN is not None
DIRECTORY = RoundPaths(PLAN.reviews, 1).directory
CONFIG = reader.read(runs.config(second_reviewer="true"))
TAGS = [
    f"{kind}-{vendor}"
    for kind in ("quality", "scope", "spec", "security", "goal-traceability", "test-coverage")
    for vendor in ("claude", "codex")
]


class Entry(NamedTuple):
    tag: str
    number: int
    kind: str
    score: int | str | None
    message: str


# A message is any text that the guard lets through as one finding: see FND-08 and FND-10.
MESSAGES = st.text(
    st.characters(codec="utf-8", exclude_characters="\r-", exclude_categories=["Cs"]), min_size=1
).map(lambda text: f"A {text.replace('@@', '@ @').replace('feedback/', 'feedback ')} end.")
ENTRIES = st.builds(
    Entry,
    st.sampled_from(TAGS),
    st.integers(1, 99),
    st.sampled_from(CHANGE_TYPES),
    st.integers(0, 100) | st.sampled_from(["VERIFY_FAILED", None]),
    MESSAGES,
)
ROUNDS = st.lists(ENTRIES, max_size=12, unique_by=lambda entry: (entry.tag, entry.number))


def files(entries: list[Entry], cleans: list[str]) -> dict[str, bytes]:
    """The round directory, name by name."""
    made: dict[str, bytes] = {}
    for tag, number, kind, score, message in entries:
        stem = f"{tag}.finding-F{number:02d}"
        made[f"{stem}.md"] = runs.finding(
            tag, number, step="plan", kind=kind, cites="plan.md:L3", message=message
        )
        if score is not None:
            made[f"{stem}.score.yml"] = runs.score(score)
    return made | {f"{tag}.clean.md": runs.clean(tag) for tag in cleans}


def read(contents: dict[str, bytes]) -> Round:
    tree = runs.tree({f"{DIRECTORY}/{name}": data for name, data in contents.items()})
    assert PLAN is not None
    found = guard.read_round(tree, PLAN, 1, CONFIG, None)
    assert found.violations == ()
    return found


def triaged(found: Round) -> tuple[Triaged, ...]:
    return triage.partition(found, verifier_enabled=True, skipped=False)


def assembled(contents: dict[str, bytes]) -> bytes:
    found = read(contents)
    return verified_file.assemble(found, triaged(found), "true")


CLEANS = st.lists(st.sampled_from(TAGS), unique=True, max_size=4)


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.skipif(not SHELL.exists(), reason="bench/ is not part of this distribution")
@pytest.mark.rule("ASM-01")
@settings(max_examples=12)
@given(ROUNDS, CLEANS)
def test_the_shell_assembles_the_same_bytes(entries: list[Entry], cleans: list[str]) -> None:
    contents = files(entries, cleans)
    with tempfile.TemporaryDirectory() as directory:
        for name, data in contents.items():
            Path(directory, name).write_bytes(data)
        done = subprocess.run(["bash", SHELL, directory, "true"], capture_output=True, check=True)
    assert assembled(contents) == done.stdout


_BOUNDARY = re.compile(rb"^<!-- @@(FINDING|SCORE|CLEAN): (\S+) @@ -->\n", re.MULTILINE)
_EXTENSION = {b"FINDING": ".md", b"SCORE": ".yml", b"CLEAN": ".md"}


def split(data: bytes) -> dict[str, bytes]:
    """The files that an assembly was made of, in its order."""
    parts = _BOUNDARY.split(data)[1:]
    return {
        name.decode() + _EXTENSION[kind]: content
        for kind, name, content in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }


@pytest.mark.rule("ASM-01", "FND-10")
@given(ROUNDS, CLEANS)
def test_every_file_can_be_taken_out_again(entries: list[Entry], cleans: list[str]) -> None:
    contents = files(entries, cleans)
    assert split(assembled(contents)) == contents


@pytest.mark.rule("ASM-01")
@given(ROUNDS, CLEANS, st.randoms(use_true_random=False))
def test_the_order_of_reading_does_not_matter(
    entries: list[Entry], cleans: list[str], chance: random.Random
) -> None:
    found = read(files(entries, cleans))
    findings, sentinels = list(found.findings), list(found.cleans)
    chance.shuffle(findings)
    chance.shuffle(sentinels)
    shuffled = found._replace(findings=tuple(findings), cleans=tuple(sentinels))
    assert verified_file.assemble(shuffled, triaged(shuffled), "true") == verified_file.assemble(
        found, triaged(found), "true"
    )


def kept(judged: Iterable[Triaged]) -> list[Triaged]:
    return [one for one in judged if one.verdict != "drop"]


@pytest.mark.rule("ASM-01", "ASM-02", "VER-02")
@given(ROUNDS, CLEANS)
def test_the_counts_add_up(entries: list[Entry], cleans: list[str]) -> None:
    found = read(files(entries, cleans))
    judged = triaged(found)
    counts = triage.tally(found, judged)
    assert counts.kept + counts.dropped == len(entries)
    assert counts.kept == len(verified_file.kept_paths(DIRECTORY, judged)) == len(kept(judged))
    assert counts.scored == sum(isinstance(entry.score, int) for entry in entries)
    assert counts.failed == sum(entry.score == "VERIFY_FAILED" for entry in entries)
    assert counts.clean == len(cleans)


@pytest.mark.rule("VER-02")
@given(ROUNDS)
def test_a_higher_score_never_drops_a_finding(entries: list[Entry]) -> None:
    better = [
        entry._replace(score=min(100, entry.score + 10)) if isinstance(entry.score, int) else entry
        for entry in entries
    ]
    before = triaged(read(files(entries, [])))
    after = triaged(read(files(better, [])))
    stayed = {one.finding.stem for one in kept(before)}
    assert stayed <= {one.finding.stem for one in kept(after)}
