"""Which runs changed, told to every browser that listens. The watcher is the daemon's."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable

from qrspi.cli.answers import inbox
from qrspi.cli.in_process import Commands
from qrspi.core.agents import spend
from qrspi.core.errors import attempt
from qrspi.core.model import Problem
from qrspi.core.records import audit_trail
from qrspi.world.agents.dispatch_folder import JOBS
from qrspi.world.watch.watcher import Change, Watcher

_BREATH = 5.0  # seconds after which a silent stream says that it lives
_RETRY = b"retry: 1000\n"  # ms until a browser that lost its stream asks again
_END = b""
# What pages show of the files that the engine keeps for itself: the trail, the money, the agents.
_SHOWN = frozenset(one.rpartition("/")[2] for one in (audit_trail.FILE, spend.FILE, JOBS))


class Live:
    def __init__(self, runs_dir: str) -> None:
        self._watcher = Watcher(runs_dir, own=_SHOWN)
        self._listeners: set[asyncio.Queue[bytes]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.number = 0  # of the last event
        self.told: list[Callable[[frozenset[str] | None], None]] = []

    def changed(self, names: frozenset[str] | None = None) -> None:
        """These runs have changed; without names, any run may have."""
        for tell in self.told:
            tell(names)

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._watch, name="watcher", daemon=True).start()

    def stop(self) -> None:
        """Ends every stream too: a server waits for its connections."""
        self._watcher.stop()
        for listener in self._listeners:
            listener.put_nowait(_END)

    async def stream(self) -> AsyncIterator[bytes]:
        """A browser that comes, or comes back, is told to look at everything."""
        heard: asyncio.Queue[bytes] = asyncio.Queue()
        self._listeners.add(heard)
        try:
            yield _RETRY + self._event(True, ())
            while event := await _next(heard):
                yield event
        finally:
            self._listeners.discard(heard)

    def _watch(self) -> None:
        for change in self._watcher.changes():
            self.changed(None if change.everything or change.git else change.names)
            if self._is_news(change) and self._loop:
                self._loop.call_soon_threadsafe(self._publish, change)

    def _is_news(self, change: Change) -> bool:
        """A sweep is news only where the file system reports no changes."""
        if change.why == "event":
            return any(not name.startswith(".") for name in change.names) or change.git
        return change.why == "lost" or self._watcher.polls

    def _publish(self, change: Change) -> None:
        event = self._event(change.everything or change.git, tuple(sorted(change.names)))
        for listener in self._listeners:
            listener.put_nowait(event)

    def _event(self, everything: bool, names: tuple[str, ...]) -> bytes:
        self.number += 1
        data = json.dumps({"everything": everything, "runs": names})
        return f"id: {self.number}\nevent: change\ndata: {data}\n\n".encode()


class InboxCount:
    """How much waits for a person. Every page says so, and counting takes a look at every run, so
    the count of a run is kept until the watcher says that it has changed."""

    def __init__(self, commands: Commands, live: Live) -> None:
        self._commands = commands
        self._known: dict[str, int] = {}  # by open run
        self._stale: set[str] | None = None  # runs that may have changed; None for any
        self._looking, self._marking = threading.Lock(), threading.Lock()
        live.told.append(self.outdate)

    def outdate(self, names: frozenset[str] | None) -> None:
        with self._marking:
            self._stale = None if names is None or self._stale is None else self._stale | names

    def now(self) -> int:
        with self._looking:
            with self._marking:
                stale, self._stale = self._stale, set()
            if stale is None or stale:
                self._look(stale)
            return sum(self._known.values())

    def _look(self, stale: set[str] | None) -> None:
        """A run that is the only one is looked at more closely, by every command."""
        if stale is not None:
            others = {run: held for run, held in self._known.items() if run not in stale}
            known = {**others, **self._counts(stale)}
            if len(known) > 1 and len(self._known) > 1:
                self._known = known
                return
        self._known = self._counts(None)

    def _counts(self, names: set[str] | None) -> dict[str, int]:
        session = self._commands.session_for()
        counts = attempt(lambda: inbox.counts(session, names))
        return {} if isinstance(counts, Problem) else counts


async def _next(heard: asyncio.Queue[bytes]) -> bytes:
    try:
        return await asyncio.wait_for(heard.get(), _BREATH)
    except TimeoutError:
        return b"event: beat\ndata: still here\n\n"
