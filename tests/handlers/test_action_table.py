"""The table of what the engine does by itself."""

from __future__ import annotations

from typing import get_args

import pytest

from qrspi.core.model import NextKind
from qrspi.handlers.action_table import MECHANICAL, Action
from qrspi.handlers.menus.menu import ELSEWHERE, MENUS


@pytest.mark.parametrize("action", MECHANICAL.values(), ids=MECHANICAL.keys())
def test_every_action_has_its_handler(action: Action) -> None:
    assert callable(action.handler())


def test_only_what_writes_nothing_but_files_of_the_run_is_rehearsed_whole() -> None:
    whole = {name for name, action in MECHANICAL.items() if action.rehearsal == "whole"}
    assert whole == {"prepare-round", "assemble", "loop", "loop-again", "audit"}
    assert not any(
        action.asked_for and action.rehearsal != "named" for action in MECHANICAL.values()
    )


# Somebody else acts, and no menu is open: an agent writes, or a person puts something right.
WAITING: tuple[NextKind, ...] = (
    *("author", "fix", "implement", "replan-edit"),
    *("records", "prerequisite", "precondition", "invalid", "plan"),
    *("wireframes", "dispositions", "plan-tasks", "isolation", "form", "trust"),
)
# A person may choose, and without a word from one the engine goes on; a text that waits for a yes
# has a menu only when its review was not clean.
BOTH: tuple[NextKind, ...] = ("loop", "loop-again", "escape", "approve")


@pytest.mark.parametrize("kind", [kind for kind in get_args(NextKind) if kind])
def test_each_kind_of_next_action_has_one_place_that_deals_with_it(kind: NextKind) -> None:
    places = [kind in table for table in (MECHANICAL, MENUS, ELSEWHERE, WAITING)]
    assert sum(places) == (2 if kind in BOTH else 1)


def test_an_action_without_a_kind_is_done_by_its_own_name() -> None:
    actions = set(MECHANICAL) - set(get_args(NextKind))
    assert actions == {"prepare-round", "assemble", "commit-round"}
