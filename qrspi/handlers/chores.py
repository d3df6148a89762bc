"""What comes before the derived action: settings to write back, and what a killed command or a
forger left in the round at hand."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core import config as configs
from qrspi.core.filenames import SplitMarker, parse_round_file
from qrspi.core.loop import Loop
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.job import Job, Performed

Handler = Callable[[Job], Performed]


def before(job: Job, derived: Handler | None) -> Handler | None:
    """The handler whose turn it is, given the one that was derived."""
    due = _left_over(job, job.loop) or derived
    if due and configs.backfills(job.facts.config):
        from qrspi.handlers import backfill

        return backfill.handle
    return due or _unwritten(job)


def _unwritten(job: Job) -> Handler | None:
    """A run that waits for agents has their prompts ready."""
    if not job.next.prompts:
        return None
    from qrspi.handlers import prompts

    return prompts.handle if prompts.missing(job) else None


def _left_over(job: Job, loop: Loop | None) -> Handler | None:
    if loop is None or loop.round is None or loop.stage not in ("reviewing", "guarded"):
        return None
    if loop.round.bypasses:
        from qrspi.handlers import bypass

        return bypass.handle
    if _has_split(job.workspace, loop):
        from qrspi.handlers import split

        return split.handle
    if loop.subject.is_task:
        from qrspi.handlers import visual_chain

        return visual_chain.handle if visual_chain.missing(job) else None
    return None


def _has_split(tree: Tree, loop: Loop) -> bool:
    entries = tree.entries(loop.paths.directory)
    return not isinstance(entries, Fault) and any(
        entry.kind == "file" and isinstance(parse_round_file(entry.name), SplitMarker)
        for entry in entries
    )
