"""Rounds that were made elsewhere: what closes them, and what taking one over means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qrspi.core.model import Problem
from qrspi.core.records import import_record
from qrspi.core.tree import Tree, exists
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop


def taken_in(tree: Tree, loop: Loop) -> Loop:
    """Nobody is sent for such a round, and none of its files is put right."""
    assert loop.round is not None
    missing = tuple(one for one in loop.round.blocking if one.code != "missing_output")
    read = loop.round._replace(unfinished=(), silent_tags=(), blocking=missing)
    choice = import_record.of_run(tree).open.get(loop.paths.directory, "")
    loop = loop._replace(imported=True, choice=choice)
    silent = loop.round.silent_tags if loop.round and loop.taken_over else ()
    return loop._replace(round=read, warnings=(*loop.warnings, *_silent(loop, silent)))


def _silent(loop: Loop, tags: tuple[str, ...]) -> tuple[Problem, ...]:
    if not tags:
        return ()
    folder = loop.paths.directory
    text = (
        f"{folder} was made elsewhere and has nothing of {', '.join(tags)}: nobody is sent for "
        "it, it is never clean, and a round of everybody follows"
    )
    return (Problem("made-elsewhere", text, file=folder),)


def with_stage(tree: Tree, loop: Loop) -> Loop:
    """Of one that is not taken over."""
    if closer := closed_by(tree, loop):
        return loop._replace(stage="closed", because=(f"closed by {closer}",))
    why = f"{loop.paths.directory} was made elsewhere, and nothing says that it is closed"
    return loop._replace(stage="guarded", because=(why,))


def closed_by(tree: Tree, loop: Loop) -> str:
    """What ends it, of several the first; '' when it is open."""
    if exists(tree, loop.paths.dispositions):
        return "a dispositions file"
    if exists(tree, loop.paths.anchor):
        return "an anchor"
    artifact = loop.subject.artifact
    if frontmatter.status(tree.head(artifact), artifact)[0] == "approved":
        return f"the approval of {artifact}"
    return "its import" if loop.choice == "close" or loop.subject.is_task else ""


def sentence(loop: Loop) -> str:
    """How the reviews of a step stand whose newest round it is."""
    how = loop.because[0] if loop.because else "open"
    known = loop.decided.findings or loop.decided.menu
    recorded = "" if known else "; no decision is on record"
    return f"Round {loop.number} was made elsewhere and is unproven ({how}{recorded})"
