"""The ledger of what agents cost, and the purse that the next call is paid from."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import NamedTuple

from qrspi.core.agents import spend
from qrspi.core.agents.replies import Usage
from qrspi.core.agents.spend import FILE, Bound, Entry, Totals
from qrspi.core.config.blocks import Budget, Limits
from qrspi.core.config.reader import Config
from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.world.files import json_log as applog
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace


class Ledger(NamedTuple):
    entries: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def calls(self) -> frozenset[tuple[str, int]]:
        """Which calls are on it: a job, and which attempt at it."""
        return frozenset((one.job, one.attempt) for one in self.entries if one.job)


def read(tree: DiskTree) -> Ledger:
    entries: list[Entry] = []
    problems: list[Problem] = []
    for line in applog.read(tree, FILE):
        one = line if isinstance(line, Problem) else spend.entry(line.record, line.line)
        if isinstance(one, Problem):
            problems.append(one)
        else:
            entries.append(one)
    return Ledger(tuple(entries), tuple(problems))


def before_a_call(tree: DiskTree) -> Ledger:
    """Who cannot tell what was spent spends nothing more."""
    known = read(tree)
    for problem in known.problems:
        if problem.code == "unreadable":
            text = f"nobody is sent: {problem.message}, so nobody knows what was spent"
            raise Halt(problem._replace(message=text, hint="move it away, then go on"))
    return known


def append(workspace: Workspace, entries: Iterable[Entry]) -> tuple[Problem, ...]:
    lines = b"".join(applog.encode(spend.render(entry)) for entry in entries)
    return workspace.append(FILE, lines) if lines else ()


def bounds(config: Config, command: Limits, step: str) -> tuple[Bound, Bound, Bound]:
    """Whose limits there are: this command's, the run's, the step's."""
    budget = config.budget or Budget()
    return (
        Bound("the limit given with this command", command),
        Bound("the budget of this run in config.md", budget.run),
        Bound(f"the budget of a step in config.md ({step})", budget.per_step),
    )


class Purse:
    """Asked before each call. Calls that are under way count as calls, since they will be made;
    what they cost is known when they end, so that many at once can overshoot the other limits by
    what is under way."""

    def __init__(self, config: Config, command: Limits) -> None:
        self._config = config
        self._command = command
        self._bounds: tuple[Bound, ...] = ()
        self._totals: list[Totals] = [Totals()]
        self._under_way = 0
        self._guard = threading.Lock()

    def count(self, step: str, entries: Iterable[Entry]) -> None:
        """For one fan-out: what the run and the step have spent so far."""
        listed = tuple(entries)
        self._bounds = bounds(self._config, self._command, step)
        of_step = (one for one in listed if one.step == step)
        self._totals = [self._totals[0], spend.total(listed), spend.total(of_step)]

    def admit(self) -> Problem | None:
        """Take the price of a call out, or say why it cannot be made."""
        with self._guard:
            for bound, totals in zip(self._bounds, self._totals, strict=True):
                counted = totals._replace(calls=totals.calls + self._under_way)
                if problem := spend.reached(bound, counted):
                    return problem
            self._under_way += 1
            return None

    def take_back(self) -> None:
        """The call was not made after all."""
        with self._guard:
            self._under_way -= 1

    def charge(self, usage: Usage) -> None:
        with self._guard:
            self._under_way -= 1
            call = Entry("", "", 0, "", "", usd=usage.usd)
            call = call._replace(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
            self._totals = [spend.add(totals, call) for totals in self._totals]

    @property
    def blind(self) -> bool:
        """Whether money is limited, and somebody did not say what a call cost."""
        limited = any(bound.limits.usd is not None for bound in self._bounds)
        return limited and any(totals.unpriced for totals in self._totals)
