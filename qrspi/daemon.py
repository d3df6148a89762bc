"""The daemon: look at the runs that changed, do what is mechanical, say what happened.

What it does follows from the files, by the same derivation as `next`, so a second look at
unchanged files does nothing. It keeps in mind what it has said already, and what the kernel said
of the files, only to spare itself such a look.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from qrspi import engine
from qrspi.core.errors import Halt
from qrspi.core.model import Next, Problem, RunState
from qrspi.core.tree import Fault
from qrspi.engine import Outcome
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.world.processes.side_processes import Ended, Errand, Errands
from qrspi.world.runs import locate
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.watch.daemon_place import Post
from qrspi.world.watch.unchanged_runs import Around, Attentive, Sightings
from qrspi.world.watch.watcher import Change, Watcher

# A question to a person is told when it has stood for so long: a file that is just being
# written looks for a moment like one that breaks the contract.
SETTLED = 0.3
# Another command is at work on the run: no trouble, and looked at again after so long.
PASSING = frozenset(("busy", "changed-meanwhile", "run-moved"))
AGAIN = 1.0

# So many that failed and are unchanged are tried once more at a sweep, in vain.
IN_VAIN = 4
# What a run at these steps stands on lies outside it: work trees, and what is in them.
AT_CODE = ("implement", "integrate", "test")

# What the engine could do and the daemon leaves undone, such as merging, a person must ask for.
NEEDS_PERSON = ("human", "engine")

HOOK, DISPATCH = "hook", "dispatch"

Event = Literal["started", "looked", "performed", "waits", "sent", "failed", "gone", "stopped"]
Attempt = Callable[[Callable[[], Outcome]], Outcome | Problem]


class Settings(NamedTuple):
    root: Root
    options: Options = Options("watch", lock_timeout=0.0)
    dispatch: bool = False
    on_human: Callable[[Report], Errand] | None = None


class Report(NamedTuple):
    """One thing to tell."""

    event: Event
    run: str = ""
    performed: Performed | None = None
    state: RunState | None = None
    problem: Problem | None = None
    waiting: tuple[tuple[str, int], ...] = ()  # how many runs wait for whom
    failed: int = 0  # how many cannot go on


class Known(NamedTuple):
    """What is known of a run: how it stood, since when, and what was said of it."""

    state: RunState
    since: float
    told: bool = False
    sent: bool = False  # agents were sent for what it waits for


class Trouble(NamedTuple):
    problem: Problem
    since: float
    tried: float  # last
    told: bool = False  # to a person; it is logged at once


def watch(settings: Settings, watcher: Watcher, attempt: Attempt) -> Iterator[Report]:
    """Until the watcher is stopped. `attempt` makes a problem of whatever goes wrong with one
    run, so that the others go on."""
    with Post(settings.root.runs_dir) as post, Errands(watcher.wake) as errands:
        post.keep()
        daemon = Daemon(settings, watcher, attempt, errands)
        for change in watcher.changes():
            if change.why == "start":
                yield Report("started")
            elif change.everything:
                yield from daemon.keep(post)
            yield from daemon.look(change)
    yield Report("stopped")


class Daemon:
    def __init__(
        self, settings: Settings, watcher: Watcher, attempt: Attempt, errands: Errands
    ) -> None:
        self._settings = settings
        self._root = settings.root
        self._watcher = watcher
        self._attempt = attempt
        self._errands = errands
        self._known: dict[str, Known] = {}
        self._troubles: dict[str, Trouble] = {}
        self._sightings = Sightings(settings.root)
        self._around: Around | None = None
        self._starting = True

    def keep(self, post: Post) -> Iterator[Report]:
        """A full disk must not end the daemon; another daemon in its place must."""
        try:
            post.keep()
        except Halt as halt:
            yield from self._failed("", halt.problem)
        else:
            self._troubles.pop("", None)

    def look(self, change: Change) -> Iterator[Report]:
        for ended in self._errands.ended():
            yield from self._over(ended)
        if change.everything or change.git:
            self._look_around()
        meant = self._meant(change)
        for run in self._due(change, meant):
            if self._watcher.stopping:
                return
            yield from self._look_at(run)
        yield from self._gone(change, {run.name for run in meant})
        if change.why in ("start", "lost"):
            failed = len(self._troubles.keys() - {""})
            yield Report("looked", waiting=self._waiting(), failed=failed)
        self._starting = False

    def _meant(self, change: Change) -> list[RunDir]:
        if change.everything:
            runs = locate.list_runs(self._root)
            return [] if isinstance(runs, Fault) else list(runs)
        # A run's state follows from its files alone; what git says only decides whether that
        # which failed before can be done now.
        names = change.names | (self._troubles.keys() if change.git else frozenset())
        found = (locate.run_named(self._root, name) for name in sorted(names))
        return [run for run in found if run]

    def _look_around(self) -> None:
        before, now = self._around, self._sightings.around()
        self._around = now
        if before is None or not before.same_ground(now):
            self._sightings.forget_all()
        elif not before.same_git(now):
            for name in self._troubles:
                self._sightings.forget(name)

    def _due(self, change: Change, meant: list[RunDir]) -> Iterator[RunDir]:
        """Of all runs those alone of which something changed, and some of those that failed."""
        if not change.everything:
            yield from meant
            return
        failed = []
        for run in meant:
            if not self._sightings.unchanged(run):
                yield run
            elif run.name in self._troubles:
                failed.append(run)
        yield from self._once_more(failed)

    def _once_more(self, failed: list[RunDir]) -> Iterator[RunDir]:
        """The reason may be where nobody looks, as a full disk is: a few are tried, those first
        that waited longest, and the others too once it helps."""
        left = IN_VAIN
        for run in sorted(failed, key=lambda run: self._troubles[run.name].tried):
            if not left:
                return
            before = self._troubles[run.name]
            yield run
            after = self._troubles.get(run.name)
            left -= after is not None and after.problem == before.problem

    def _look_at(self, run: RunDir) -> Iterator[Report]:
        path = run.path.removeprefix(f"{self._root.project.rstrip('/')}/")
        options, workspace = self._settings.options, Attentive(run.path)
        result = self._attempt(lambda: engine.advance(workspace, options, path))
        if _lasts(result):
            self._sightings.keep(run, workspace)
        else:
            self._sightings.forget(run.name)
        if isinstance(result, Problem):
            yield from self._failed(run.name, result)
            return
        self._troubles.pop(run.name, None)
        yield from (Report("performed", run.name, done) for done in result.performed)
        yield from self._stands(run, result.state)

    def _failed(self, name: str, problem: Problem) -> Iterator[Report]:
        """Once per cause."""
        if problem.code in PASSING:
            self._watcher.remind(name, AGAIN)
            return
        report = Report("failed", name, problem=problem)
        before = self._troubles.get(name)
        now = time.monotonic()
        if before is None or before.problem != problem:
            before = Trouble(problem, now, now)
            yield report
        self._troubles[name] = before._replace(tried=now)
        if not before.told and self._settled(name, before.since):
            self._troubles[name] = before._replace(tried=now, told=True)
            self._ask(report)

    def _settled(self, name: str, since: float) -> bool:
        left = since + SETTLED - time.monotonic()
        if left > 0:
            self._watcher.remind(name, left)
        return left <= 0

    def _ask(self, report: Report) -> None:
        if self._settings.on_human:
            self._errands.start(self._settings.on_human(report))

    def _stands(self, run: RunDir, state: RunState) -> Iterator[Report]:
        before = self._known.get(run.name)
        if before and _question(before.state) == _question(state):
            known = before._replace(state=state)
        else:
            # What waits for no person is only news when it was not so from the start.
            quiet = self._starting and state.next.who not in NEEDS_PERSON
            known = Known(state, time.monotonic(), told=quiet)
        self._known[run.name] = known
        if not known.told and not state.closed:
            yield from self._tell(run.name, known)
        self._send(run)

    def _tell(self, name: str, known: Known) -> Iterator[Report]:
        asks = known.state.next.who in NEEDS_PERSON
        if asks and not self._settled(name, known.since):
            return
        self._known[name] = known._replace(told=True)
        report = Report("waits", name, state=known.state)
        yield report
        if asks:
            self._ask(report)

    def _send(self, run: RunDir) -> None:
        known = self._known[run.name]
        idle = known.state.next.who != "agent" or known.state.closed
        if not self._settings.dispatch or known.sent or idle:
            return
        self._known[run.name] = known._replace(sent=True)
        self._errands.start(_sending(run, self._settings.options))

    def _over(self, ended: Ended) -> Iterator[Report]:
        run = ended.errand.run
        if problem := _trouble(ended):
            yield Report("failed", run, problem=problem)
        elif ended.errand.what == DISPATCH:
            yield Report("sent", run)
        self._watcher.remind(run, 0.0)

    def _gone(self, change: Change, there: set[str]) -> Iterator[Report]:
        seen = (self._known.keys() | self._troubles.keys()) - {""}
        names = seen if change.everything else seen & change.names
        for name in sorted(names - there):
            self._known.pop(name, None)
            self._troubles.pop(name, None)
            self._sightings.forget(name)
            yield Report("gone", name)

    def _waiting(self) -> tuple[tuple[str, int], ...]:
        known = (known.state for name, known in self._known.items() if name not in self._troubles)
        count = Counter(state.next.who for state in known if not state.closed)
        return tuple((who, count[who]) for who in ("human", "agent", "engine", "nobody"))


def _lasts(result: Outcome | Problem) -> bool:
    """Whether the files of the run and git are all that it hangs on, as far as we know."""
    if isinstance(result, Problem):
        return result.code not in PASSING
    return not result.performed and result.state.current_step not in AT_CODE


def _question(state: RunState) -> Next:
    """What makes two questions the same: everything but the reasons."""
    return state.next._replace(because=(), inputs=())


def _sending(run: RunDir, options: Options) -> Errand:
    """A command of its own: the daemon goes on with other runs while agents work. It may no more
    than the daemon."""
    command = [sys.executable, "-m", "qrspi", "--root", run.path, "--json"]
    command += ["next", "--dispatch", "--by", options.actor]
    command += ["--no-commit"] if options.no_commit else []
    return Errand(DISPATCH, run.name, tuple(command))


def _trouble(ended: Ended) -> Problem | None:
    if ended.status == 0:
        return None
    if ended.errand.what == DISPATCH:
        return _dispatch_trouble(ended)
    how = "did not end in time and was ended" if ended.status is None else f"exited {ended.status}"
    said = next(iter(ended.err.strip().splitlines()[-1:]), "")
    command = " ".join(ended.errand.argv)
    return Problem("hook-failed", f"`{command}` {how}{f': {said}' if said else ''}")


def _dispatch_trouble(ended: Ended) -> Problem:
    said = _document(ended.out)
    hint = f"qrspi next {ended.errand.run} --dispatch"
    text = said.get("message") or ended.err.strip() or f"the command exited {ended.status}"
    return Problem(str(said.get("code", "dispatch-failed")), str(text), hint=hint)


def _document(out: bytes) -> dict[str, Any]:
    try:
        said = json.loads(out)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
