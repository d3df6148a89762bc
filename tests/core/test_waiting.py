"""What a host can wait for."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.derivation.wait_conditions import Awaited, changed, happened, in_vain
from qrspi.core.model import RunState
from tests import runs

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
    assert changed(before, now) == ("current_step", "steps", "next")
    assert happened("change", before, now)
