"""What `log` says: the lines of the audit trail, from its end or as they come."""

from __future__ import annotations

import sys

from qrspi.core.errors import Halt
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import FILE
from qrspi.core.tree import Fault
from qrspi.render.history import audit_lines as rendered
from qrspi.render.terminal import one_line
from qrspi.world.files import json_log
from qrspi.world.files.json_log import LogLine
from qrspi.world.files.run_tree import DiskTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qrspi.cli.session import Session

USUAL = 20  # lines


def show(
    session: Session,
    run: str | None = None,
    follows: bool = False,
    lines: int | None = None,
    everything: bool = False,
    files: bool = False,
) -> None:
    """Written line by line as they come: a trail may have no end."""
    place = session.run(run)
    tree = DiskTree(place.path)
    count = USUAL if lines is None else lines
    entries = _followed(tree, everything, count) if follows else _known(tree, everything, count)
    left_out = lines is None and not (everything or follows) and _are_more(tree)
    printed = False
    for entry in entries:
        item = audit_trail.read(entry.record, entry.line) if isinstance(entry, LogLine) else entry
        if isinstance(item, Problem) and item.code == "unreadable":
            raise Halt(item)
        if session.json:
            session.emit(rendered.document(place.name, item))
        elif isinstance(item, Problem):
            session.note(f"warning: {item.message}")
        else:
            head = [] if printed else [rendered.head(session.width)]
            shown = rendered.lines(item, session.width, files=files)
            session.write("\n".join([*head, *shown]) + "\n")
            printed = True
    if left_out and not session.json:
        session.note(f"Earlier lines are left out: qrspi log {place.name} --all")
    if not printed and isinstance(tree.tail(FILE, 1), Fault):
        printed = _decisions(session, tree, everything, count)
    if not (printed or session.json):
        session.write(f"Nothing is on record of {one_line(place.name)} yet.\n")


def _decisions(session: Session, tree: DiskTree, everything: bool, count: int) -> bool:
    """In a clone there is no trail, but what was decided came with it."""
    from qrspi.core.records import approvals

    found = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    if isinstance(found, Problem) or not (records := found if everything else found[-count:]):
        return False
    session.note(f"{FILE} is not here, as git does not keep it: this is {approvals.FILE}")
    table = [] if session.json else [rendered.head(session.width)]
    for record in records:
        line = audit_trail.of_decision(record)
        if session.json:
            session.emit(rendered.document(tree.name, line))
        table += rendered.lines(line, session.width)
    if not session.json:
        session.write("\n".join(table) + "\n")
    return True


def _known(tree: DiskTree, everything: bool, count: int) -> Iterable[LogLine | Problem]:
    return json_log.read(tree, FILE) if everything else json_log.tail(tree, FILE, count)


def _are_more(tree: DiskTree) -> bool:
    return len(json_log.tail(tree, FILE, USUAL + 1)) > USUAL


def _followed(tree: DiskTree, everything: bool, count: int) -> Iterable[LogLine | Problem]:
    from qrspi.world.files import log_follow

    place = log_follow.LogPosition()
    if not everything:
        last = log_follow.last(tree, FILE, count)
        yield from last.items
        place = last.place
    yield from log_follow.following(tree, FILE, place, sys.stdout.fileno())
