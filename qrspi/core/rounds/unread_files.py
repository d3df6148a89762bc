"""Files in the folders of rounds that nobody has read, because no round knows their names."""

from __future__ import annotations

from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths, Unknown, parse_round_file
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import round_list
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Tree, entries


def of_loop(tree: Tree, subject: Subject, config: Config, base: int = 0) -> tuple[Problem, ...]:
    """Of all its rounds: a later round does not read what an earlier one left alone."""
    rounds = (one for one in round_list.rounds(tree, subject) if one > base)
    odd = [one for one in rounds if _has_unknown(tree, RoundPaths(subject.reviews, one))]
    found = loops.each(tree, subject, config, odd, base)
    return tuple(problem for loop in found for problem in of_round(loop))


def _has_unknown(tree: Tree, paths: RoundPaths) -> bool:
    """Nearly every round has only known names, and is not read for this."""
    names = (entry.name for entry in entries(tree, paths.directory))
    return any(isinstance(parse_round_file(name), Unknown) for name in names)


def of_round(loop: Loop) -> tuple[Problem, ...]:
    found = loop.files.warnings if loop.files else ()
    return tuple(problem for problem in found if problem.code == "unknown_file")
