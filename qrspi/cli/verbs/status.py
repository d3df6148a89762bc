"""`qrspi status`: where runs stand.

`status --watch` looks again and again, and draws whenever the answer has changed. It looks at
files, not events: an event can be lost, and deriving all runs costs less than the terminal needs to
draw them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from qrspi.cli import arguments
from qrspi.cli.answers import status
from qrspi.cli.answers.status import Request, Standing
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.render.terminal import folded

if TYPE_CHECKING:
    from qrspi.world.machine.keyboard import Wait

_SHORTEST = 0.25
_LEAVE = b"qQ"
_SHARE = 20  # looking takes at most one part in this many of the time


@verb("status")
@arguments.run
@click.option("--all", "everything", is_flag=True, help="Closed runs too.")
@click.option("--explain", is_flag=True, help="Say why, and which files were read for it.")
@click.option("--checklist", is_flag=True, help="One line a step: [ ], [~] or [x].")
@click.option("--watch", is_flag=True, help="Stay, and draw again whenever something changes.")
def command(
    session: Session,
    run: str | None,
    everything: bool,
    explain: bool,
    checklist: bool,
    watch: bool,
) -> None:
    """Where runs stand: a table, then the next action in one sentence.

    Without RUN all open runs are shown.
    """
    request = Request(run, everything, explain, checklist)
    if watch:
        _follow(session, request)
    else:
        status.show(session, **request._asdict())


def _follow(session: Session, request: Request) -> None:
    """Ends when it is interrupted; on a screen of its own also with a key."""
    if session.draws:
        _in_place(session, request)
    else:
        _one_after_the_other(session, request)


def _one_after_the_other(session: Session, request: Request) -> None:
    for at, found in enumerate(_changes(session, request, _slept)):
        status.tell(session, request, found, before=("",) if at else ())


def _slept(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _in_place(session: Session, request: Request) -> None:
    # The only place that needs a screen: rich costs more than the whole of a plain `status`.
    from rich.live import Live
    from rich.text import Text

    from qrspi.world.machine import keyboard

    with (
        keyboard.until_one_of(_LEAVE) as typed,
        Live(auto_refresh=False, screen=True, vertical_overflow="crop") as live,
    ):
        foot = "Press q to leave." if typed else "Press Ctrl-C to leave."
        for found in _changes(session, request, typed or _slept):
            page = folded(status.lines(session, request, found), session.width)
            shown = _above(foot, list(page), live.console.height)
            live.update(Text.from_ansi("\n".join(shown)), refresh=True)


def _above(foot: str, page: list[str], rows: int) -> list[str]:
    """As much of the page as fits above its last line, which is always shown."""
    room = rows - 2
    return [*(page if len(page) <= room else [*page[: room - 1], "…"]), "", foot]


def _changes(session: Session, request: Request, left: Wait) -> Iterator[Standing]:
    seen: dict[str, Any] | None = None
    gone = False
    while not gone:
        begun = time.monotonic()
        found = status.look(session, request)
        now = {**status.document(found), "daemon": found.daemon is not None}
        if now != seen:
            seen = now
            yield found
        gone = left(max(_SHORTEST, _SHARE * (time.monotonic() - begun)))
