"""Tells listening clients which resources have changed. Nothing is watched while nobody listens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)

from qrspi.cli.session import Session
from qrspi.core.pipeline import STEPS
from qrspi.mcp import addresses
from qrspi.world.runs import locate
from qrspi.world.watch import file_marks
from qrspi.world.watch.file_marks import Marks
from qrspi.world.watch.watcher import Watcher

_UNTIL_THERE_IS_A_RUN = 1.0  # seconds between two looks for a runs folder
Seen = Mapping[str, Marks]  # by run
_TEXTS = frozenset(step.artifact for step in STEPS)


class RunChanges:
    """What the SDK needs for subscriptions: events, published to all listeners."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._bus = InMemorySubscriptionBus()
        self._listeners = 0
        self._watch: _Watch | None = None

    async def publish(self, event: ServerEvent) -> None:
        await self._bus.publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        leave = self._bus.subscribe(listener)
        self._listeners += 1
        if self._watch is None:
            self._watch = _Watch(self._session, self._bus)
        left = False

        def unsubscribe() -> None:
            nonlocal left
            leave()
            if not left:
                left = True
                self._gone()

        return unsubscribe

    def _gone(self) -> None:
        self._listeners -= 1
        if not self._listeners and self._watch:
            self._watch.stop()
            self._watch = None


class _Watch:
    """Files are marked before a subscription is confirmed, so that every later change is told."""

    def __init__(self, session: Session, bus: InMemorySubscriptionBus) -> None:
        self._session, self._bus = session, bus
        self._loop = asyncio.get_running_loop()
        self._stopped = threading.Event()
        self._watcher: Watcher | None = None
        self._seen = _seen(session)
        threading.Thread(target=self._run, name="watcher", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        if self._watcher:
            self._watcher.stop()

    def _run(self) -> None:
        while (root := self._session.root_if_any) is None:
            if self._stopped.wait(_UNTIL_THERE_IS_A_RUN):
                return
        self._watcher = Watcher(root.runs_dir)
        if self._stopped.is_set():
            return
        for change in self._watcher.changes():
            now = _seen(self._session)
            events = changes(self._seen, now, git=change.git)
            self._seen = now
            asyncio.run_coroutine_threadsafe(self._tell(events), self._loop)

    async def _tell(self, events: tuple[ServerEvent, ...]) -> None:
        for event in events:
            await self._bus.publish(event)


def _seen(session: Session) -> Seen:
    root = session.root_if_any
    runs = locate.readable_runs(root) if root else ()
    return {run.name: file_marks.marks(run.path) for run in runs}


def changes(before: Seen, after: Seen, *, git: bool = False) -> tuple[ServerEvent, ...]:
    """The events to publish. After a commit or a checkout every run may stand elsewhere."""
    touched = dict.fromkeys(
        address
        for run in sorted(before.keys() | after.keys())
        for path in sorted(file_marks.changed(before.get(run, {}), after.get(run, {})))
        for address in addresses.touched(run, path)
    )
    if git:
        touched |= dict.fromkeys((addresses.RUNS, *map(addresses.of_run, after)))
    listed = (ResourcesListChanged(),) if _listing(before) != _listing(after) else ()
    return (*listed, *map(ResourceUpdated, touched))


def _listing(seen: Seen) -> dict[str, frozenset[str]]:
    """What `resources/list` goes by: the runs, and the texts that each has."""
    return {run: _TEXTS & marks.keys() for run, marks in seen.items()}
