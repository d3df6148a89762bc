"""A problem of config.md as a person sees it."""

from __future__ import annotations

from qrspi.core.model import Problem


def menu(problem: Problem) -> str:
    """The line that says what is wrong, then the numbered ways out."""
    ways = [f"  {number}) {way}" for number, way in enumerate(problem.options, 1)]
    return "\n".join((problem.message, *ways)) + "\n"
