"""What `log` says: the lines of the audit trail, from its end or as they come."""

from __future__ import annotations

import sys

from qrspi.core.errors import Halt
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import FILE, Line
from qrspi.render.history import audit_lines as rendered
from qrspi.render.terminal import one_line
from qrspi.world.files import json_log
from qrspi.world.files.json_log import Entry
from qrspi.world.files.run_tree import DiskTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qrspi.cli.session import Session

USUAL = 20  # lines


class Request(NamedTuple):
    run: str | None = None
    follows: bool = False
    lines: int = USUAL
    everything: bool = False
    files: bool = False


def show(session: Session, request: Request) -> None:
    """Written line by line as they come: a trail may have no end."""
    run = session.run(request.run)
    printed = False
    for item in map(_line, _entries(DiskTree(run.path), request)):
        if isinstance(item, Problem) and item.code == "unreadable":
            raise Halt(item)
        if session.json:
            session.emit(rendered.document(run.name, item))
        elif isinstance(item, Problem):
            session.note(f"warning: {item.message}")
        else:
            head = [] if printed else [rendered.head(session.width)]
            lines = rendered.lines(item, session.width, files=request.files)
            session.write("\n".join([*head, *lines]) + "\n")
            printed = True
    if not (printed or session.json):
        session.write(f"Nothing is on record of {one_line(run.name)} yet.\n")


def _line(entry: Entry | Problem) -> Line | Problem:
    return audit_trail.read(entry.record, entry.line) if isinstance(entry, Entry) else entry


def _entries(tree: DiskTree, request: Request) -> Iterable[Entry | Problem]:
    if request.follows:
        return _followed(tree, request.everything, request.lines)
    if request.everything:
        return json_log.read(tree, FILE)
    return json_log.tail(tree, FILE, request.lines)


def _followed(tree: DiskTree, everything: bool, count: int) -> Iterable[Entry | Problem]:
    from qrspi.world.files import log_follow

    first = (
        log_follow.News((), log_follow.Place())
        if everything
        else log_follow.last(tree, FILE, count)
    )
    yield from first.items
    yield from log_follow.following(tree, FILE, first.place, sys.stdout.fileno())
