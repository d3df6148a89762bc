"""Rounds as they were: counted, and replayed with other settings."""

from __future__ import annotations

import pytest

from qrspi.core.agents.spend import Totals
from qrspi.core.config import reader as configs
from qrspi.core.findings.triage import THRESHOLDS
from qrspi.core.history import past_rounds, simulation, statistics
from qrspi.core.history.simulation import Settings
from qrspi.core.history.statistics import History
from qrspi.core.tree import MemoryTree
from qrspi.render.history import statistics as pages
from tests import runs

A = "The second claim contradicts the first about retention."
B = "Nobody says how long a link is good for."


def rounds(*scores: tuple[tuple[str, str, int], ...]) -> dict[str, bytes]:
    """For each round: change type, message and score of every finding."""
    files: dict[str, bytes] = {}
    for number, found in enumerate(scores, 1):
        folder = f"reviews/goals/round-{number:02d}"
        sent = [{"tag": "quality-claude", "dispatch_spec": {"model": "large"}}]
        files[f"{folder}/.dispatch-manifest.json"] = runs.manifest(round=number, dispatches=sent)
        files[f"{folder}/scope-claude.clean.md"] = runs.clean("scope-claude", number)
        if not found:
            files[f"{folder}/quality-claude.clean.md"] = runs.clean("quality-claude", number)
        for at, (kind, message, score) in enumerate(found, 1):
            stem = f"{folder}/quality-claude.finding-F{at:02d}"
            said = runs.finding(number=at, round=number, kind=kind, message=message)
            files |= {f"{stem}.md": said, f"{stem}.score.yml": runs.score(score)}
    return files


def tree(*scores: tuple[tuple[str, str, int], ...]) -> MemoryTree:
    base = {"config.md": runs.config(), "goals.md": runs.artifact()}
    return MemoryTree({**base, **rounds(*scores)}, runs.RUN)


UNKNOWN = Totals()


def history(found: MemoryTree, spent: Totals = UNKNOWN) -> History:
    loops = past_rounds.loops(found, configs.read(runs.config()))
    chronicles = tuple(past_rounds.chronicle(found, loop) for loop in loops)
    return History(runs.RUN, loops, chronicles, spent)


@pytest.mark.rule("EVD-05")
def test_how_close_dropped_findings_fell() -> None:
    one = (("correctness", A, 68), ("style", B, 40), ("scope", A, 0))
    found = statistics.count([history(tree(one, (("correctness", B, 90),), ()))])
    assert (found.rounds, found.all[1:5]) == (3, (4, 2, 2, 1))
    assert {tally.name: tally.distances for tally in found.by_type} == {
        "correctness": (2,),
        "scope": (),
        "style": (40,),
    }
    assert found.all.buckets == (1, 0, 0, 1)
    assert [tally[:3] for tally in found.by_reviewer] == [("quality-claude", 4, 2)]
    assert [tally[:3] for tally in found.by_model] == [("large", 4, 2)]
    assert [one[1:] for one in found.to_clean] == [("goals", 3, 3)]


@pytest.mark.rule("EVD-05")
def test_on_a_terminal_the_distances_are_drawn() -> None:
    one = (("correctness", A, 68), ("correctness", B, 67), ("style", B, 40))
    found = statistics.count([history(tree(one))])
    drawn, plain = (
        pages.lines([runs.RUN], found, draws=draws, width=80)[2:7] for draws in (True, False)
    )
    assert drawn == [
        "Points below the threshold, of findings that were dropped:",
        f"      1-5     2  {'█' * 30}",
        "     6-10     0",
        "    11-20     0",
        f"  over 20     1  {'█' * 15}",
    ]
    assert plain == [line.partition("  █")[0] for line in drawn]


@pytest.mark.rule("EVD-05")
def test_what_a_kept_finding_costs_and_what_came_back() -> None:
    back = tree((("correctness", A, 10),), (), (("correctness", A, 90),))
    found = statistics.count([history(back, Totals(calls=4, usd=0.5))])
    assert (found.re_raised, found.share, found.per_kept) == (1, 0.5, 0.5)
    assert statistics.count([history(back)]).per_kept is None
    assert statistics.count([]).share == 0


def replayed(found: MemoryTree, settings: Settings) -> simulation.ReplayedLoop:
    (loop,) = past_rounds.loops(found, configs.read(runs.config()))
    return simulation.replay(loop, settings)


FIXED = tree((("correctness", A, 75),), (("correctness", B, 72),), ())


@pytest.mark.rule("PPL-06")
@pytest.mark.parametrize(
    ("settings", "because", "reached"),
    [
        (Settings(), "", [True, True, True]),
        (
            Settings({**THRESHOLDS, "correctness": 74}),
            "round 2 would have been clean: round 3 would not have been made",
            [True, True, False],
        ),
        (
            Settings({**THRESHOLDS, "correctness": 76}),
            "round 1 would have been clean: rounds 2-3 would not have been made",
            [True, False, False],
        ),
        (
            Settings(cap=2),
            "round 2 would have been stopped for a person: round 3 would not have been made",
            [True, True, False],
        ),
    ],
)
def test_where_a_loop_would_have_gone_another_way(
    settings: Settings, because: str, reached: list[bool]
) -> None:
    found = replayed(FIXED, settings)
    assert (found.because, [one.reached for one in found.rounds]) == (because, reached)


@pytest.mark.rule("PPL-06")
def test_a_round_that_somebody_wanted_after_a_clean_one_would_have_been_made_too() -> None:
    found = replayed(tree((), (("correctness", A, 90),), ()), Settings())
    assert (found.because, [one.reached for one in found.rounds]) == ("", [True, True, True])


@pytest.mark.rule("PPL-06")
def test_without_a_verifier_every_finding_is_kept() -> None:
    low = tree((("style", A, 10),))
    found = replayed(low, Settings(verifier=False))
    assert found.because == "round 1 would have ended with fix instead of clean"
    (change,) = found.rounds[0].changed
    assert change[:4] == ("quality-claude.R1-F01", 10, "drop", "keep")
    assert replayed(low, Settings(verifier=False)) == found
