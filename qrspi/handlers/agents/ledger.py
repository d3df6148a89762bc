"""The ledger of what agents cost, and the budget that the next call is paid from."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from qrspi.core.agents import spend
from qrspi.core.agents.dispatch_record import Record
from qrspi.core.agents.replies import Usage
from qrspi.core.agents.spend import FILE, Bound, Group, LedgerEntry, Totals
from qrspi.core.config import reader as configs
from qrspi.core.config.blocks import Limits
from qrspi.core.config.reader import Config
from qrspi.core.errors import Halt
from qrspi.core.filenames import sent_about
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.world.agents import dispatch_folder
from qrspi.world.files import json_log
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace


class Ledger(NamedTuple):
    entries: tuple[LedgerEntry, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def calls(self) -> frozenset[tuple[str, int]]:
        return frozenset((one.job, one.attempt) for one in self.entries if one.job)


def read(tree: DiskTree) -> Ledger:
    entries: list[LedgerEntry] = []
    problems: list[Problem] = []
    for line in json_log.read(tree, FILE):
        read = line if isinstance(line, Problem) else spend.entry(line.record, line.line)
        if isinstance(read, Problem):
            problems.append(read)
        else:
            entries.append(read)
    return Ledger(tuple(entries), tuple(problems))


def before_a_call(tree: DiskTree) -> Ledger:
    """When it is unknown what was spent, nothing more is spent."""
    return known_or_halt(tree, "nobody is sent: ")


def known_or_halt(tree: DiskTree, before: str = "") -> Ledger:
    """A ledger that cannot be read is not an empty one."""
    known = read(tree)
    for problem in known.problems:
        if problem.code == "unreadable":
            text = f"{before}{problem.message}, so nobody knows what was spent"
            raise Halt(problem._replace(message=text, hint=json_log.move_aside(tree.path, FILE)))
    return known


def entry(record: Record, step: str, round: int, usage: Usage) -> LedgerEntry:
    return LedgerEntry(
        time=clock.now_utc(),
        step=step,
        round=round,
        role=record.role,
        model=record.model,
        vendor=record.vendor,
        name=record.name,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        usd=usage.usd,
        estimated=usage.estimated,
        job=record.job_id,
        attempt=record.attempt,
    )


def append(workspace: Workspace, entries: Iterable[LedgerEntry]) -> tuple[Problem, ...]:
    lines = b"".join(json_log.encode(spend.render(entry)) for entry in entries)
    return workspace.append(FILE, lines) if lines else ()


class Spending(NamedTuple):
    groups: tuple[tuple[Group, Totals], ...]
    total: Totals
    budgets: tuple[tuple[Bound, Totals], ...]
    unanswered: int = 0  # calls that were sent and whose cost nobody knows


def unanswered(tree: DiskTree, known: Ledger) -> int:
    return len(tuple(lost(tree, known)))


def lost(tree: DiskTree, known: Ledger) -> Iterator[LedgerEntry]:
    """Calls without an answer and without an entry: under way, or, where nobody is sending, of a
    command that was killed."""
    for folder, one in dispatch_folder.unanswered(tree.path):
        if (one.job_id, one.attempt) not in known.calls:
            yield entry(one, *sent_about(folder), Usage())._replace(outcome="interrupted")


def spending(tree: DiskTree, known: Ledger) -> Spending:
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    total = spend.total(known.entries)
    budgets: list[tuple[Bound, Totals]] = []
    for step in ("", *dict.fromkeys(one.step for one in known.entries)):
        _, of_run, of_step = spend.bounds(config, Limits(), step)
        spent = spend.total(one for one in known.entries if one.step == step) if step else total
        bound = of_step if step else of_run
        if bound.limits != Limits():
            budgets.append((bound, spent))
    groups = spend.grouped(known.entries)
    return Spending(groups, total, tuple(budgets), unanswered(tree, known))


class RunBudget:
    """Calls under way count at once; their cost is known later, and may exceed the other limits."""

    def __init__(self, config: Config, command: Limits, run: str = "") -> None:
        self._config = config
        self._run = run
        self._command = command
        self._bounds: tuple[Bound, ...] = ()
        self._totals: list[Totals] = [Totals()]
        self._under_way = 0
        self._guard = threading.Lock()

    def count(self, step: str, entries: Iterable[LedgerEntry]) -> None:
        listed = tuple(entries)
        self._bounds = spend.bounds(self._config, self._command, step)
        of_step = (one for one in listed if one.step == step)
        self._totals = [self._totals[0], spend.total(listed), spend.total(of_step)]

    def admit(self) -> Problem | None:
        with self._guard:
            for bound, totals in zip(self._bounds, self._totals, strict=True):
                counted = totals._replace(calls=totals.calls + self._under_way)
                if problem := spend.reached(bound, counted, self._run):
                    return problem
            self._under_way += 1
            return None

    def take_back(self) -> None:
        with self._guard:
            self._under_way -= 1

    def charge(self, usage: Usage) -> None:
        with self._guard:
            self._under_way -= 1
            call = LedgerEntry("", "", 0, "", "")._replace(**usage._asdict())
            self._totals = [spend.add(totals, call) for totals in self._totals]

    @property
    def blind(self) -> tuple[str, ...]:
        """The limits that are kept without knowing all that was spent."""
        limits, totals = [bound.limits for bound in self._bounds], self._totals
        usd = any(one.usd is not None for one in limits) and any(one.unpriced for one in totals)
        tokens = any(one.tokens is not None for one in limits)
        guessed = tokens and any(one.estimated for one in totals)
        return (*(["usd"] if usd else []), *(["tokens"] if guessed else []))
