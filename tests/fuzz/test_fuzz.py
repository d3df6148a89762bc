"""A few of the cases of `make fuzz`, with a seed that does not change."""

from __future__ import annotations

from random import Random

import pytest

from qrspi.core.yaml import reader
from tests.fuzz import mill
from tests.fuzz.case import Fuzz, chance
from tests.fuzz.kinds import KINDS

FEW = {"frontmatters": 1500, "replies": 800, "configs": 150, "tables": 600, "sequences": 40}

# What a kind that reaches what it is about is answered.
REACHED = {
    "frontmatters": {"both", "full alone", "refused", "none"},
    "replies": {"findings", "with violations", "clean", "refused"},
    "configs": {"good", "with problems", "unusable"},
    "tables": {"planned", "planned, with warnings", "refused"},
    "sequences": {"meddled with", "at goals", "at questions"},
}


@pytest.mark.rule("SPE-02", "SEC-03", "ST-07")
@pytest.mark.parametrize("name", KINDS)
def test_nothing_disagrees_raises_or_takes_long(name: str) -> None:
    tally = mill.batch(name, 4, 0, FEW[name])
    assert tally.finds == (), str(tally)
    assert set(tally.answers) >= REACHED[name]


@pytest.mark.parametrize("name", KINDS)
def test_a_case_is_made_again_from_its_seed_and_number(name: str) -> None:
    make = KINDS[name].make
    assert make(chance(4, name, 17)) == make(chance(4, name, 17))
    assert make(chance(4, name, 17)) != make(chance(5, name, 17))


def test_what_disagrees_is_found_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flat reader that has a field more than there is."""
    right = reader.read_flat

    def wrong(text: str) -> object:
        return None if (fields := right(text)) is None else {**fields, "x": ()}

    monkeypatch.setattr(reader, "read_flat", wrong)
    tally = mill.batch("frontmatters", 4, 0, 200)
    assert len(tally.finds) == mill.MOST_FINDS
    assert {find.what.partition(" ")[0] for find in tally.finds} == {"AssertionError"}


def test_what_takes_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Fuzz("slow", 2, Random.random, str)
    monkeypatch.setitem(mill.KINDS, "slow", slow)
    monkeypatch.setattr(mill, "MOST_SECONDS", -1.0)
    assert [find.number for find in mill.batch("slow", 1, 0, 2).finds] == [0, 1]
