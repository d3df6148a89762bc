"""`status --watch`: look again and again, and draw whenever the answer is another.

Files are looked at, not events: an event can be lost, and a derivation of all runs costs
less than the terminal needs to draw it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from qrspi.cli import status_answer as standing
from qrspi.cli.session import Session
from qrspi.cli.status_answer import Request, Standing

_SHORTEST = 0.25
_SHARE = 20  # a look may take one part in so many of the time


def follow(session: Session, request: Request) -> None:
    """Ends when it is interrupted."""
    if session.draws:
        _in_place(session, request)
    else:
        _one_after_the_other(session, request)


def _one_after_the_other(session: Session, request: Request) -> None:
    for at, found in enumerate(_changes(session, request)):
        standing.tell(session, request, found, before=("",) if at else ())


def _in_place(session: Session, request: Request) -> None:
    # The only place that needs a screen: rich costs more than the whole of a plain `status`.
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False, screen=True, vertical_overflow="crop") as live:
        for found in _changes(session, request):
            page = "\n".join(standing.lines(session, request, found))
            live.update(Text.from_ansi(page), refresh=True)


def _changes(session: Session, request: Request) -> Iterator[Standing]:
    """What there is to see, and then whatever is different from what was seen last."""
    seen: dict[str, Any] | None = None
    while True:
        begun = time.monotonic()
        found = standing.look(session, request)
        now = {**standing.document(found), "daemon": found.daemon is not None}
        if now != seen:
            seen = now
            yield found
        time.sleep(max(_SHORTEST, _SHARE * (time.monotonic() - begun)))
