"""The performance: ask what is next, let whoever is needed act, until the run is complete."""

from __future__ import annotations

from collections.abc import Callable, Generator

from qrspi.demo import agents, person, stage, tally, telling
from qrspi.demo.stage import Answer, Beats, Stage
from qrspi.demo.story import Story
from qrspi.demo.tally import Tally
from qrspi.demo.telling import Beat

MOST_TURNS = 200

PARTS: dict[str, Callable[[Stage, Answer], Beats]] = {
    "author": agents.author,
    "review": agents.review,
    "verify": agents.verify,
    "apply-fixes": agents.fix,
    "dispatch-tasks": agents.implement,
    "decide": person.decide,
    "approve": person.approve,
    "blocked": person.configure,
}


def play(story: Story, repository: str) -> Generator[Beat, None, Tally]:
    """Everything that happens, one thing at a time; at the end what it came to."""
    here = yield from stage.begin(story, repository)
    steps = yield from _under_headings(_turns(here))
    return _checked(here, tally.count(here, steps))


def _turns(here: Stage) -> Generator[Beat, None, int]:
    for _ in range(MOST_TURNS):
        answer = yield from here.type("next")
        if answer["complete"]:
            return len(answer["route"])
        yield from _part(here, answer["next"])
    raise RuntimeError(f"the run is not complete after {MOST_TURNS} turns")


def _part(here: Stage, now: Answer) -> Beats:
    if now["action"] not in PARTS:
        raise RuntimeError(f"the run waits for something the story does not know: {now}")
    yield from PARTS[now["action"]](here, now)


def _under_headings(beats: Generator[Beat, None, int]) -> Generator[Beat, None, int]:
    """A heading where the next step of the route begins."""
    step = ""
    while True:
        try:
            beat = next(beats)
        except StopIteration as end:
            steps: int = end.value
            return steps
        now = telling.about({"step": beat.step}).step if beat.step else step
        if now != step:
            step = now
            yield Beat("step", telling.PURPOSES[step], step)
        yield beat


def _checked(here: Stage, found: Tally) -> Tally:
    """A demonstration that shows something else than it promises is broken, and says so."""
    unplayed = here.script.unplayed()
    if unplayed:
        raise RuntimeError(f"the run ended without these scenes of the story: {unplayed}")
    expected = Tally(**here.story.expected)
    if found != expected:
        raise RuntimeError(f"the run came to {found}, and the story to {expected}")
    return found
