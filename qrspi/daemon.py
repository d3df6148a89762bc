"""The daemon: look at the runs that changed, do what is mechanical, say what happened. What it
remembers only saves it a second look at unchanged files."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, cast

from qrspi import engine
from qrspi.core.errors import Halt
from qrspi.core.model import Code, Next, Problem, RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.engine import Outcome
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.world.processes import own_command
from qrspi.world.processes.side_processes import Ended, SideProcesses, SideProgram
from qrspi.world.runs import locate
from qrspi.world.runs.heartbeat import DaemonPlace
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.watch.database_changes import DatabaseChanges
from qrspi.world.watch.runs_in_git import RunsInGit
from qrspi.world.watch.unchanged_runs import Around, RecordingWorkspace, UnchangedRuns
from qrspi.world.watch.watcher import Change, Watcher

# Seconds that a question must stand before a person is told: a file that is being written looks
# like a broken one.
SETTLED = 0.3
# Another command is working on the run. That is no problem; the run is looked at again in a second.
PASSING: frozenset[Code] = frozenset(("busy", "changed-meanwhile", "run-moved"))
AGAIN = 1.0

# How many failed runs that have not changed may fail again before a sweep leaves the rest alone.
IN_VAIN = 4
# What follows from the run's own files, on disk, in HEAD and in the index. No commit elsewhere
# mends it, while a branch, a merge or a lock may be why anything else failed.
OF_ITS_FILES: frozenset[Code] = frozenset(
    ("untracked-artifact", "bad-record", "record-cut", "record-gone")
)
# At these steps a run depends on what lies outside it: work trees, and what is in them.
AT_CODE = ("implement", "integrate", "test")

# A person must ask for what the engine could do but the daemon does not, such as merging.
NEEDS_PERSON = ("human", "engine")

HOOK, DISPATCH = "hook", "dispatch"

Event = Literal[
    "started", "looked", "performed", "waits", "sent", "failed", "stale", "gone", "stopped"
]
Attempt = Callable[[Callable[[], Outcome]], Outcome | Problem]


class Settings(NamedTuple):
    root: Root
    options: Options = Options("watch", lock_timeout=0.0)
    dispatch: bool = False
    executor: str = ""  # '' for the one that the user's settings name
    on_human: Callable[[Report], SideProgram] | None = None


class Report(NamedTuple):
    event: Event
    run: str = ""
    performed: Performed | None = None
    state: RunState | None = None
    problem: Problem | None = None
    waiting: tuple[tuple[str, int], ...] = ()  # how many runs wait for whom
    failed: int = 0  # how many cannot go on


class Known(NamedTuple):
    state: RunState
    since: float
    told: bool = False  # it was logged, and a person was asked
    sent: bool = False  # the agents it waits for were sent


class Trouble(NamedTuple):
    problem: Problem
    since: float
    last_tried: float
    told: bool = False  # to a person; the log has it at once


def watch(settings: Settings, watcher: Watcher, attempt: Attempt) -> Iterator[Report]:
    """`attempt` turns any failure of one run into a problem, so that the others go on."""
    with DaemonPlace(settings.root.runs_dir) as place, SideProcesses(watcher.wake) as processes:
        place.keep()
        daemon = Daemon(settings, watcher, attempt, processes)
        for change in watcher.changes():
            if change.why == "start":
                yield Report("started")
            elif change.everything:
                yield from daemon.keep(place)
            yield from daemon.look(change)
    yield Report("stopped")


class Daemon:
    def __init__(
        self, settings: Settings, watcher: Watcher, attempt: Attempt, processes: SideProcesses
    ) -> None:
        self._settings = settings
        self._root = settings.root
        self._watcher = watcher
        self._attempt = attempt
        self._processes = processes
        self._known: dict[str, Known] = {}
        self._troubles: dict[str, Trouble] = {}
        self._sightings = UnchangedRuns(settings.root)
        self._around: Around | None = None
        self._in_git = RunsInGit(settings.root.runs_dir)
        self._retried: frozenset[str] = frozenset()  # what failed, and git may let go on now
        self._starting = True
        self._told_rows: dict[str, frozenset[str]] = {}  # of each run, what was said already
        self._databases = DatabaseChanges()
        watcher.also = self._databases.since

    def keep(self, place: DaemonPlace) -> Iterator[Report]:
        """A full disk must not end the daemon; another daemon that took its place must."""
        try:
            place.keep()
        except Halt as halt:
            yield from self._failed("", halt.problem)
        else:
            self._troubles.pop("", None)

    def look(self, change: Change) -> Iterator[Report]:
        for ended in self._processes.ended():
            yield from self._ended(ended)
        if change.everything or change.git:
            self._look_around(change)
        runs = self._named(change)
        for run in self._due(change, runs):
            if self._watcher.stopping:
                return
            yield from self._look_at(run)
        # What failed at the start is looked at once more in a moment, before a person is asked.
        if change.git or change.why in ("sweep", "lost"):
            self._in_git.let_go()
        yield from self._gone(change, {run.name for run in runs})
        if change.why in ("start", "lost"):
            failed = len(self._troubles.keys() - {""})
            yield Report("looked", waiting=self._waiting(), failed=failed)
        self._starting = False

    def _named(self, change: Change) -> list[RunDir]:
        if change.everything:
            runs = locate.list_runs(self._root)
            return [] if isinstance(runs, Fault) else list(runs)
        names = change.names | (self._retried if change.git else frozenset())
        found = (locate.run_named(self._root, name) for name in sorted(names))
        return [run for run in found if run]

    def _look_around(self, change: Change) -> None:
        before, now = self._around, self._sightings.around()
        self._around = now
        same = before is not None and before.same_git(now) and not change.git
        self._retried = frozenset() if same else self._may_go_on()
        if before is None or not before.same_ground(now):
            self._sightings.forget_all()
        for name in self._retried:
            self._sightings.forget(name)

    def _may_go_on(self) -> frozenset[str]:
        """A change in git matters only to what failed before and may succeed now."""
        if not self._starting and not self._troubles:
            self._in_git.forget()
            return frozenset()
        changed = self._in_git.changed()
        return frozenset(
            name
            for name, trouble in self._troubles.items()
            if changed is None or name in changed or trouble.problem.code not in OF_ITS_FILES
        )

    def _due(self, change: Change, runs: list[RunDir]) -> Iterator[RunDir]:
        if not change.everything:
            yield from runs
            return
        failed = []
        for run in runs:
            if not self._sightings.unchanged(run):
                yield run
            elif run.name in self._troubles:
                failed.append(run)
        yield from self._once_more(failed)

    def _once_more(self, failed: list[RunDir]) -> Iterator[RunDir]:
        """No file may show the reason, such as a full disk. Once one succeeds, all are tried."""
        left = IN_VAIN
        for run in sorted(failed, key=lambda run: self._troubles[run.name].last_tried):
            if not left:
                return
            before = self._troubles[run.name]
            yield run
            after = self._troubles.get(run.name)
            left -= after is not None and after.problem == before.problem

    def _look_at(self, run: RunDir) -> Iterator[Report]:
        path = run.path.removeprefix(f"{self._root.project.rstrip('/')}/")
        options, workspace = self._settings.options, RecordingWorkspace(run.path)
        self._databases.look(run.name, run.path)
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
        yield from self._rows(run.name, result.state)

    def _rows(self, name: str, state: RunState) -> Iterator[Report]:
        """Once for each task that begins to wait or falls silent, whatever else is next."""
        if not state.checkpoints:
            self._databases.forget(name)
            return
        from qrspi.core.gates.checkpoints import checkpoint_gate
        from qrspi.world.runs import machine_signs

        waits = [
            Report("waits", name, state=state._replace(next=checkpoint_gate.asked(name, row)))
            for row in state.checkpoints
            if row.kind and row.command != state.next.command
        ]
        silent = (one for one in state.warnings if one.code == "stale-heartbeat")
        yield from self._new(name, [*waits, *(Report("stale", name, problem=p) for p in silent)])
        if left := machine_signs.until_silent(state):
            self._watcher.remind(name, left)

    def _new(self, name: str, reports: list[Report]) -> Iterator[Report]:
        told = {_about(report): report for report in reports}
        before = self._told_rows.get(name, frozenset())
        self._told_rows[name] = frozenset(told)
        for about, report in told.items():
            if about not in before:
                yield report
                if report.state and report.state.next.who in NEEDS_PERSON:
                    self._ask(report)

    def _failed(self, name: str, problem: Problem) -> Iterator[Report]:
        if problem.code in PASSING:
            self._watcher.remind(name, AGAIN)
            return
        report = Report("failed", name, problem=problem)
        now = time.monotonic()
        trouble = self._troubles.get(name)
        if trouble is None or trouble.problem != problem:
            trouble = Trouble(problem, since=now, last_tried=now)
            yield report
        may_ask = self._settings.on_human is not None and not trouble.told
        ask = may_ask and self._settled(name, trouble.since)
        self._troubles[name] = trouble._replace(last_tried=now, told=trouble.told or ask)
        if ask:
            self._ask(report)

    def _settled(self, name: str, since: float) -> bool:
        """Whether it has stood long enough; if not, the run is looked at again at that time."""
        left = since + SETTLED - time.monotonic()
        if left > 0:
            self._watcher.remind(name, left)
        return left <= 0

    def _ask(self, report: Report) -> None:
        if self._settings.on_human:
            self._processes.start(self._settings.on_human(report))

    def _stands(self, run: RunDir, state: RunState) -> Iterator[Report]:
        before = self._known.get(run.name)
        if before and _question(before.state) == _question(state):
            known = before._replace(state=state)
        else:
            # At the start, a run that does not wait for a person is no news.
            quiet = self._starting and state.next.who not in NEEDS_PERSON
            known = Known(state, time.monotonic(), told=quiet)
        self._known[run.name] = known
        if not known.told and not state.closed:
            yield from self._tell(run.name, known)
        self._send(run)

    def _tell(self, name: str, known: Known) -> Iterator[Report]:
        needs_person = known.state.next.who in NEEDS_PERSON
        if needs_person and not self._settled(name, known.since):
            return
        self._known[name] = known._replace(told=True)
        report = Report("waits", name, state=known.state)
        yield report
        if needs_person:
            self._ask(report)

    def _send(self, run: RunDir) -> None:
        known = self._known[run.name]
        # A task that asks for review waits for a decision, and no agent is sent for that.
        idle = not known.state.next.asks or known.state.closed
        if not self._settings.dispatch or known.sent or idle:
            return
        self._known[run.name] = known._replace(sent=True)
        self._processes.start(_sending(run, self._settings.options, self._settings.executor))

    def _ended(self, ended: Ended) -> Iterator[Report]:
        run = ended.program.run
        if problem := _trouble(ended):
            yield Report("failed", run, problem=problem)
        elif ended.program.what == DISPATCH:
            yield Report("sent", run)
        self._watcher.remind(run, 0.0)

    def _gone(self, change: Change, there: set[str]) -> Iterator[Report]:
        seen = (self._known.keys() | self._troubles.keys()) - {""}
        names = seen if change.everything else seen & change.names
        for name in sorted(names - there):
            self._known.pop(name, None)
            self._troubles.pop(name, None)
            self._sightings.forget(name)
            self._databases.forget(name)
            self._told_rows.pop(name, None)
            yield Report("gone", name)

    def _waiting(self) -> tuple[tuple[str, int], ...]:
        known = (known.state for name, known in self._known.items() if name not in self._troubles)
        count = Counter(state.next.who for state in known if not state.closed)
        return tuple((who, count[who]) for who in ("human", "agent", "engine", "nobody"))


def _lasts(result: Outcome | Problem) -> bool:
    """Whether a second look would find the same while the run's files and git stay the same."""
    if isinstance(result, Problem):
        return result.code not in PASSING
    return not result.performed and result.state.current_step not in AT_CODE


