"""What comes before the derived action: settings to write back, and what a killed command or a
forger left in the round at hand."""

from __future__ import annotations

from qrspi.core.config import reader as configs
from qrspi.core.filenames import SplitMarker, parse_round_file
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs.carry_out import Handler
from qrspi.handlers.jobs.job import Job


def before(job: Job, derived: Handler | None) -> Handler | None:
    """The handler whose turn it is, given the one that was derived."""
    due = _cut_off(job, derived) or _left_over(job, job.loop) or derived
    if due and configs.backfills(job.facts.config):
        from qrspi.handlers.runs import config_backfill as backfill

        return backfill.handle
    return due or _unwritten(job)


def _unwritten(job: Job) -> Handler | None:
    """A run that waits for agents has their prompts ready."""
    if not job.next.prompts or job.options.sends:
        return None
    from qrspi.handlers.agents import prompt_files as prompts

    return prompts.handle if prompts.missing(job) else None


def _cut_off(job: Job, derived: Handler | None) -> Handler | None:
    """An approval of the engine's own that a kill left without its record or its commit."""
    from qrspi.core.steps.cascade_log import FILE

    if FILE not in job.facts.names:
        return None
    from qrspi.handlers.decisions import cascade

    # Git is asked where somebody waits for an answer or something is done anyway: a daemon
    # looks at a run that is at rest many times a minute.
    ask = derived is not None or job.options.actor != "watch" or not job.workspace.at_rest
    return cascade.finish if cascade.unfinished(job, ask_git=ask) else None


def _left_over(job: Job, loop: Loop | None) -> Handler | None:
    if loop is None or loop.round is None or loop.stage not in ("reviewing", "guarded"):
        return None
    if loop.round.bypasses:
        from qrspi.handlers.rounds import bypass_record as bypass

        return bypass.handle
    if has_split(job.workspace, loop):
        from qrspi.handlers.rounds import split_reply as split

        return split.handle
    if loop.subject.is_task:
        from qrspi.handlers.rounds import visual_reviewer as visual_chain

        return visual_chain.handle if visual_chain.missing(job) else None
    return None


def has_split(tree: Tree, loop: Loop) -> bool:
    entries = tree.entries(loop.paths.directory)
    return not isinstance(entries, Fault) and any(
        entry.kind == "file" and isinstance(parse_round_file(entry.name), SplitMarker)
        for entry in entries
    )
