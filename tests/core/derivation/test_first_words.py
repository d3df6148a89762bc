"""What is said of a run that is complete, and of one whose config cannot be used."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import ROUTES
from qrspi.core.records import approvals, import_record
from qrspi.core.records.approvals import Record
from tests.core.rounds.test_loop import ROUND, opened
from tests.runs import RUN, approved, artifact, clean, config, tree

QUICK = ROUTES["quick"]
SHIPPED: dict[str, tuple[dict[str, str], str]] = {
    "the tests passed": ({"tests": "passed"}, ""),
    "nobody gave a reason": ({"tests": "failed"}, ""),
    "with findings": (
        {"tests": "passed", "reason": "Small ones."},
        ", shipped with findings that are not settled",
    ),
    "how the tests stood is not on record": (
        {"reason": "Small ones."},
        ", shipped with findings that are not settled",
    ),
    "the tests failed": (
        {"tests": "failed", "reason": "Flaky."},
        ", shipped although the tests failed",
    ),
}


@pytest.mark.rule("LIV-01")
@pytest.mark.parametrize(("said", "although"), SHIPPED.values(), ids=SHIPPED.keys())
def test_what_spoke_against_shipping_is_said(said: dict[str, str], although: str) -> None:
    log = approvals.render(Record("approve", "test", "", 1, **said))  # type: ignore[arg-type]
    done = approved(*QUICK)
    answer = derive(tree({"config.md": config("quick"), "approvals.jsonl": log}, done)).next
    assert answer.summary == f"The run is complete{although}; nothing is left to do."


RENAMED = config().replace(b"second_reviewer", b"codex_reviews")
BARE = config(drop=["model_routing"])
REVIEWED = {"reviews/goals/round-01/quality-claude.clean.md": clean()}
ELSEWHERE: dict[str, tuple[dict[str, bytes], bool]] = {
    "a renamed field": ({"config.md": RENAMED}, True),
    "a renamed field, and taken in before": (
        {"config.md": RENAMED, import_record.FILE: b"---\n---\n"},
        False,
    ),
    "rounds, and no models": ({"config.md": BARE} | REVIEWED, True),
    "no models, and no rounds": ({"config.md": BARE}, False),
    "rounds, and a bad field": (
        {"config.md": config(second_reviewer="maybe")} | REVIEWED,
        False,
    ),
}


@pytest.mark.parametrize(("files", "elsewhere"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_run_that_was_made_elsewhere_is_taken_in(
    files: dict[str, bytes], elsewhere: bool
) -> None:
    state = derive(tree(files, {"goals.md": artifact()}))
    take = f"qrspi import docs/qrspi/{RUN}"
    first = state.errors[0].message
    assert state.next.summary == (f"{first}. `{take}` takes the run in." if elsewhere else first)
    if elsewhere:
        assert state.next.command == take
        assert tuple(state.next.options[0]) == (
            "1",
            f"Take the run in, which was made elsewhere: {take}",
        )
    assert (state.pipeline, state.phase) == ("full", 1)


def test_all_faults_of_agents_are_errors_while_they_are_to_be_corrected() -> None:
    bad = {f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n"}
    state = derive(tree(opened(), bad))
    assert (state.next.kind, [one.file for one in state.errors]) == ("fix-files", list(bad))
    assert (state.pipeline, derive(tree(opened())).errors) == ("full", ())
