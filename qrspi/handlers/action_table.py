"""What the engine does by itself: each mechanical action, its module, how `--dry-run` shows it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from qrspi.core import model

if TYPE_CHECKING:
    from qrspi.handlers.jobs.job import Job, Performed

    Handler = Callable[[Job], Performed]

# whole: all it does is write files of the run, so it is rehearsed and so is what follows.
# uncommitted: rehearsed without its commit, and nothing after it is foreseen.
# named: only said; nothing of it is rehearsed.
Rehearsal = Literal["whole", "uncommitted", "named"]


class Due(NamedTuple):
    """The handler whose turn it is."""

    handle: Handler
    rehearsal: Rehearsal


class Action(NamedTuple):
    module: str  # imported when its action is derived
    rehearsal: Rehearsal = "named"
    asked_for: bool = False  # changes the work tree or runs a configured command: never the daemon
    function: str = "handle"

    def handler(self) -> Handler:
        module = importlib.import_module(f"qrspi.handlers.{self.module}")
        found: Handler = getattr(module, self.function)
        return found


MECHANICAL: dict[model.Action | model.NextKind, Action] = {
    "prepare-round": Action("rounds.prepare", "whole"),
    "assemble": Action("rounds.assemble", "whole"),
    "commit-round": Action("rounds.commit", "uncommitted"),
    "cascade": Action("decisions.cascade", "uncommitted"),
    "audit": Action("gates.audit", "whole"),
    "loop": Action("rounds.loop_choice", "whole"),
    "loop-again": Action("rounds.loop_choice", "whole"),
    "escape": Action("rounds.loop_choice", function="write_escape"),
    "checkpoint-rows": Action("gates.checkpoint_rows"),
    "start-tasks": Action("tasks.start"),
    "assemble-task": Action("tasks.reviews", function="assemble"),
    "settle-task": Action("tasks.settle", function="settle_task"),
    "draft-implementation": Action("tasks.drafts", function="implementation"),
    "rerun-reviews": Action("tasks.reviews", function="review_all_again"),
    "merge": Action("tasks.merge", asked_for=True),
    "ci": Action("tasks.ci", asked_for=True),
    "run-tests": Action("tasks.tests", asked_for=True),
    "draft-test-results": Action("tasks.tests", function="not_run"),
    "write-repairs": Action("tasks.repairs"),
    "settle-repairs": Action("tasks.settle", function="settle_repairs"),
    "draft-pull-request": Action("tasks.drafts", function="pull_request_text"),
    "archive-phase": Action("decisions.archive_phase"),
    "replan-major": Action("decisions.replan"),
}


def find(job: Job) -> Due | None:
    """The handler of the derived action; None when a person or an agent is to act."""
    answer = job.next
    action = answer.kind if answer.kind in MECHANICAL else answer.action
    if job.options.anyway and answer.kind == "approve" and job.loop and job.loop.fresh:
        action = "prepare-round"
    elif answer.who != "engine" and not _is_answered(job, action):
        return None
    if action == "commit-round" and not job.commits:
        return _before_a_commit(job)
    if action not in MECHANICAL:
        return None
    entry = MECHANICAL[action]
    if entry.asked_for and job.options.actor == "watch":
        return None
    return Due(entry.handler(), entry.rehearsal)


def _is_answered(job: Job, question: model.Action | model.NextKind) -> bool:
    """How a loop goes on: the first time it is asked there is a default, later a person says."""
    if question not in ("loop", "loop-again"):
        return False
    unasked = not job.options.ask if question == "loop" else job.options.present
    return job.is_answered or (unasked and not job.options.asked)


def _before_a_commit(job: Job) -> Due | None:
    """What a person who commits by hand still needs of the engine."""
    from qrspi.handlers.rounds import commit

    due = commit.needs_dispositions(job.workspace, job.round_loop)
    return Due(commit.dispose, "uncommitted") if due else None
