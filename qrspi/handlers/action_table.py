"""What the engine does by itself: each mechanical action with its module, and what comes before
it: missing settings, and what a killed command or a forger left."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from qrspi.core import model
from qrspi.core.config import reader as configs
from qrspi.core.hints import TYPE_CHECKING, Literal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CODE_STEPS
from qrspi.core.records.approvals import CASCADES

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop
    from qrspi.handlers.jobs.job import Job, Performed

    Handler = Callable[[Job], Performed]

# whole: it only writes files of the run, so it is rehearsed, and so is what follows.
# uncommitted: it is rehearsed without its commit, and nothing after it is foreseen.
# named: it is only announced, and nothing of it is rehearsed.
Rehearsal = Literal["whole", "uncommitted", "named"]


class Due(NamedTuple):
    handle: Handler
    rehearsal: Rehearsal
    name: str = ""  # where it is another than the run's next action


class Action(NamedTuple):
    module: str  # imported when its action is derived
    rehearsal: Rehearsal = "named"
    asked_for: bool = False  # changes the work tree or runs a configured command: never the daemon
    function: str = "handle"

    def handler(self) -> Handler:
        module = importlib.import_module(f"qrspi.handlers.{self.module}")
        function: Handler = getattr(module, self.function)
        return function


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
    "settle-task": Action("tasks.repairs", function="settle_task"),
    "draft-implementation": Action("tasks.drafts", function="implementation"),
    "rerun-reviews": Action("tasks.reviews", function="review_all_again"),
    "merge": Action("tasks.merge", asked_for=True),
    "ci": Action("tasks.commands", asked_for=True, function="run_ci"),
    "run-tests": Action("tasks.commands", asked_for=True, function="run_tests"),
    "draft-test-results": Action("tasks.commands", function="not_run"),
    "write-repairs": Action("tasks.repairs"),
    "write-acceptance": Action("tasks.repairs", function="acceptance"),
    "settle-repairs": Action("tasks.repairs", function="settle_repairs"),
    "draft-pull-request": Action("tasks.drafts", function="pull_request_text"),
    "archive-phase": Action("decisions.replan", function="archive_phase"),
    "replan-major": Action("decisions.replan"),
}


def turn(job: Job) -> Due | None:
    """The handler that comes next; None when the run waits."""
    return before(job, _derived(job))


def _derived(job: Job) -> Due | None:
    following = job.next
    action = following.kind if following.kind in MECHANICAL else following.action
    if job.options.anyway and following.kind == "approve" and job.loop and job.loop.fresh:
        action = "prepare-round"
    elif job.options.anyway and following.kind == "author":
        return _as_it_is(job)
    elif following.who != "engine" and not _is_answered(job, action):
        return None
    if action == "commit-round" and not job.commits:
        return _before_a_commit(job)
    if action not in MECHANICAL:
        return None
    entry = MECHANICAL[action]
    if entry.asked_for and job.options.actor == "watch":
        return None
    return Due(entry.handler(), entry.rehearsal)


def _as_it_is(job: Job) -> Due | None:
    """A review of a text that was returned to draft and has not changed."""
    from qrspi.core.steps import authoring

    if not authoring.is_returned(job.facts):
        return None
    from qrspi.handlers.rounds import prepare

    return Due(prepare.as_it_is, "whole") if prepare.opened_as_it_is(job) else None


def _is_answered(job: Job, question: model.Action | model.NextKind) -> bool:
    """How a loop goes on. The first question has a default; later a person answers."""
    if question not in ("loop", "loop-again"):
        return False
    unasked = not job.options.ask if question == "loop" else job.options.present
    return job.is_answered or (unasked and not job.options.asked)


def _before_a_commit(job: Job) -> Due | None:
    from qrspi.handlers.rounds import commit

    due = commit.needs_dispositions(job.workspace, job.round_loop)
    return Due(commit.dispose, "uncommitted") if due else None


def before(job: Job, derived: Due | None) -> Due | None:
    due = _cut_off(job, derived) or _not_here(job) or _left_over(job, job.loop)
    due = due or _only_said(job) or derived
    if due and configs.backfills(job.facts.config):
        from qrspi.handlers.runs import change_config

        return Due(change_config.backfill, "whole")
    return due or _unwritten(job) or _undrafted(job) or _left_round(job)


def _only_said(job: Job) -> Due | None:
    """Tasks that a row of the record calls merged, and that the feature branch does not have."""
    if job.facts.step not in ("integrate", "test") or job.options.actor == "watch":
        return None
    from qrspi.core.errors import Refusal
    from qrspi.handlers.changes import merged_work

    try:
        said = merged_work.only_said(job)
    except Refusal:
        return None  # whatever merges or approves says it
    return Due(MECHANICAL["merge"].handler(), "named", "merge") if said else None


def _not_here(job: Job) -> Due | None:
    """In a clone a task has its branch, and no work tree."""
    if job.facts.step not in CODE_STEPS or job.next.who == "human":
        return None
    if job.next.kind == "start-tasks":
        return None  # they have no record yet
    from qrspi.handlers.tasks import start

    return Due(start.make_again, "named", "start-tasks") if start.not_here(job) else None


def _unwritten(job: Job) -> Due | None:
    """A run that waits for agents has their prompts ready."""
    if not job.next.asks or job.options.sends:
        return None
    from qrspi.handlers.agents import awaited_agents

    missing = awaited_agents.without_prompt(job)
    return Due(awaited_agents.write_prompts, "whole") if missing else None


def _undrafted(job: Job) -> Due | None:
    """What a person reads at the gate of a code step is in git, even when a kill came between."""
    if job.next.who != "human" or job.facts.step not in CODE_STEPS or job.options.actor == "watch":
        return None
    from qrspi.handlers.tasks import drafts

    return Due(drafts.commit, "uncommitted") if drafts.uncommitted(job) else None


def _left_round(job: Job) -> Due | None:
    """Whoever is asked about a round may sit before a clone."""
    if job.next.who != "human" or job.loop is None or not _asks_git(job, None):
        return None
    from qrspi.handlers.rounds import commit

    return Due(commit.put_on_record, "uncommitted") if commit.is_left(job) else None


def _cut_off(job: Job, derived: Due | None) -> Due | None:
    """An approval by the engine itself that a kill left without its record or its commit."""
    if CASCADES not in job.facts.names:
        return None
    from qrspi.handlers.decisions import cascade

    ask = _asks_git(job, derived)
    return Due(cascade.finish, "uncommitted") if cascade.unfinished(job, ask_git=ask) else None


def _asks_git(job: Job, derived: Due | None) -> bool:
    """Only where somebody waits for an answer, or something is done anyway: a daemon looks at a
    waiting run many times a minute."""
    return derived is not None or job.options.actor != "watch" or not job.workspace.at_rest


def _left_over(job: Job, loop: Loop | None) -> Due | None:
    if loop is None or loop.files is None or loop.stage not in ("reviewing", "guarded"):
        return None
    if loop.files.bypasses:
        from qrspi.handlers.rounds import visual_reviewer

        return Due(visual_reviewer.record_bypasses, "whole")
    if loop.files.splits:
        from qrspi.handlers.rounds import printed_reply

        return Due(printed_reply.finish_splits, "whole")
    if loop.subject.is_task:
        from qrspi.handlers.rounds import visual_reviewer

        return Due(visual_reviewer.record_skip, "whole") if visual_reviewer.missing(job) else None
    return None
