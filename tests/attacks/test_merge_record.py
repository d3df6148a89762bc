"""To have work lost by a record that calls it merged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qrspi.core.code_steps import gate_records
from qrspi.core.code_steps.gate_records import Merge
from tests.attacks.arena import Arena, workshop
from tests.attacks.trial import attack
from tests.handlers.workshop import Workshop

pytestmark = pytest.mark.rule("SEC-14", "SEC-20")
BRANCH = "qrspi/user-auth/task-01"
RECORD = "test-results.md"


def finished(arena: Arena) -> tuple[Workshop, str]:
    shop = workshop(arena)
    shop.next()
    tip = shop.finish("task-01", "a.py", "good = 1\n")
    shop.next()
    assert shop.resolve("continue")
    return shop, tip


def write(shop: Workshop, row: Merge) -> None:
    block = gate_records.merges_block([row])
    shop.write(RECORD, f"---\nstatus: draft\nphase: 1\n---\n\n# Tests\n\n{block}\n")


@attack(
    "an agent",
    "a row in the record of merges says that a task is merged",
    {
        "merged, by the feature's own commit": ("main", "merged"),
        "merged, by the task's commit": (BRANCH, "merged"),
        "merged, by a commit that is nowhere": ("0" * 40, "merged"),
        "contained": ("", "contained"),
    },
)
def test_a_row(arena: Arena, way: tuple[str, gate_records.Result]) -> None:
    """What is merged is what git has."""
    shop, tip = finished(arena)
    name, result = way
    commit = shop.git("rev-parse", name) if name and not name.isdigit() else name
    write(shop, Merge("task-01", BRANCH, tip, commit, result))
    assert "merged" in arena.qrspi("next").flat
    assert shop.git("show", "main:a.py") == "good = 1"


def squashed(shop: Workshop, start: str) -> None:
    shop.git("reset", "-q", "--soft", start)
    shop.git("commit", "-q", "-m", "all of it")


def another_branch(shop: Workshop, start: str) -> None:
    tree = shop.git("write-tree")
    made = shop.git("commit-tree", tree, "-p", start, "-m", "all of it")
    shop.git("checkout", "-q", "-B", "main", made)


@attack(
    "an agent",
    "work that was merged is taken out of the feature branch, with its history",
    {"by one commit for all": squashed, "by another branch of its name": another_branch},
    no_more="to git, whatever removes the commit is the same",
)
def test_taken_out(arena: Arena, way: Callable[[Workshop, str], None]) -> None:
    """It is merged anew, and nobody approves before."""
    shop, tip = finished(arena)
    start = shop.git("rev-parse", "main")
    arena.qrspi("next")
    assert shop.git("merge-base", tip, "main") == tip
    shop.git("checkout", "-q", start, "--", "a.py")
    way(shop, start)
    assert shop.git("show", "main:a.py") != "good = 1"
    said = arena.qrspi("approve", "test", "--failing", "-m", "It is fine.")
    assert (said.code, "does not have its commit" in said.flat) == (3, True), said.text
    arena.qrspi("next")
    assert shop.git("show", "main:a.py") == "good = 1"
