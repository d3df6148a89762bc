"""What changed below a folder, as a hint: the caller looks at the files. Events get lost: the
kernel drops them, a folder that was made again is silent, some file systems report nothing. So
everything is looked at in the beginning, after each such loss, and at every sweep."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from typing import Literal

from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Halt
from qrspi.core.model import Problem, RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.files import mounts
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import RunDir
from qrspi.world.watch.database_changes import DatabaseChanges
from qrspi.world.watch.watchdog_events import GIT, LOST, STOP, WAKE, Inbox, Notice, WatchdogEvents

SWEEP = 30.0
POLL = 1.0

# How often to check that the folder is still the same and that every listening thread lives.
# Also the time after a loss until the next look at everything: watchdog reports a loss before its
# watches are in order again.
_PULSE = 1.0
# A file that was only created has yet to be written, and its closing will be reported (unless it
# was linked, or existed before we listened to its folder). When one file is deleted, its whole
# folder may follow, and a caller that looks too early would make the folder again.
_UNFINISHED = 0.05
# Looking at everything takes at most one part in this many of the processor's time. Not of wall
# time: a daemon that was stopped during a look would not sweep for long afterwards.
_SHARE = 10

Why = Literal["start", "event", "sweep", "lost"]
_TIME = "."  # a name that no file of a run has


def states(run: RunDir, path: str, timeout: float | None = None) -> Iterator[RunState]:
    watcher, databases = Watcher(run.path), DatabaseChanges()
    watcher.also = databases.since
    end = None if timeout is None else time.monotonic() + timeout
    if timeout is not None:
        watcher.remind(_TIME, timeout)
    for _ in watcher.changes():
        databases.look(run.name, run.path)
        state = derive(CommittedTree(run.path), path)
        if not os.path.isdir(run.path):
            text = f"run {run.name} is gone: it was deleted or renamed meanwhile"
            raise Halt(Problem("run-gone", text, file=run.path, hint="qrspi status"))
        yield state
        if end is not None and time.monotonic() >= end:
            return


class Change(NamedTuple):
    """Where to look. `git` says that a branch, HEAD or the index may have changed."""

    why: Why
    names: frozenset[str] = frozenset()
    git: bool = False

    @property
    def everything(self) -> bool:
        return self.why != "event"


class Watcher:
    def __init__(
        self,
        folder: str,
        *,
        sweep: float = SWEEP,
        poll: bool = False,
        own: frozenset[str] = frozenset(),  # files of a run's own that count
    ) -> None:
        self.folder = folder
        self._own = own
        self.polls = poll or not mounts.gives_events(folder)
        self.why_polls = "as you asked" if poll else "this file system tells of no changes"
        self._sweep = sweep
        self._inbox = Inbox()
        self._events: WatchdogEvents | None = None
        self._later: dict[str, float] = {}
        self.stopping = False
        self.also: Callable[[], frozenset[str]] = frozenset  # asked at every pulse

    @property
    def manner(self) -> str:
        if self.polls:
            return f"looking every {self._period:g} s ({self.why_polls})"
        return f"listening for changes, looking at everything every {self._sweep:g} s"

    def stop(self) -> None:
        """End `changes`; a signal handler may call it at any moment."""
        self.stopping = True
        self._inbox.put(STOP)

    def wake(self) -> None:
        """Make `changes` yield an empty change now; any thread may call it."""
        self._inbox.put(WAKE)

    def remind(self, name: str, seconds: float) -> None:
        due = time.monotonic() + seconds
        self._later[name] = min(due, self._later.get(name, due))

    def changes(self) -> Iterator[Change]:
        """Where to look, until `stop`. What happens during a look is reported after it."""
        why: Why = "start"
        with ExitStack() as stack:
            stack.callback(self._deafen)
            while True:
                self._listen()
                began = time.thread_time()
                yield Change(why)
                pause = max(self._period, _SHARE * (time.thread_time() - began))
                if why == "lost":
                    pause = min(pause, _PULSE)
                ended = yield from self._hear(time.monotonic() + pause)
                if ended is None:
                    return
                why = ended

    @property
    def _period(self) -> float:
        return min(POLL, self._sweep) if self.polls else self._sweep

    def _hear(self, until: float) -> Generator[Change, None, Literal["sweep", "lost"] | None]:
        while True:
            heard = self._inbox.take(self._patience(until))
            if STOP in heard:
                return None
            if LOST in heard or not self._hears():
                return "lost"
            if change := self._change(heard):
                yield change
            if time.monotonic() >= until:
                return "sweep"

    def _patience(self, until: float) -> float:
        first = min((until, *self._later.values()))
        return max(0.0, min(first - time.monotonic(), _PULSE))

    def _change(self, heard: set[Notice]) -> Change | None:
        now = time.monotonic()
        for notice in heard:
            if notice.kind == "unfinished":
                self._later[notice.name] = now + _UNFINISHED
        names = {notice.name for notice in heard if notice.kind == "changed"}
        names |= self.also()
        names |= {name for name, due in self._later.items() if due <= now}
        for name in names:
            self._later.pop(name, None)
        if names or not heard.isdisjoint((GIT, WAKE)):
            return Change("event", frozenset(names), GIT in heard)
        return None

    def _hears(self) -> bool:
        if self.polls:
            return True
        return self._events.good() if self._events else not os.path.isdir(self.folder)

    def _listen(self) -> None:
        if self.polls or (self._events and self._events.good() and self._events.well_placed()):
            return
        self._deafen()
        try:
            with suppress(FileNotFoundError):
                self._events = WatchdogEvents(self.folder, self._inbox, self._own)
        except OSError as error:
            self.polls, self.why_polls = True, error.strerror or str(error)

    def _deafen(self) -> None:
        if self._events:
            self._events.close()
            self._events = None
