"""What comes before the derived action: settings to write back, and what a killed command or a
forger left in the round at hand."""

from __future__ import annotations

from qrspi.core.config import reader as configs
from qrspi.core.rounds.loop import Loop
from qrspi.handlers.action_table import Due
from qrspi.handlers.jobs.job import Job


def before(job: Job, derived: Due | None) -> Due | None:
    """The handler whose turn it is, given the one that was derived."""
    due = _cut_off(job, derived) or _left_over(job, job.loop) or derived
    if due and configs.backfills(job.facts.config):
        from qrspi.handlers.runs import change_config

        return Due(change_config.backfill, "whole")
    return due or _unwritten(job)


def _unwritten(job: Job) -> Due | None:
    """A run that waits for agents has their prompts ready."""
    if not job.next.asks or job.options.sends:
        return None
    from qrspi.handlers.agents import awaited_agents

    missing = awaited_agents.without_prompt(job)
    return Due(awaited_agents.write_prompts, "whole") if missing else None


def _cut_off(job: Job, derived: Due | None) -> Due | None:
    """An approval of the engine's own that a kill left without its record or its commit."""
    from qrspi.core.steps.cascade import FILE

    if FILE not in job.facts.names:
        return None
    from qrspi.handlers.decisions import cascade

    # Git is asked where somebody waits for an answer or something is done anyway: a daemon
    # looks at a run that is at rest many times a minute.
    ask = derived is not None or job.options.actor != "watch" or not job.workspace.at_rest
    return Due(cascade.finish, "uncommitted") if cascade.unfinished(job, ask_git=ask) else None


def _left_over(job: Job, loop: Loop | None) -> Due | None:
    if loop is None or loop.round is None or loop.stage not in ("reviewing", "guarded"):
        return None
    if loop.round.bypasses:
        from qrspi.handlers.rounds import visual_reviewer

        return Due(visual_reviewer.record_bypasses, "whole")
    if loop.round.splits:
        from qrspi.handlers.rounds import printed_reply

        return Due(printed_reply.finish_splits, "whole")
    if loop.subject.is_task:
        from qrspi.handlers.rounds import visual_reviewer

        return Due(visual_reviewer.record_skip, "whole") if visual_reviewer.missing(job) else None
    return None
