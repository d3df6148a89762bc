"""Who is sent to a later round."""

from __future__ import annotations

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.pipeline import subject_of
from qrspi.core.rounds import later_rounds
from qrspi.core.rounds.later_rounds import Chosen
from tests import runs

TAGS = ("a", "b", "c", "d")
PLAN = subject_of("plan")


def said(*rounds: str) -> dict[str, bytes]:
    """For each round the tags that wrote a finding; the others found nothing."""
    files: dict[str, bytes] = {}
    for number, raised in enumerate(rounds, 1):
        for tag in TAGS:
            word = "finding-F01" if tag in raised else "clean"
            files[f"reviews/plan/round-{number:02d}/{tag}.{word}.md"] = b"x"
    return files


def chosen(number: int, files: dict[str, bytes], mode: str = "raisers", base: int = 0) -> Chosen:
    config = configs.read(runs.config(later_rounds=mode))
    return later_rounds.choose(runs.tree(files), PLAN, config, TAGS, number, base)


@pytest.mark.rule("LIV-19")
@pytest.mark.parametrize(
    ("number", "rounds", "base", "expected"),
    [
        pytest.param(2, ("a",), 0, "abcd", id="the second round has everybody"),
        pytest.param(3, ("a", "b"), 0, "abc", id="those with a finding in any round, and one"),
        pytest.param(4, ("a", "", "b"), 0, "abd", id="the one more takes turns"),
        pytest.param(5, ("a", "", "b", ""), 0, "abc", id="and comes again"),
        pytest.param(3, ("", ""), 0, "a", id="nobody had anything: one"),
        pytest.param(3, ("abc", "a"), 0, "abcd", id="only one is left over"),
        pytest.param(4, ("a", "b", "c"), 3, "abcd", id="a new loop begins with everybody"),
        pytest.param(6, ("a", "b", "c", "", ""), 3, "a", id="earlier loops say nothing"),
    ],
)
def test_raisers_and_one_more(
    number: int, rounds: tuple[str, ...], base: int, expected: str
) -> None:
    found = chosen(number, said(*rounds), base=base)
    assert found.tags == tuple(expected)
    assert bool(found.because) == (found.tags != TAGS)
    assert chosen(number, said(*rounds), "all", base) == Chosen(TAGS)


@pytest.mark.rule("LIV-19")
def test_it_says_who_is_left_out_and_why() -> None:
    assert chosen(3, said("a", "")).because == (
        "later_rounds is raisers: not sent to round 3, as they had no finding in an earlier one, "
        "are c, d; b had none either and looks again"
    )
