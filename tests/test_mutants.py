"""`make mutants`: what it changes, and that it notices what nobody tests."""

from __future__ import annotations

import importlib
from pathlib import Path

import mutants
import pytest

from qrspi.core.rounds import round_list

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("module", mutants.TESTS)
def test_each_module_and_its_tests_are_there(module: str) -> None:
    assert importlib.import_module(f"qrspi.core.{module}")
    assert all((ROOT / "tests" / "core" / room).is_dir() for room in mutants.TESTS[module])


def test_a_mutant_does_what_its_change_says(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = [False] * round_list.TOTAL
    found = {mutant.change: mutant for mutant in mutants.mutants("rounds.round_list")}
    changed = found["len(pauses) >= TOTAL -> len(pauses) > TOTAL"]
    assert (changed.function, mutants.live(changed)) == ("reached", round_list.reached)
    cap = round_list.reached(pauses)
    assert cap and cap.escape
    monkeypatch.setattr(round_list.reached, "__code__", changed.code)
    other = round_list.reached(pauses)
    assert other and not other.escape


def test_every_known_mutant_is_one_that_is_made() -> None:
    """What is explained away must be there, or the explanation is about nothing."""
    modules = {name.partition(" ")[0] for name in mutants.known()}
    made = {mutant.name for module in modules for mutant in mutants.mutants(module)}
    assert set(mutants.known()) <= made
    assert all(mutants.known().values())