def _question(state: RunState) -> Next:
    return state.next._replace(because=(), inputs=())


def _about(report: Report) -> str:
    """What makes two reports of a row the same, apart from the time."""
    task = report.problem.field if report.problem else ""
    return report.state.next.summary if report.state else task


def _sending(run: RunDir, options: Options, executor: str) -> SideProgram:
    """A separate command, so that the daemon goes on with other runs while agents work."""
    command = [*own_command.words(), "--root", run.path, "--json"]
    command += ["next", "--dispatch", "--by", options.actor]
    command += ["--no-commit"] if options.no_commit else []
    command += ["--executor", executor] if executor else []
    return SideProgram(DISPATCH, run.name, tuple(command))


def _trouble(ended: Ended) -> Problem | None:
    if ended.status == 0:
        return None
    if ended.program.what == DISPATCH:
        return _dispatch_trouble(ended)
    how = "did not end in time and was ended" if ended.status is None else f"exited {ended.status}"
    reason = "".join(f": {line}" for line in ended.err.strip().splitlines()[-1:])
    return Problem("hook-failed", f"`{' '.join(ended.program.argv)}` {how}{reason}")


def _dispatch_trouble(ended: Ended) -> Problem:
    try:
        document = json.loads(ended.out)
    except ValueError:
        document = None
    said = document if isinstance(document, dict) else {}
    text = said.get("message") or ended.err.strip() or f"the command exited {ended.status}"
    code = cast(Code, str(said.get("code", "dispatch-failed")))
    return Problem(code, str(text), hint=f"qrspi next {ended.program.run} --dispatch")
