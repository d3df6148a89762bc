"""The one door to watchdog: threads that are told of changes, and an inbox for who looks."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Literal

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from qrspi.core.errors import Refusal
from qrspi.core.filenames import is_dropping
from qrspi.core.gates.checkpoints.checkpoint_tables import BESIDE
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.files import atomic_write, lock
from qrspi.world.files.run_tree import ROOT_FLAGS
from qrspi.world.git import repository

# Without this list, opening a file would wake us, and we open files all the time.
_WANTED: list[type[FileSystemEvent]] = [
    events.FileCreatedEvent,
    events.FileClosedEvent,
    events.FileMovedEvent,
    events.FileDeletedEvent,
    events.DirCreatedEvent,
    events.DirMovedEvent,
    events.DirDeletedEvent,
]
if sys.platform != "linux":
    _WANTED.append(events.FileModifiedEvent)  # only Linux reports that a file was closed

GIT_FILES = frozenset(("HEAD", "index", "packed-refs"))

# watchdog keeps the first half of a rename, and everything after it, until it gets the second half.
# A thread that looks in between sleeps for all of this time. With the library's own half a second,
# one rename in some 400 was reported that late.
_BETWEEN_HALVES = 0.005


class Notice(NamedTuple):
    kind: Literal["changed", "unfinished", "git", "lost", "stop", "wake"]
    name: str = ""


GIT, LOST, STOP, WAKE = Notice("git"), Notice("lost"), Notice("stop"), Notice("wake")


class Inbox:
    """Notices from any thread, each once until it is taken."""

    def __init__(self) -> None:
        # This is the only queue that a signal handler may put into.
        self._queue: queue.SimpleQueue[Notice] = queue.SimpleQueue()
        self._waiting: set[Notice] = set()

    def put(self, notice: Notice) -> None:
        if notice not in self._waiting:
            self._waiting.add(notice)
            self._queue.put(notice)

    def take(self, patience: float) -> set[Notice]:
        """Files are looked at after this, so a notice that was dropped as known is no loss."""
        taken: set[Notice] = set()
        with suppress(queue.Empty):
            taken.add(self._queue.get(timeout=patience))
            while True:
                taken.add(self._queue.get_nowait())
        for notice in taken:
            self._waiting.discard(notice)
        return taken


class WatchdogEvents:
    def __init__(self, folder: str, inbox: Inbox, own: frozenset[str] = frozenset()) -> None:
        self._folder = folder
        self._places = git_places(folder)
        with ExitStack() as stack:
            # Kept open, so that no folder made later can have its number.
            self._fd = os.open(folder, ROOT_FLAGS)
            stack.callback(os.close, self._fd)
            stack.enter_context(_hushed(inbox))
            self._observer = _observer()
            self._observer.start()
            stack.callback(self._observer.join)
            stack.callback(self._observer.stop)
            self._attend(_Below(folder, inbox, own), folder, deep=True)
            for place, deep in self._places:
                with suppress(OSError):  # the sweep will notice
                    self._attend(_OfGit(inbox), place, deep=deep)
            self.close = stack.pop_all().close

    def _attend(self, who: FileSystemEventHandler, place: str, *, deep: bool) -> None:
        self._observer.schedule(who, place, recursive=deep, event_filter=_WANTED)

    def good(self) -> bool:
        """Deleting the folder ends the thread that listens; one in its place has another number."""
        threads = (self._observer, *self._observer.emitters)
        if not all(thread.is_alive() for thread in threads):
            return False
        try:
            now = os.stat(self._folder)
        except OSError:
            return False
        mine = os.fstat(self._fd)
        return (now.st_dev, now.st_ino) == (mine.st_dev, mine.st_ino)

    def well_placed(self) -> bool:
        return self._places == git_places(self._folder)


def _observer() -> BaseObserver:
    if sys.platform == "linux":
        from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper

        InotifyMoveEventGrouper.delay = _BETWEEN_HALVES
    return Observer()


class _Below(FileSystemEventHandler):
    """Of the files that a run keeps for itself, only those in `own` count."""

    def __init__(self, folder: str, inbox: Inbox, own: frozenset[str]) -> None:
        self._skip = len(folder.rstrip("/")) + 1
        self._inbox, self._own = inbox, own

    def dispatch(self, event: FileSystemEvent) -> None:
        unfinished = _is_unfinished(event)
        for path in _paths(event):
            parts = path[self._skip :].split("/")
            if not parts[0]:
                self._inbox.put(LOST)
            elif self._counts(parts):
                self._inbox.put(Notice("unfinished" if unfinished else "changed", parts[0]))

    def _counts(self, parts: list[str]) -> bool:
        if lock.OWN in parts[:2] and parts[-1] not in self._own:
            return False
        # Files beside a database come and go even when it is only read.
        return not (parts[-1] in BESIDE or is_dropping(parts[-1]))


def _is_unfinished(event: FileSystemEvent) -> bool:
    """Whether more is to come, or nothing is new because we wrote it ourselves."""
    match event.event_type:
        case "created":
            return not event.is_directory
        case "moved":
            return atomic_write.is_mine(os.fsdecode(event.src_path).rpartition("/")[2])
        case kind:
            return kind == "deleted"


class _OfGit(FileSystemEventHandler):
    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def dispatch(self, event: FileSystemEvent) -> None:
        for path in _paths(event):
            folder, _, name = path.rpartition("/")
            freed = name == "index.lock" and event.event_type == "deleted"
            ref = "/refs" in folder and not name.endswith(".lock")
            if name in GIT_FILES or ref or freed:
                self._inbox.put(GIT)


def _paths(event: FileSystemEvent) -> list[str]:
    """An atomic save is reported as a move, with the file's own name second."""
    return [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]


def git_places(folder: str) -> tuple[tuple[str, bool], ...]:
    """With whether what is below counts. One that git will not read is not watched."""
    try:
        repo = repository.find(folder)
    except Refusal:
        return ()
    if repo is None:
        return ()
    places = {repo.git_dir: False, repo.common_dir: False, f"{repo.common_dir}/refs": True}
    return tuple(places.items())


@contextmanager
def _hushed(inbox: Inbox) -> Iterator[None]:
    """What watchdog logs is not for the user; each message is a reason to look."""
    hook = threading.excepthook

    def failed(args: threading.ExceptHookArgs) -> None:
        if type(args.thread).__module__.startswith("watchdog."):
            inbox.put(LOST)
        else:
            hook(args)

    log, handler = logging.getLogger("watchdog"), _Overheard(inbox)
    before = log.propagate, log.level
    log.addHandler(handler)
    log.propagate, threading.excepthook = False, failed
    log.setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module=r"watchdog\.")
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate, threading.excepthook = before[0], hook
        log.setLevel(before[1])


class _Overheard(logging.Handler):
    """watchdog reports only in its log that the kernel's queue overflowed."""

    def __init__(self, inbox: Inbox) -> None:
        super().__init__()
        self._inbox = inbox

    def emit(self, record: logging.LogRecord) -> None:
        self._inbox.put(LOST)
