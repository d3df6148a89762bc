"""`qrspi demo`: a whole run with scripted agents, in a repository of its own."""

from __future__ import annotations

import os
import textwrap
import time
from collections.abc import Generator, Iterable, Iterator

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.model import counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.demo import performance, story
from qrspi.demo.narration import Beat
from qrspi.demo.performance import Tally
from qrspi.demo.story import Story
from qrspi.render.terminal import Paint, one_line, painter
from qrspi.world.git import scratch_repository
from qrspi.world.machine import clock

WIDEST = 80
_STYLES = {"engine": "cyan", "agent": "dim", "person": "yellow"}


class Ending(NamedTuple):
    tally: Tally
    folder: str | None  # None when it was removed
    seconds: float | None  # None when the clock is set by the environment


@verb("demo")
@click.option("--quick", is_flag=True, help="The short pipeline, where clean steps pass alone.")
@click.option("--gates", is_flag=True, help="The short pipeline with its three gates on.")
@click.option("--keep", is_flag=True, help="Leave the repository for you to look at.")
@click.option("--pause", is_flag=True, help="Wait for Enter before each step.")
def command(session: Session, quick: bool, gates: bool, keep: bool, pause: bool) -> None:
    """A whole run, from init to complete, in a repository of its own that is gone afterwards.

    Agents are played from a script; the commands are the real ones. Nothing of yours is touched.
    """
    told = story.load("gates" if gates else "quick" if quick else "full")
    page = _Page(session, pause and session.interactive)
    page.say((*textwrap.wrap(_opening(told), page.width), ""))
    start = time.monotonic()
    with scratch_repository.repository(story.project(), keep=keep) as folder:
        tally = page.follow(performance.play(told, folder))
    seconds = None if os.environ.get(clock.VARIABLE) else round(time.monotonic() - start, 1)
    ending = Ending(tally, folder if keep else None, seconds)
    page.say(_closing(ending))
    if session.json:
        session.emit(_document(told, page.beats, ending))


class _Page:
    def __init__(self, session: Session, pause: bool) -> None:
        self.beats: list[Beat] = []
        self._session = session
        self._pause = pause
        self._paint = painter(session.color)
        self.width = max(40, min(session.width, WIDEST))

    def say(self, lines: Iterable[str]) -> None:
        if not self._session.json:
            self._session.write("".join(f"{line}\n" for line in lines))

    def follow(self, beats: Generator[Beat, None, Tally]) -> Tally:
        while True:
            try:
                beat = next(beats)
            except StopIteration as end:
                tally: Tally = end.value
                return tally
            self.beats.append(beat)
            if self._pause and beat.who == "step":
                click.pause("")
            self.say(_lines(beat, self.width, self._paint))


def _lines(beat: Beat, width: int, paint: Paint) -> Iterator[str]:
    says = one_line(beat.says)
    match beat.who:
        case "step":
            yield ""
            yield f"{paint(beat.step, 'bold')}: {says}"
        case "command":
            yield paint(f"  $ {says}", "bold")
        case who:
            first, *rest = textwrap.wrap(says, width - 10, break_on_hyphens=False)
            yield f"  {paint(who, _STYLES[who])}{' ' * (8 - len(who))}{first}"
            yield from (f"{' ' * 10}{line}" for line in rest)


def _opening(told: Story) -> str:
    return (
        f"{told.about[0].upper()}{told.about[1:]}. What follows is a whole run about that, in a "
        "repository of its own. Agents and the person are played from a script; each line with "
        "a $ is a command that really runs."
    )


def _closing(ending: Ending) -> Iterator[str]:
    took = f", in {ending.seconds} seconds" if ending.seconds is not None else ""
    yield from ("", f"complete: {counted(ending.tally.steps, 'step')}{took}", "")
    for name, value in ending.tally._asdict().items():
        if name != "steps" and (value or name not in Tally._field_defaults):
            yield f"  {name.replace('_', ' '):22}{value:3}"
    yield ""
    if ending.folder:
        yield "Look around in it:"
        yield f"  cd {ending.folder} && qrspi status"
    else:
        yield "The repository is gone again; with --keep it stays for you to look at."


def _document(told: Story, beats: list[Beat], ending: Ending) -> dict[str, object]:
    return {
        "schema": "qrspi/demo/v1",
        "pipeline": told.pipeline,
        "slug": told.slug,
        "folder": ending.folder,
        "beats": [
            {**beat._asdict(), "step": beat.step or None, "round": beat.round or None}
            for beat in beats
        ],
        "summary": {**ending.tally._asdict(), "seconds": ending.seconds},
    }
