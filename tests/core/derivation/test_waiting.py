"""What waits for people, and what a host can wait for."""

from __future__ import annotations

import pytest

from qrspi.core.derivation import waiting
from qrspi.core.derivation.derive import derive
from qrspi.core.derivation.waiting import Awaited, changed, happened, in_vain
from qrspi.core.model import RunState
from tests import runs
from tests.core.rounds.test_loop import CHANGED, DISPOSED, PAUSED, SCORED, opened, with_engine_files
from tests.runs import RUN, tree

DRAFT = {"config.md": runs.config(), "goals.md": runs.artifact()}
WHOLE = {"config.md": runs.config(route="[goals]"), **runs.approved("goals")}
ASKING = {"config.md": runs.config(), "goals.md": b"---\nstatus: [\n---\n"}
SENDING = {"config.md": runs.config(), **runs.approved("goals")}
CLOSED = {**ASKING, "closed.md": b"---\nreason: x\n---\n"}


def state(files: dict[str, bytes]) -> RunState:
    return derive(runs.tree(files))


@pytest.mark.rule("APV-03")
@pytest.mark.parametrize(
    ("files", "human", "agent"),
    [
        (DRAFT, (False, False), (False, False)),
        (ASKING, (True, False), (False, False)),
        (SENDING, (False, False), (True, False)),
        (WHOLE, (False, True), (False, True)),
        (CLOSED, (False, True), (False, True)),
    ],
    ids=["engine", "human", "agent", "nobody", "closed"],
)
def test_whom_a_run_needs_and_whom_never(
    files: dict[str, bytes], human: tuple[bool, bool], agent: tuple[bool, bool]
) -> None:
    now = state(files)
    answers: list[tuple[Awaited, tuple[bool, bool]]] = [("human", human), ("agent", agent)]
    for awaited, expected in answers:
        assert (happened(awaited, now, now), in_vain(awaited, now)) == expected
    assert (happened("change", now, now), in_vain("change", now)) == (False, False)


@pytest.mark.rule("APV-03")
def test_what_is_different() -> None:
    before, now = state(DRAFT), state(SENDING)
    assert changed(before, now) == ("current_step", "steps", "next", "warnings")
    assert happened("change", before, now)


@pytest.mark.rule("PPL-03")
def test_a_paused_round_gives_one_item_a_finding() -> None:
    files = with_engine_files(opened() | PAUSED)
    found = waiting.items([derive(tree(files, in_git=True))])
    assert found == (
        waiting.Item(
            RUN,
            "pause",
            "goals",
            1,
            "scope-claude.R1-F01: apply it, or skip it",
            f"qrspi decide {RUN} scope-claude.R1-F01 apply",
            "scope-claude.R1-F01",
            found[0].options,
            False,
        ),
    )
    ways = (f"qrspi decide {RUN} scope-claude.R1-F01 {key}" for key in ("apply", "skip"))
    assert found[0].ways == tuple(ways)


@pytest.mark.rule("PPL-03")
@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"config.md": b"---\n---\n"}, "menu"),
        (opened() | SCORED | DISPOSED | CHANGED, "menu"),
        (opened() | SCORED | DISPOSED, "approve"),
    ],
    ids=["a bad config", "the question after round 1", "the gate"],
)
def test_kinds(files: dict[str, bytes], kind: str) -> None:
    assert [item.kind for item in waiting.items([derive(tree(files))])] == [kind]


@pytest.mark.rule("PPL-03")
def test_closed_runs_and_runs_that_wait_for_agents_are_not_in_it() -> None:
    closed = derive(tree({"config.md": b"---\n---\n"}))._replace(closed=True)
    sending = derive(tree(opened()))
    assert waiting.items([closed, sending]) == ()


@pytest.mark.rule("PPL-03", "LIV-18")
def test_what_a_person_can_have_made_again_is_listed() -> None:
    place = "reviews/goals/round-01/quality-claude.finding-F01.md"
    bad = runs.finding().replace(b"severity: medium", b"severity: huge")
    now = derive(tree(with_engine_files(opened() | SCORED | {place: bad}), in_git=True))
    (item,) = waiting.items([now])
    assert (now.next.who, item.kind, item.command) == (
        "agent",
        "failure",
        now.next.command,
    )
