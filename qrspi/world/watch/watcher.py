"""What changed below a folder, as a hint: whoever hears it looks at the files.

Events get lost. The kernel drops them when its queue is full, a folder that was deleted and made
again is silent, some file systems tell nothing. So a look over everything is asked for at the
start, after each of these, and at every sweep; where there are no events, the sweep is all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from typing import Literal, NamedTuple

from qrspi.world.files import mounts
from qrspi.world.watch.watchdog_events import GIT, LOST, STOP, WAKE, Ears, Inbox, Notice

SWEEP = 30.0
POLL = 1.0

# How often it is asked whether the folder is still the same and everything that listens alive.
# After a loss all is looked at once more so soon: watchdog tells of it before it has put its
# watches in order again.
_PULSE = 1.0
# A file that was only created has still to be written, and then its closing is heard (but not
# of one that was linked, or was there before its folder was listened to). Where one file is
# deleted, a whole folder may be about to be: whoever looks too early makes it again.
_UNFINISHED = 0.05
# Looking at everything takes at most one part in so many of the processor's time. Not of the
# time on the wall: a daemon that is stopped while it looks would not sweep for long after.
_SHARE = 10

Why = Literal["start", "event", "sweep", "lost"]


class Change(NamedTuple):
    """Where to look. `git` says that a branch, HEAD or the index may be another now."""

    why: Why
    names: frozenset[str] = frozenset()
    git: bool = False

    @property
    def everything(self) -> bool:
        return self.why != "event"


class Watcher:
    """Changes below a folder, by the names of what is directly in it."""

    def __init__(self, folder: str, *, sweep: float = SWEEP, poll: bool = False) -> None:
        self.folder = folder
        self.polls = poll or not mounts.gives_events(folder)
        self.why_polls = "as you asked" if poll else "this file system tells of no changes"
        self._sweep = sweep
        self._inbox = Inbox()
        self._ears: Ears | None = None
        self._later: dict[str, float] = {}
        self.stopping = False

    @property
    def manner(self) -> str:
        """How it notices, in words."""
        if self.polls:
            return f"looking every {self._period:g} s ({self.why_polls})"
        return f"listening for changes, looking at everything every {self._sweep:g} s"

    def stop(self) -> None:
        """End `changes`; a signal handler may call it at any moment."""
        self.stopping = True
        self._inbox.put(STOP)

    def wake(self) -> None:
        """Have `changes` give an empty change now; any thread may call it."""
        self._inbox.put(WAKE)

    def remind(self, name: str, seconds: float) -> None:
        """Have `changes` name it once more, at the latest after so long."""
        due = time.monotonic() + seconds
        self._later[name] = min(due, self._later.get(name, due))

    def changes(self) -> Iterator[Change]:
        """Where to look, until `stop`. What happens while the caller looks is told afterwards."""
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
        """Single changes, until everything must be looked at again; None at the end."""
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
        names |= {name for name, due in self._later.items() if due <= now}
        for name in names:
            self._later.pop(name, None)
        if names or not heard.isdisjoint((GIT, WAKE)):
            return Change("event", frozenset(names), GIT in heard)
        return None

    def _hears(self) -> bool:
        if self.polls:
            return True
        return self._ears.good() if self._ears else not os.path.isdir(self.folder)

    def _listen(self) -> None:
        if self.polls or (self._ears and self._ears.good() and self._ears.well_placed()):
            return
        self._deafen()
        try:
            with suppress(FileNotFoundError):
                self._ears = Ears(self.folder, self._inbox)
        except OSError as error:
            self.polls, self.why_polls = True, error.strerror or str(error)

    def _deafen(self) -> None:
        if self._ears:
            self._ears.close()
            self._ears = None
