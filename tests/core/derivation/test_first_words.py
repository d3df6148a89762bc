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
TAKE = f"qrspi import docs/qrspi/{RUN}"
TAKEN = f". `{TAKE}` takes the run in."
ANSWERED = f". Answer with `qrspi resolve {RUN} NUMBER`."
ELSEWHERE: dict[str, tuple[dict[str, bytes], str]] = {
    "a renamed field": ({"config.md": RENAMED}, TAKEN),
    "a renamed field, and taken in before": (
        {"config.md": RENAMED, import_record.FILE: b"---\n---\n"},
        "",
    ),
    "rounds, and no models": ({"config.md": BARE} | REVIEWED, TAKEN),
    "no models, and no rounds": ({"config.md": BARE}, ANSWERED),
    "rounds, and a bad field": (
        {"config.md": config(second_reviewer="maybe")} | REVIEWED,
        ANSWERED,
    ),
}


@pytest.mark.parametrize(("files", "ending"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_run_that_was_made_elsewhere_is_taken_in(files: dict[str, bytes], ending: str) -> None:
    state = derive(tree(files, {"goals.md": artifact()}))
    assert state.next.summary == f"{state.errors[0].message}{ending}"
    if ending == TAKEN:
        assert state.next.command == TAKE
        assert tuple(state.next.options[0]) == (
            "1",
            f"Take the run in, which was made elsewhere: {TAKE}",
        )
    assert (state.pipeline, state.phase) == ("full", 1)


def test_all_faults_of_agents_are_errors_while_they_are_to_be_corrected() -> None:
    bad = {f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n"}
    state = derive(tree(opened(), bad))
    assert (state.next.kind, [one.file for one in state.errors]) == ("fix-files", list(bad))
    assert (state.pipeline, derive(tree(opened())).errors) == ("full", ())
