"""What is said of a run that is complete, and of one whose config cannot be used."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.filenames import MANIFEST
from qrspi.core.pipeline import ROUTES, subject_of
from qrspi.core.records import approvals, import_record
from qrspi.core.records.approvals import Record
from tests.core.rounds.test_loop import ROUND, opened
from tests.runs import RUN, approved, artifact, clean, config, finding, tree

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
            TAKE,
        )
    assert (state.pipeline, state.phase) == ("full", 1)


def test_all_faults_of_agents_are_errors_while_they_are_to_be_corrected() -> None:
    bad = {f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n"}
    state = derive(tree(opened(), bad))
    assert (state.next.kind, [one.file for one in state.errors]) == ("fix-files", list(bad))
    assert (state.pipeline, derive(tree(opened())).errors) == ("full", ())


def test_faults_in_a_round_from_elsewhere_are_nobodys_to_correct() -> None:
    bad = {f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n"}
    record = import_record.NOTHING._replace(rounds={subject_of("goals").reviews: (1,)})
    page = {import_record.FILE: import_record.head(record).encode()}
    files = {path: data for path, data in opened().items() if not path.endswith(MANIFEST)}
    state = derive(tree(files, bad, page))
    assert (state.next.kind, state.errors) == ("imported-round", ())


@pytest.mark.rule("LIV-03")
@pytest.mark.parametrize(("verifies", "to_score"), [("true", 1), ("false", None)])
def test_beside_a_faulty_file_only_what_will_be_scored_is_counted(
    verifies: str, to_score: int | None
) -> None:
    files = opened() | {
        "config.md": config(verifier_enabled=verifies),
        f"{ROUND}/quality-claude.finding-F01.md": finding(),
        f"{ROUND}/scope-claude.finding-F01.md": b"no frontmatter\n",
    }
    state = derive(tree(files))
    goals = next(one for one in state.steps if one.step == "goals")
    assert (state.next.kind, goals.to_score) == ("fix-files", to_score)


def test_a_field_that_the_step_uses_is_an_error_and_not_a_warning_too() -> None:
    bad = {"config.md": config("quick", question_budget="many")}
    at_goals = derive(tree(bad, {"goals.md": artifact()}))
    at_questions = derive(tree(bad, approved("goals")))
    assert [one.field for one in at_goals.errors] == ["question_budget"]
    assert "question_budget" not in [one.field for one in at_goals.warnings]
    assert "question_budget" in [one.field for one in at_questions.warnings]
