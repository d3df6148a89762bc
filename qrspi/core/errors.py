"""How a command ends early. Bad content is a Problem; these carry one to the boundary."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qrspi.core.hints import Any, TypeVar
from qrspi.core.model import Problem

Found = TypeVar("Found")


class Refusal(Exception):
    """The contract is violated: nothing was changed, but for what was `done` before."""

    exit_code = 3

    def __init__(self, problem: Problem, *more: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.more = more
        self.done: tuple[Any, ...] = ()
        self.beside: Mapping[str, Any] = {}  # what else its document says, such as what was done


def accepted(value: Found | Problem) -> Found:
    if isinstance(value, Problem):
        raise Refusal(value)
    return value


def refused(problem: Problem, *more: Problem) -> Refusal:
    """For a run about which nothing can be decided: its disk failed, or its files are wrong."""
    return (Halt if problem.code == "unreadable" else Refusal)(problem, *more)


def attempt(body: Callable[[], Found]) -> Found | Problem:
    """For a caller that does many things: one failure must not stop the others."""
    try:
        return body()
    except Refusal as refusal:
        return refusal.problem
    except Exception as bug:
        return Problem("bug", f"a bug in qrspi: {type(bug).__name__}: {bug}")


class Misuse(Refusal):
    """The command cannot be called like this."""

    exit_code = 2


class Halt(Refusal):
    """An I/O or git operation failed."""

    exit_code = 4


class Busy(Refusal):
    """Another process holds the run."""

    exit_code = 5
