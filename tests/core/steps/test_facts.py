"""What a run's files say together: statuses, decisions on record, and what contradicts them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import ROUTES
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.steps import facts as facts_of
from qrspi.core.steps.facts import Facts, gather
from qrspi.core.tree import MemoryTree
from tests.runs import ON_FULL, RUN, approved, artifact, config, text_hash, tree

FULL, QUICK = ROUTES["full"], ROUTES["quick"]
LOG = approvals.render(Record("approve", "goals", text_hash(artifact("approved")), 1))
OTHER = artifact("approved", "# Text\n\nAnother word.\n")


class Committed(MemoryTree):
    """Git has the record of decisions, whether it is here or not."""

    def knows(self, path: str) -> bool:
        return path == approvals.FILE


def found(files: Mapping[str, bytes], route: tuple[str, ...] = FULL, **fields: str) -> Facts:
    settings = configs.read(config("full" if route == FULL else "quick", **fields))
    return gather(tree(files), settings, route)[0]


@pytest.mark.rule("APV-01")
@pytest.mark.parametrize(
    ("files", "lost"),
    [
        (approved("goals"), True),
        ({"goals.md": artifact(), "feedback/goals-round-01.md": b"No.\n"}, True),
        ({"goals.md": artifact(), "phases/phase-01/plan.md": b""}, True),
        ({"goals.md": artifact(), approvals.CASCADES: b""}, True),
        ({"goals.md": artifact()}, False),
        (approved("goals") | {approvals.FILE: b""}, False),
        (approved("goals") | {approvals.FILE: LOG}, False),
    ],
    ids=["approved", "feedback", "phases", "cascades", "undecided", "empty", "there"],
)
def test_a_record_that_git_has_and_the_run_has_not_is_missed(
    files: Mapping[str, bytes], lost: bool
) -> None:
    run = Committed(files, RUN)
    asked, unasked = (
        gather(run, configs.read(config()), FULL, ask_git=ask)[0] for ask in (True, False)
    )
    assert (asked.unread is not None, unasked.unread) == (lost, None)
    assert asked.unread is None or approvals.FILE in asked.unread.message


@pytest.mark.rule("CSC-06")
@pytest.mark.parametrize(
    ("log", "read"),
    [({}, True), ({approvals.CASCADES: b""}, True), ({f"{approvals.CASCADES}/x": b""}, False)],
    ids=["none", "a file", "a folder"],
)
def test_what_a_run_approved_by_itself_must_be_readable(
    log: Mapping[str, bytes], read: bool
) -> None:
    facts = found(approved("goals") | {approvals.FILE: LOG} | log, QUICK)
    assert (facts.unread is None, len(facts.records)) == (read, int(read))
    assert facts.unread is None or facts.unread.hint == f"qrspi status {RUN}"


@pytest.mark.rule("ST-03")
def test_an_approval_right_behind_the_current_step_is_stale() -> None:
    state = derive(tree({"config.md": config(), "goals.md": artifact()}, approved("questions")))
    assert [one.file for one in state.warnings if one.code == "stale-approval"] == ["questions.md"]


@pytest.mark.rule("LIV-08")
def test_a_text_that_lost_its_approval_by_an_edit_is_told_to_have_changed() -> None:
    log = approvals.render(Record("approve", *Mark("goals", text_hash(OTHER), 1)))
    log += approvals.render(Record("approve", "questions", text_hash(OTHER, "questions.md"), 1))
    log += approvals.render(Record("unapprove", "questions", "", 1))
    files = {"config.md": config(approvals="recorded"), approvals.FILE: log}
    state = derive(tree(files, approved("goals"), {"questions.md": artifact()}))
    changed = [one.file for one in state.warnings if "changed" in one.code or "edited" in one.code]
    assert changed == ["goals.md"]


@pytest.mark.rule("LIV-08")
def test_a_step_without_a_record_was_approved_before_no_change() -> None:
    """Nobody knows which of the two texts of the goals it was built on."""
    twice = [text_hash(OTHER), text_hash(artifact("approved"))]
    log = b"".join(approvals.render(Record("approve", "goals", one, 1)) for one in twice)
    files = {"config.md": config(), approvals.FILE: log}
    state = derive(tree(files, approved("goals", "questions")))
    assert [one.code for one in state.warnings if one.code == "upstream-changed"] == []


@pytest.mark.rule("ST-04")
@pytest.mark.parametrize("marker", [True, False])
def test_a_replan_needs_its_marker(marker: bool) -> None:
    files = approved(*FULL) | ({"replan-pending.md": b"---\nphase: 1\n---\n"} if marker else {})
    assert facts_of.unmet(found(files), "replan") == (() if marker else ("replan-pending.md",))


@pytest.mark.rule("ST-04")
@pytest.mark.parametrize(
    ("route", "step", "missing"),
    [
        (QUICK, "implement", ("tasks/task-02.md",)),
        (FULL, "implement", ()),
        (FULL, "parallelize", ()),
    ],
)
def test_only_a_quick_run_implements_all_its_tasks(
    route: tuple[str, ...], step: str, missing: tuple[str, ...]
) -> None:
    tasks = {"tasks/task-01.md": artifact("approved"), "tasks/task-02.md": artifact()}
    facts = found(approved(*route[: route.index(step)]) | tasks, route)
    assert facts_of.unmet(facts, step) == missing


@pytest.mark.rule("ST-01")
@pytest.mark.parametrize(
    ("files", "status"),
    [({}, "missing"), ({"design.md": artifact()}, "draft"), (approved("design"), "approved")],
)
def test_a_step_beside_the_route_has_the_status_of_its_text(
    files: Mapping[str, bytes], status: str
) -> None:
    assert facts_of.status_of(found(files, QUICK), "design") == status


@pytest.mark.rule("ST-01")
@pytest.mark.parametrize(
    ("done", "free"),
    [(("goals",), True), (("goals", "design"), False), (("goals", "plan"), False)],
    ids=["nothing hangs on it", "a step that was left", "the plan"],
)
def test_a_route_changed_by_hand_is_free_while_nothing_hangs_on_it(
    done: tuple[str, ...], free: bool
) -> None:
    log = approvals.render(Record("approve", "goals", "", 1, route=ON_FULL))
    facts = found(approved(*done) | {approvals.FILE: log}, QUICK)
    (told,) = facts_of.rerouted(facts)
    assert ("route set" in told.message or "route set" in told.hint) is free, told
