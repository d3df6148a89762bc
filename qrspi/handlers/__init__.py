"""One file per action: carry it out, decide nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qrspi.handlers.jobs.job import Job, Performed

# What the engine does by itself. A module is imported when its action is derived.
MECHANICAL = {
    "prepare-round": "rounds.prepare",
    "assemble": "rounds.assemble",
    "commit-round": "rounds.commit",
    "cascade": "decisions.cascade",
    "loop": "rounds.loop_choice",
    "escape": "rounds.escape_report",
    "start-tasks": "tasks.start",
    "assemble-task": "tasks.assemble_task",
    "settle-task": "tasks.settle_task",
    "draft-implementation": "tasks.draft_implementation",
    "rerun-reviews": "tasks.rerun_reviews",
    "merge": "tasks.merge",
    "ci": "tasks.ci",
    "run-tests": "tasks.tests",
    "write-repairs": "tasks.write_repairs",
    "settle-repairs": "tasks.settle_repairs",
    "draft-pull-request": "tasks.draft_pull_request",
    "archive-phase": "decisions.archive_phase",
    "replan-major": "decisions.replan",
}
# These change the user's work tree or run a command that config.md names: only when asked for.
ASKED_FOR = ("merge", "ci", "run-tests")


def find(job: Job) -> Callable[[Job], Performed] | None:
    """The handler of the derived action; None when a person or an agent is to act."""
    answer = job.next
    action = answer.kind if answer.kind in MECHANICAL else answer.action
    if job.options.anyway and answer.kind == "approve" and job.loop and job.loop.fresh:
        action = "prepare-round"
    elif answer.who != "engine" and action != "loop":
        return None
    if action == "commit-round" and job.options.no_commit:
        return _before_a_commit(job)
    if action not in MECHANICAL or (action == "loop" and job.options.ask):
        return None
    if action in ASKED_FOR and job.options.actor == "watch":
        return None
    module = importlib.import_module(f"qrspi.handlers.{MECHANICAL[action]}")
    handle: Callable[[Job], Performed] = module.handle
    return handle


def _before_a_commit(job: Job) -> Callable[[Job], Performed] | None:
    """What a person who commits by hand still needs of the engine."""
    from qrspi.handlers.rounds import commit as commit_round

    due = commit_round.needs_dispositions(job.workspace, job.round_loop)
    return commit_round.dispose if due else None
