"""`qrspi log`: what the engine changed, line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core import trail
from qrspi.core.model import Problem
from qrspi.core.refusal import Halt
from qrspi.core.trail import FILE, Line
from qrspi.render import trail as rendered
from qrspi.render.escape import one_line
from qrspi.world import applog
from qrspi.world.applog import Entry
from qrspi.world.disk import DiskTree


@click.command("log", cls=Verb)
@click.argument("run", required=False)
@click.option("--follow", "follows", is_flag=True, help="Stay, and print each line as it comes.")
@click.option("-n", "--lines", "count", type=click.IntRange(min=0), help="How many (20).")
@click.option("--all", "everything", is_flag=True, help="From the first line on.")
@click.option("--files", is_flag=True, help="Each file with its hash before and after.")
@click.pass_obj
def command(
    session: Session,
    run: str | None,
    follows: bool,
    count: int | None,
    everything: bool,
    files: bool,
) -> None:
    """The audit trail: one line for each thing that the engine changed.

    With --json one document a line.
    """
    if everything and count is not None:
        raise click.UsageError("--all and --lines cannot go together")
    found = session.run(run)
    page = _Page(session, found.name, files)
    tree = DiskTree(found.path)
    if follows:
        page.show(_followed(tree, everything, 20 if count is None else count))
    elif everything:
        page.show(applog.read(tree, FILE))
    else:
        page.show(applog.tail(tree, FILE, 20 if count is None else count))
    page.end()


def _followed(tree: DiskTree, everything: bool, count: int) -> Iterable[Entry | Problem]:
    from qrspi.world import follow

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
