"""Integrate: merge what the tasks made, review the whole, run the CI command."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.code_steps import batch, feature_branch, gate_records, implement, task_state
from qrspi.core.code_steps.gate_records import Merge
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.filenames import round_name, round_number
from qrspi.core.model import Next, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals, evidence
from qrspi.core.rounds import code_changes
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import authoring, next_actions, review_action
from qrspi.core.steps.facts import Answer, Facts
from qrspi.core.tree import Tree

RECORDS = ("integration.md", "test-results.md")


class Work(NamedTuple):
    tasks: tuple[TaskState, ...]
    repairs: tuple[TaskState, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def wanted(self) -> tuple[TaskState, ...]:
        """In the order of merging. Repairs come first: one may contain the task that it repairs."""
        ended = (task for task in (*self.repairs, *self.tasks) if task.terminal)
        return tuple(task for task in ended if task.commit and task.state != "skipped-by-user")

    @property
    def unfinished(self) -> tuple[TaskState, ...]:
        """Not at their end, or no more, as with a lost report or a review that counts no more."""
        return tuple(task for task in self.tasks if not task.terminal)


def work(facts: Facts) -> Work:
    due, fixes = batch.read(facts), batch.repairs(facts.tree)
    tasks = task_state.survey(facts, due.items)
    problems = due.problems + fixes.problems
    return Work(tasks, task_state.survey(facts, fixes.items), problems, due.warnings)


def recorded(tree: Tree) -> tuple[Merge, ...]:
    return tuple(merge for path in RECORDS for merge in gate_records.merges(tree.read(path)))


def pending(tree: Tree, wanted: Iterable[TaskState]) -> tuple[TaskState, ...]:
    done = {(merge.key, merge.tip) for merge in recorded(tree) if merge.result != "conflict"}
    return tuple(task for task in wanted if (task.key, task.commit) not in done)


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    progress = work(facts)
    if progress.problems:
        return Answer(implement.blocked_by(facts, progress.problems)), ()
    if progress.unfinished:
        return Answer(not_implemented(facts, progress.unfinished)), progress.warnings
    chosen = implement.pick_action(facts, progress.repairs) or _merged(facts, progress)
    return chosen, progress.warnings + (chosen.loop.warnings if chosen.loop else ())


def not_implemented(facts: Facts, unfinished: tuple[TaskState, ...]) -> Next:
    keys = tuple(task.key for task in unfinished)
    states = ", ".join(f"{task.key} ({task.state})" for task in unfinished)
    ended = "has not come to its end" if len(keys) == 1 else "have not come to their end"
    return Next(
        action="blocked",
        who="human",
        summary=f"{facts.step} cannot go on: {states} {ended}; go "
        f"back with `qrspi rewind {facts.run} --to implement`.",
        because=("; ".join(f"{task.key} is {task.state}" for task in unfinished),),
        step=facts.step,
        missing=keys,
        command=f"qrspi rewind {facts.run} --to implement --dry-run",  # shows what that resets
        kind="prerequisite",
    )


def _merged(facts: Facts, progress: Work) -> Answer:
    if pending(facts.tree, progress.wanted) or RECORDS[0] not in facts.names:
        return Answer(merge_next(facts, progress, RECORDS[0]))
    data = facts.tree.read(RECORDS[0])
    if rejected := authoring.rejected_by(facts, data):
        return Answer(implement.sent_back(facts, rejected))
    loop = loops.evaluate(
        facts.tree, subject_of("integrate"), facts.config, facts.base, facts.records
    )
    if loop.stage == "fixing":
        return Answer(repair_next(facts, loop, progress.repairs, "integration"), loop)
    following = review_action.from_loop(facts, loop)
    if following.kind == "approve":
        following = _ci(facts) or following._replace(because=(*following.because, *ci_words(facts)))
    return Answer(following, loop)


def merge_next(facts: Facts, progress: Work, record: str) -> Next:
    keys = tuple(task.key for task in pending(facts.tree, progress.wanted))
    if keys and feature_branch.is_unnamed(facts):
        return feature_branch.ask(facts, keys)
    into = feature_branch.name(facts) or "the feature branch"
    what = f"Merge {', '.join(keys)} into {into}" if keys else f"Draft {record}"
    because = tuple(f"{key} is finished and not merged" for key in keys)
    return next_actions.by_engine(
        facts,
        "author",
        "merge",
        what,
        because or (f"{record} is missing",),
        missing=keys or (record,),
    )


def repair_name(number: int) -> str:
    return f"review-{round_name(number)}"


def repair_next(facts: Facts, loop: Loop, repairs: tuple[TaskState, ...], kind: str) -> Next:
    """Findings about code get a repair of their own. An open repair comes first."""
    name = f"/{repair_name(loop.round)}"
    there = any(
        task.key.startswith(kind) and task.key.endswith(name) and task.terminal for task in repairs
    )
    if there:
        because = (f"the repair of round {loop.round} has come to its end",)
        return review_action.commit_next(facts, loop, because, "settle-repairs")
    what = f"Make a task of the findings of round {loop.round} of {loop.subject.key}"
    return review_action.unprepared(facts, loop) or next_actions.by_engine(
        facts, "apply-fixes", "write-repairs", what, loop=loop
    )


def resets(facts: Facts, step: str) -> int:
    """How often a person sent the step back. What ran before the last time runs again."""
    return sum(
        record.event in approvals.RESETTING and record.mark(step) is not None
        for record in facts.records
    )


def _ci(facts: Facts) -> Next | None:
    gates = facts.config.gates
    if gates is None or not gates.ci_command:
        return None
    known = ci_seen(facts.tree)
    now = (str(len(recorded(facts.tree))), str(resets(facts, facts.step)))
    same = (known.get("ci_merges"), known.get("ci_resets")) == now
    moved = code_changes.since(facts.tree, facts.config, known["commit"]) if same else ""
    if same and not moved:
        return None
    what = "Run the CI command over the merged branch"
    because = (
        moved or "gates.ci_command in config.md has not run over what is merged now",
        f"the command is {gates.ci_command}",
    )
    return next_actions.by_engine(facts, "author", "ci", what, because, missing=("reviews/ci",))


CI_FOLDER = "reviews/ci"


def ci_review_file(number: int) -> str:
    return f"{CI_FOLDER}/{round_name(number)}-review.md"


def ci_seen(tree: Tree) -> dict[str, str]:
    """What the record says of CI, where the engine's own page says it too; else nothing."""
    known = gate_records.fields(tree.read(RECORDS[0]))
    log = known.get("ci_log", "").removeprefix(f"{CI_FOLDER}/").removesuffix(".log")
    page = ci_review_file(round_number(log) or 0)
    data = tree.read(page)
    if not evidence.is_own_page(tree, page, data):
        return {}
    seen = gate_records.fields(data)
    same = all(known.get(f"ci_{key}") == seen.get(key) for key in CI_COUNTS)
    return {**known, "commit": seen.get("commit", "")} if same else {}


CI_COUNTS = ("exit", "merges", "resets")


def ci_words(facts: Facts) -> tuple[str, ...]:
    known = ci_seen(facts.tree)
    if not known:
        return ()
    passed = known["ci_exit"] == "0"
    return ("the CI command passed" if passed else f"the CI command failed ({known['ci_log']})",)
