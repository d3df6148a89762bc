"""The performance: ask what is next, let whoever is needed act, until the run is complete."""

from __future__ import annotations

from collections.abc import Callable, Generator

from qrspi.demo import narration as telling
from qrspi.demo import scripted_agents as agents
from qrspi.demo import scripted_person as person
from qrspi.demo import stage, tally
from qrspi.demo.narration import Beat
from qrspi.demo.stage import Answer, Beats, Stage
from qrspi.demo.story import Story
from qrspi.demo.tally import Tally

MOST_TURNS = 200
NEXT = Beat("command", "qrspi next")

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
        now = answer["next"]
        if now["action"] not in PARTS:
            raise RuntimeError(f"the run waits for something the story does not know: {now}")
        yield from PARTS[now["action"]](here, now)
    raise RuntimeError(f"the run is not complete after {MOST_TURNS} turns")


def _under_headings(beats: Generator[Beat, None, int]) -> Generator[Beat, None, int]:
    """A heading where the next step of the route begins; a `next` that opens it stands below."""
    step = ""
    held: tuple[Beat, ...] = ()
    while True:
        try:
            beat = next(beats)
        except StopIteration as end:
            steps: int = end.value
            return steps
        if beat == NEXT:
            held = (beat,)
            continue
        now = telling.about({"step": beat.step}).step if beat.step else step
        if now != step:
            step = now
            yield Beat("step", telling.PURPOSES[step], step)
        yield from (*held, beat)
        held = ()


def _checked(here: Stage, found: Tally) -> Tally:
    """A demonstration that shows something else than it promises is broken, and says so."""
    unplayed, expected = here.script.unplayed(), here.story.expected
    if unplayed:
        raise RuntimeError(f"the run ended without these scenes of the story: {unplayed}")
    counted = found._asdict()
    other = {name: counted[name] for name, value in expected.items() if counted[name] != value}
    if other:
        raise RuntimeError(f"the run came to {other}, and the story to {expected}")
    return found
