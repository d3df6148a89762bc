"""What `log` says: the lines of the audit trail, from its end or as they come."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.core.records import audit_trail as trail
from qrspi.core.records.audit_trail import FILE, Line
from qrspi.render import audit_lines as rendered
from qrspi.render.safe_text import one_line
from qrspi.world.files import json_log as applog
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
    found = session.run(request.run)
    page = _Page(session, found.name, request.files)
    page.show(_lines(DiskTree(found.path), request))
    page.end()


def _lines(tree: DiskTree, request: Request) -> Iterable[Entry | Problem]:
    if request.follows:
        return _followed(tree, request.everything, request.lines)
    if request.everything:
        return applog.read(tree, FILE)
    return applog.tail(tree, FILE, request.lines)


def _followed(tree: DiskTree, everything: bool, count: int) -> Iterable[Entry | Problem]:
    from qrspi.world.files import log_follow as follow

    first = follow.News((), follow.Place()) if everything else follow.last(tree, FILE, count)
    yield from first.items
    yield from follow.following(tree, FILE, first.place, sys.stdout.fileno())


class _Page:
    """Written as it comes: a trail may have no end."""

    def __init__(self, session: Session, run: str, files: bool) -> None:
        self._session, self._run, self._files = session, run, files
        self._empty = True

    def show(self, items: Iterable[Entry | Problem]) -> None:
        for item in items:
            self._write(trail.read(item.record, item.line) if isinstance(item, Entry) else item)

    def end(self) -> None:
        if self._empty and not self._session.json:
            self._session.write(f"Nothing is on record of {one_line(self._run)} yet.\n")

    def _write(self, item: Line | Problem) -> None:
        if isinstance(item, Problem) and item.code == "unreadable":
            raise Halt(item)
        if self._session.json:
            self._session.emit(rendered.document(self._run, item))
        elif isinstance(item, Problem):
            self._session.note(f"warning: {one_line(item.message)}")
        else:
            self._print(item)

    def _print(self, line: Line) -> None:
        width = self._session.width
        shown = rendered.lines(line, width, files=self._files)
        if self._empty:
            shown.insert(0, rendered.head(width))
            self._empty = False
        self._session.write("\n".join(shown) + "\n")
