"""Give tasks a branch and a work tree of their own, from the base that the plan names.

The record is written last. What a killed command left without one is recognised: a complete work
tree is used, an incomplete one is repaired, and somebody else's is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from qrspi.core.code_steps import batch, task_state
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.errors import Refusal, accepted
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Refused, Report, Start
from qrspi.core.steps.facts import unmet
from qrspi.core.text.shell_words import git
from qrspi.handlers.changes import change_set, code_repository
from qrspi.handlers.changes.code_repository import Workplace
from qrspi.handlers.gates import quality, quality_approval
from qrspi.handlers.gates.quality import Reached
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import bases
from qrspi.handlers.tasks.bases import Base, TaskContext
from qrspi.world.git import refs, worktrees
from qrspi.world.machine import clock
from qrspi.world.processes import configured_command

_HOW = {"ready": "reused", "half-made": "repaired", "absent": "made"}


class Started(NamedTuple):
    key: str
    start: Start
    how: str  # made, repaired, reused or rebuilt
    notes: tuple[str, ...] = ()


def handle(job: Job) -> Performed:
    """An obstacle to one task, or an objection of the rubric, stops only that task."""
    rejected = quality_approval.rejected(job, job.next.missing)
    failed = quality.put(job, [Reached(judgement, "rubric") for judgement in rejected])
    if failed:
        raise Refusal(*failed.values())
    refused, lacking = {one.task for one in rejected}, _cannot_be_tested(job)
    tried = [_tried(job, key) for key in job.next.missing if key not in refused]
    started_now = [one for one in tried if isinstance(one, Started)]
    notes = (*lacking, *(f"{one.task}: {one.because}" for one in rejected))
    stopped = [one for one in tried if isinstance(one, Stopped)]
    files = tuple(task_records.refused_file(one.key) for one in stopped)
    told = performed(job, started_now, notes + tuple(f"{one.key}: {one.reason}" for one in stopped))
    return told._replace(files=told.files + files)


def _cannot_be_tested(job: Job) -> tuple[str, ...]:
    """Said with the first tasks that are started."""
    command, repo = job.facts.config.test_command, code_repository.repository_or_none(job)
    keys = (item.key for item in batch.read(job.facts).items)
    if not command or repo is None or any(task_records.start(job.workspace, key) for key in keys):
        return ()
    program = configured_command.missing_program(command, repo.root)
    if not program:
        return ()
    text = f"the test command cannot run here: there is no program {program}"
    return (f"{text}; `{config_problems.naming(job.run)}` names another",)


def not_here(job: Job) -> tuple[str, ...]:
    """Tasks that are worked on or reviewed now, and whose work trees are elsewhere or gone."""
    asks = (*job.next.asks, *job.next.beside)
    keys = dict.fromkeys((job.next.step, *(ask.subject for ask in asks)))
    tasks = [key for key in keys if (found := subject(key)) and found.is_task]
    repo = code_repository.repository_or_none(job) if tasks else None
    known = ((key, _recorded(job, key)) for key in tasks) if repo else ()
    return tuple(
        key
        for key, record in known
        if repo and record and not os.path.lexists(f"{repo.root}/{record.worktree}")
    )


def make_again(job: Job) -> Performed:
    before = {key: _recorded(job, key) for key in not_here(job)}
    done = [start(job, key) for key in before]
    changed = [task_records.start_file(one.key) for one in done if one.start != before[one.key]]
    return performed(job, done)._replace(files=tuple(changed))


class Stopped(NamedTuple):
    key: str
    reason: str


# Obstacles to one task. Anything else is an obstacle to all of them.
_ONE_TASK = "foreign-branch foreign-worktree merge-conflict commit-missing bad-record link".split()


def _tried(job: Job, key: str) -> Started | Stopped:
    try:
        return start(job, key)
    except Refusal as refusal:
        problem = refusal.problem
        if problem.code not in _ONE_TASK:
            raise
    record = Refused(problem.message, problem.hint, clock.now_utc())
    path = task_records.refused_file(key)
    job.workspace.write(path, task_records.render_refused(key, record))
    return Stopped(key, problem.message)


def performed(job: Job, begun: Sequence[Started], notes_before: tuple[str, ...] = ()) -> Performed:
    notes = notes_before + tuple(
        f"{one.key}: {one.how} {one.start.worktree} on {one.start.branch}" for one in begun
    )
    notes += tuple(note for started in begun for note in started.notes)
    files = tuple(task_records.start_file(one.key) for one in begun)
    if files:
        names = ", ".join(one.key for one in begun)
        change_set.commit_files(job, files, f"start {names}")
    return Performed("start-tasks", job.facts.step, 0, files, notes)


def ready(job: Job, *, anyway: bool = False) -> tuple[str, ...]:
    planned, fixes = batch.read(job.facts), batch.repairs(job.workspace)
    if planned.problems:
        raise Refusal(*planned.problems)
    states = task_state.survey(job.facts, (*planned.items, *fixes.items))
    wanted = ("ready", "held") if anyway else ("ready",)
    return tuple(task.key for task in states if task.state in wanted)


def begin(job: Job, keys: Sequence[str], *, anyway: bool) -> tuple[list[Started], Performed]:
    """Start tasks for a person. Their acceptance of a text is on record before it takes effect."""
    for key in keys:
        _given(job, key)
    doubtful = ask_quality(job, keys, anyway=anyway)
    for edit in quality.proceed(job, [key for key in ready(job, anyway=True) if key in doubtful]):
        change_set.write(job.workspace, edit)
    started_now = [start(job, key) for key in keys]
    notes = tuple(f"{key} starts without a PASS" for key in doubtful)
    return started_now, performed(job, started_now, notes)


def ask_quality(job: Job, keys: Sequence[str], *, anyway: bool) -> tuple[str, ...]:
    new = [key for key in keys if _recorded(job, key) is None]
    objections = {key: quality_approval.objection(job, key) for key in new}
    refused = [problem for problem in objections.values() if problem]
    if refused and not anyway:
        raise Refusal(*refused)
    return tuple(key for key, problem in objections.items() if problem)


def rehearse(job: Job, key: str) -> Started:
    given = _given(job, key)
    known = _recorded(job, key)
    branch = given.place.branch(key, given.item.branch)
    path = given.place.worktree(key)
    base = bases.on_feature(given) or Base("", given.item.base_words)
    new = Start(branch, base.words, base.commit, given.place.shown(key), given.place.feature)
    start = known or new
    condition = worktrees.condition(given.place.repo, path, start.branch)
    if condition == "foreign":
        raise worktrees.foreign(path, start.branch, given.place.repo)
    return Started(key, start, _HOW[condition])


def _given(job: Job, key: str) -> TaskContext:
    _refuse_too_early(job)
    planned, fixes = batch.read(job.facts), batch.repairs(job.workspace)
    items = {item.key: item for item in (*planned.items, *fixes.items)}
    problems = fixes.problems if "/" in key else planned.problems
    if problems:
        raise Refusal(*problems)
    if key not in items:
        raise unknown_task(job, key, items)
    states = {task.key: task for task in task_state.survey(job.facts, items.values())}
    return TaskContext(items[key], planned.plan, code_repository.find(job), states)


def unknown_task(job: Job, key: str, known: Iterable[str]) -> Refusal:
    listed = ", ".join(known) or "none"
    problem = Problem(
        "unknown-task",
        f"{key} is not a task of phase {job.facts.phase}; there is {listed}",
        field="TASK",
        found=key,
        expected=listed,
        hint=f"qrspi task list {job.run}",
    )
    return Refusal(problem)


def _refuse_too_early(job: Job) -> None:
    if wrong := configs.problems_for(job.facts.config, "implement"):
        raise Refusal(*(config_problems.for_run(problem, job.workspace) for problem in wrong))
    if missing := unmet(job.facts, "implement"):
        listed = ", ".join(missing)
        text = f"no task can start: approve {listed} first"
        hint = f"qrspi status {job.run}"
        raise Refusal(Problem("unmet-prerequisite", text, missing[0], expected=listed, hint=hint))


def start(job: Job, key: str) -> Started:
    given = _given(job, key)
    known = _recorded(job, key)
    started = _again(job, given, known) if known else _first_time(job, given)
    job.workspace.remove(task_records.refused_file(key))
    if not job.facts.config.has_checkpoints:
        return started
    from qrspi.handlers.gates import checkpoint_rows

    return started._replace(notes=(*started.notes, *checkpoint_rows.begin(job, key)))


def _recorded(job: Job, key: str) -> Start | None:
    return accepted(task_records.start(job.workspace, key))


def _first_time(job: Job, given: TaskContext) -> Started:
    place, key = given.place, given.item.key
    branch = place.branch(key, given.item.branch)
    path = place.worktree(key)
    _refuse_elsewhere(place, branch, path)
    condition = worktrees.condition(place.repo, path, branch)
    if condition == "foreign":
        raise worktrees.foreign(path, branch, place.repo)
    base = bases.find(job, given)
    if condition == "half-made":
        worktrees.clear(place.repo, path)
    base_commit = _branch(place, branch, base.commit, is_whole=condition == "ready")
    worktrees.exclude_folder(place.repo)
    worktrees.add_worktree(place.repo, path, branch)
    record = Start(
        branch=branch,
        base=base.words,
        base_commit=base_commit,
        worktree=place.shown(key),
        feature_branch=place.feature,
        time=clock.now_utc(),
        built_on=task_records.listed(base.built_on),
    )
    return Started(key, _written(job, key, record), _HOW[condition])


def _written(job: Job, key: str, record: Start) -> Start:
    job.workspace.write(task_records.start_file(key), task_records.render_start(key, record))
    return record


def _again(job: Job, given: TaskContext, known: Start) -> Started:
    """The record may come from another machine, and the branch may not exist here yet."""
    repo, key = given.place.repo, given.item.key
    path = given.place.worktree(key)
    _refuse_elsewhere(given.place, known.branch, path)
    condition = worktrees.condition(repo, path, known.branch)
    if condition != "ready" and known.branch not in given.place.branches(key, given.item.branch):
        raise Refusal(_other_branch(given, known))
    if worktrees.tip(repo, known.branch) is None:
        worktrees.create_branch(repo, known.branch, _last_known(job, given, known))
    worktrees.exclude_folder(repo)
    worktrees.add_worktree(repo, path, known.branch)
    started = Started(key, known, _HOW[condition])
    return _on_newer_base(job, given, started) if given.states[key].moved else started


def _on_newer_base(job: Job, given: TaskContext, started: Started) -> Started:
    """Where nobody has worked yet, the task begins again; otherwise it stays, with a note."""
    key, known = started.key, started.start
    base = bases.find(job, given)
    tree = worktrees.at(given.place.repo, given.place.worktree(key))
    assert tree is not None  # it was made a moment ago
    if refs.head(tree) in (known.base_commit, base.commit) and not worktrees.uncommitted(tree):
        worktrees.move(tree, base.commit)
        built_on = task_records.listed(base.built_on)
        new = known._replace(
            base=base.words, base_commit=base.commit, built_on=built_on, stays_without=""
        )
        return Started(key, _written(job, key, new), "rebuilt")
    stays = known._replace(stays_without=task_records.listed(base.built_on))
    note = batch.older_base(key, known, given.states[key].moved).message
    return Started(key, _written(job, key, stays), started.how, (note,))


def _other_branch(given: TaskContext, known: Start) -> Problem:
    """A record may come from a stranger. It must not name a branch that this task cannot have."""
    key = given.item.key
    file, expected = task_records.start_file(key), given.place.branches(key, given.item.branch)[0]
    text = f"{file}: branch is {known.branch}; expected {expected}"
    hint = git(given.place.repo.root, "log", "--all", "--", f"*/{file}")
    return Problem("bad-record", text, file, "branch", known.branch, expected, hint)


def _last_known(job: Job, given: TaskContext, known: Start) -> str:
    report = task_records.report(job.workspace, given.item.key)
    reported = report.commit if isinstance(report, Report) else ""
    for commit in filter(None, (reported, known.base_commit)):
        if refs.resolve(given.place.repo, commit):
            return commit
    text = (
        f"{given.item.key}: neither its branch {known.branch} nor the commit it started from "
        f"({known.base_commit[:12]}) is in {given.place.repo.root}: fetch them, then start it again"
    )
    raise Refusal(
        Problem(
            "commit-missing",
            text,
            found=known.base_commit,
            hint=git(given.place.repo.root, "fetch"),
        )
    )


def _refuse_elsewhere(place: Workplace, branch: str, path: str) -> None:
    """git would refuse too, but only after the branch was made. The way out keeps every file."""
    for one in worktrees.worktrees(place.repo):
        if one.branch == branch and one.path != path and not one.prunable:
            leave = place.feature if one.path == place.repo.root else "--detach"
            way_out = git(one.path, "switch", leave)
            text = (
                f"branch {branch} is checked out at {one.path}: expected at {path} or nowhere; "
                f"leave it there with `{way_out}`, which keeps all files"
            )
            raise Refusal(Problem("foreign-worktree", text, one.path, found=branch, hint=way_out))


def _branch(place: Workplace, branch: str, base: str, *, is_whole: bool) -> str:
    """An existing branch is ours when our work tree is on it, or when it has no commit of its
    own."""
    tip = worktrees.tip(place.repo, branch)
    if tip is None:
        worktrees.create_branch(place.repo, branch, base)
        return base
    if is_whole:
        return refs.merge_base(place.repo, tip, base) or tip
    if tip == base:
        return base
    if refs.is_ancestor(place.repo, tip, base):
        worktrees.create_branch(place.repo, branch, base, move=True)
        return base
    raise bases.foreign_branch(branch, tip)
