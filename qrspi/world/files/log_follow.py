"""The lines of a log as they come. Its size is looked at five times a second, which works on every
file system and loses nothing; listening for events would cost threads and a library."""

from __future__ import annotations

import io
import os
import select
from collections.abc import Iterator

from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.world.files import json_log
from qrspi.world.files.json_log import LINE_LIMIT, LogLine
from qrspi.world.files.run_tree import DiskTree, closing

PAUSE = 0.2


class LogPosition(NamedTuple):
    inode: int = 0
    end: int = 0


class News(NamedTuple):
    items: tuple[LogLine | Problem, ...]
    place: LogPosition


def last(tree: DiskTree, path: str, count: int) -> News:
    """The last whole lines. An incomplete one comes with `news`."""
    fd = tree.descriptor(path)
    if isinstance(fd, Fault):
        return News(json_log.unreadable(path, fd), LogPosition())
    with closing(fd):
        stat = os.fstat(fd)
        unfinished = [line for line in json_log.last_lines(fd, 1) if not line.endswith(b"\n")]
        place = LogPosition(stat.st_ino, stat.st_size - sum(map(len, unfinished)))
        lines = json_log.last_lines(fd, count, place.end)
    return News(tuple(json_log.entries(lines, -len(lines), path)), place)


def news(tree: DiskTree, path: str, place: LogPosition) -> News:
    fd = tree.descriptor(path)
    if isinstance(fd, Fault):
        return News(json_log.unreadable(path, fd), LogPosition())
    with closing(fd):
        stat = os.fstat(fd)
        if place.inode and (place.inode != stat.st_ino or stat.st_size < place.end):
            text = f"{path} was cut or replaced: what it holds now is shown from its first line"
            return News((Problem("log-replaced", text, path),), LogPosition(stat.st_ino))
        if stat.st_size == place.end:
            return News((), place)
        lines = io.BytesIO(os.pread(fd, LINE_LIMIT, place.end)).readlines()
    if not lines[-1].endswith(b"\n") and len(lines[-1]) < LINE_LIMIT:
        del lines[-1]
    items = json_log.entries(lines, -len(lines), path)
    return News(tuple(items), LogPosition(stat.st_ino, place.end + sum(map(len, lines))))


def following(
    tree: DiskTree, path: str, place: LogPosition, reader: int
) -> Iterator[LogLine | Problem]:
    """Everything that is added from now on, until nobody reads the descriptor `reader` any more."""
    items: tuple[LogLine | Problem, ...] = ()
    while not _is_gone(reader):
        fresh = news(tree, path, place)
        if fresh.place != place or fresh.items != items:
            yield from fresh.items
        items, place = fresh.items, fresh.place


def _is_gone(reader: int) -> bool:
    """Waits a little. Without this, `log --follow | head` would stay until the next line."""
    waiting = select.poll()
    waiting.register(reader, 0)
    return bool(waiting.poll(PAUSE * 1000))
