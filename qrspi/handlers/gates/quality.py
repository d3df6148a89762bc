"""Verdicts about task texts: looked up, written into the task file, and put on record.

The record comes first, all lines in one write; then the task files. After a kill, the same command
recognises the recorded line as its own and writes the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.task_file import task_path
from qrspi.core.config import problems as config_problems
from qrspi.core.errors import Refusal, accepted
from qrspi.core.filenames import prompt_file
from qrspi.core.gates.quality import judgement as judgements
from qrspi.core.gates.quality import quality_gate, quality_records, task_spec, verdict_line
from qrspi.core.gates.quality.judgement import Judgement, Mode, NeedsReviewer
from qrspi.core.gates.quality.quality_records import Evidence, QualityRecord, QualityRecords
from qrspi.core.gates.quality.task_spec import Spec
from qrspi.core.gates.quality.verdict_line import Line
from qrspi.core.hints import cast
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import quality_blocks
from qrspi.core.records.quality_blocks import FILE
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.changes import change_set, code_repository
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.git import commits, repository, worktrees
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace


class Wanted(NamedTuple):
    spec: Spec
    warnings: tuple[str, ...] = ()
    before: Line | None = None  # the verdict that it had until now


class Reached(NamedTuple):
    judgement: Judgement
    evidence: Evidence
    reply_sha256: str = ""


class QualityCheck:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.now = clock.now_utc()

    @cached_property
    def project(self) -> Tree:
        return code_repository.project_tree(self.job)

    @cached_property
    def records(self) -> QualityRecords:
        return quality_records.read(self.job.workspace)

    def look(self, key: str, mode: Mode) -> Judgement | Wanted:
        spec = quality_gate.read_spec(self.job.workspace, key)
        if isinstance(spec, Problem):
            return judgements.unreadable(key, spec)
        return self.look_at(spec, mode)

    def look_at(self, spec: Spec, mode: Mode, *, is_draft: bool = False) -> Judgement | Wanted:
        """A draft has no record yet, so its own line about the last verdict is believed."""
        judged = judgements.before_reviewer(spec, mode, self.project, self.now)
        before = verdict_line.read(spec.line)
        if isinstance(judged, NeedsReviewer):
            return Wanted(spec, judged.warnings, before)
        if judged.source == "cache" and not (is_draft or self.records.has(spec.key, spec.line)):
            if mode == "live-cache-aware":
                return Wanted(spec, judged.warnings, before)
            return judged._replace(because=f"{judged.because}; {CLAIM}", is_claim=True)
        return judged


CLAIM = f"a claim: {FILE} does not have this line, so it counts at no gate"


def put(job: Job, given: Sequence[Reached]) -> dict[str, Problem]:
    """Write verdicts on a locked run. Gives those that could not be written, and why."""
    given = [reached for reached in given if reached.judgement.is_new]
    if not given:
        return {}
    planned = _planned(job, given)
    failed = dict(planned.failed)
    try:
        if planned.lines:
            job.workspace.append(FILE, b"".join(planned.lines))
    except Refusal as refusal:
        return {one.judgement.task: refusal.problem for one in given}
    for key, edit in planned.edits.items():
        try:
            change_set.write(job.workspace, edit)
        except Refusal as refusal:
            failed[key] = refusal.problem
    _remove_prompts(job, [key for key in planned.edits if key not in failed])
    files = tuple(change.path for change in job.workspace.changes)
    notes = tuple(f"{one.judgement.task}: {one.judgement.verdict_string}" for one in given)
    performed = Performed("quality", "plan", 0, tuple(dict.fromkeys(files)), notes)
    carry_out.record(job.workspace, job.options.actor, performed)
    return failed


def _remove_prompts(job: Job, keys: Iterable[str]) -> None:
    for key in keys:
        path = prompt_file(quality_gate.asked(key))
        if not isinstance(job.workspace.size(path), Fault):
            job.workspace.remove(path)


class _Planned(NamedTuple):
    lines: tuple[bytes, ...]  # to be appended to the record
    edits: Mapping[str, Edit]  # by task
    failed: Mapping[str, Problem] = {}


def _planned(job: Job, given: Iterable[Reached]) -> _Planned:
    records = quality_records.read(job.workspace)
    lines: list[bytes] = []
    edits: dict[str, Edit] = {}
    failed: dict[str, Problem] = {}
    for reached in given:
        final, line = on_record(records, reached)
        edit = _edit(job, final)
        if isinstance(edit, Problem):
            failed[final.task] = edit
            continue
        lines += [line] if line else []
        if edit:
            edits[final.task] = edit
    return _Planned(tuple(lines), edits, failed)


def on_record(records: QualityRecords, reached: Reached) -> tuple[Judgement, bytes]:
    """The verdict as the record has it, and the line that the record still lacks."""
    if not reached.judgement.is_new:
        return reached.judgement, b""
    if known := _cut_off(records, reached):
        return judgements.with_line(reached.judgement, known), b""
    return reached.judgement, quality_records.render(_record(reached))


def _cut_off(records: QualityRecords, reached: Reached) -> str:
    """The recorded line for this verdict, which a killed command did not write into the task."""
    last = records.last(reached.judgement.task)
    if last is None or last.line == reached.judgement.replaces:
        return ""
    same = (last.evidence, last.reply_sha256) == (reached.evidence, reached.reply_sha256)
    known, line = verdict_line.read(last.line), reached.judgement.line
    return last.line if same and known and line and known.says(line) else ""


def _record(reached: Reached) -> QualityRecord:
    judgement = reached.judgement
    return QualityRecord(
        event="verdict",
        task=judgement.task,
        when=clock.now_utc(),
        hash=judgement.hash,
        line=judgement.verdict_string,
        evidence=reached.evidence,
        reply_sha256=reached.reply_sha256,
        block_sha256=quality_blocks.digest(judgement.block) if judgement.block else "",
    )


def _edit(job: Job, judgement: Judgement) -> Edit | Problem | None:
    """None when the file already says it. A text that has changed is not touched."""
    path = task_path(judgement.task)
    data = job.workspace.read(path, quality_gate.SPEC_LIMIT)
    spec = task_spec.read(data, judgement.task)
    if isinstance(spec, Problem) or isinstance(data, Fault):
        gone = Problem("not-written", f"{path} is gone: its verdict is not written", path)
        return spec if isinstance(spec, Problem) else gone
    if spec.hash != judgement.hash:
        text = f"{path} was edited while it was reviewed: the verdict is not written"
        return Problem("not-written", text, path, hint="run the same command again")
    changed = judgements.written(data, judgement, path)
    if isinstance(changed, Problem) or changed == data:
        return changed if isinstance(changed, Problem) else None
    return Edit("replace", path, judgement.verdict_string, changed, data)


def commit(job: Job, keys: Iterable[str]) -> str | None:
    listed = tuple(keys)
    return change_set.carry_out(job, _commit(job, listed)).commit if listed else None


def uncommitted(job: Job, judged: Iterable[Judgement]) -> tuple[str, ...]:
    """Tasks whose verdict is on record here but not in HEAD: a command was killed in between."""
    repo = repository.find(job.workspace.path)
    if repo is None:
        return ()
    changed = frozenset(worktrees.dirty(repo))
    written = {one.task: one.verdict_string for one in judged if one.source != "none"}
    return tuple(
        task
        for task, verdict in written.items()
        if repo.from_root(task_path(task)) in changed
        and verdict.encode() not in (commits.content(repo, "HEAD", task_path(task)) or b"")
    )


def _commit(job: Job, keys: tuple[str, ...]) -> ChangeSet:
    few = ", ".join(keys) if len(keys) < 6 else f"{len(keys)} tasks"
    message = change_set.message("quality of", few, job.run)
    covers = (*map(task_path, keys), FILE)
    return ChangeSet("quality", "plan", 0, (), message=message, covers=covers)


def clear(job: Job, key: str, who: str = "") -> ChangeSet:
    path = task_path(key)
    data = job.workspace.read(path)
    if isinstance(data, Fault):
        text = f"{path} cannot be read: {data.reason}"
        raise Refusal(Problem("task-unreadable", text, path, hint=f"qrspi task list {job.run}"))
    changed = accepted(judgements.cleared(data, path))
    if changed == data:
        text = f"{path} has no quality_verdict: there is nothing to clear"
        hint = f"qrspi quality check {job.run} {key}"
        raise Refusal(Problem("nothing-to-clear", text, path, "quality_verdict", hint=hint))
    known = quality_records.read(job.workspace).of(key)[-1:]
    cut_off = bool(known) and known[0].event == "clear"
    lines = () if cut_off else (_decision(job, "clear", (key,), who),)
    edit = Edit("replace", path, "without a verdict", changed, data)
    move = ChangeSet("quality-clear", "plan", 0, (*lines, edit))
    if job.facts.statuses.get("plan") != "approved":
        return change_set.on_record_in_git(job, move, "clear a verdict")._replace(covers=(FILE,))
    return move._replace(message=_commit(job, (key,)).message, covers=(path, FILE))


def proceed(job: Job, keys: Iterable[str], who: str = "") -> tuple[Edit, ...]:
    listed = tuple(keys)
    return (_decision(job, "proceed", listed, who),) if listed else ()


def _decision(job: Job, event: quality_records.Event, keys: tuple[str, ...], who: str) -> Edit:
    person, when = change_set.decider(job, who), clock.now_utc()
    records = (QualityRecord(event, key, when, _hash(job, key), who=person) for key in keys)
    data = b"".join(map(quality_records.render, records))
    return Edit("append", FILE, f"{event} {', '.join(keys)} by {person}", data)


def _hash(job: Job, key: str) -> str:
    spec = quality_gate.read_spec(job.workspace, key)
    return "" if isinstance(spec, Problem) else spec.hash


class Looked(NamedTuple):
    judgements: Mapping[str, Judgement]
    wanted: tuple[Wanted, ...]  # those that a reviewer must judge


def mode(job: Job, asked: str | None) -> Mode:
    _refuse_bad_gates(job)
    gates = job.facts.config.gates
    configured = gates.quality if gates else "off"
    return cast(Mode, asked or (configured if configured != "off" else "live-cache-aware"))


def _refuse_bad_gates(job: Job) -> None:
    bad = [one for one in job.facts.config.problems if one.field.partition(".")[0] == "gates"]
    if bad:
        raise Refusal(*(config_problems.for_run(problem, job.workspace) for problem in bad))


def chosen_tasks(job: Job, keys: Sequence[str] = ()) -> tuple[str, ...]:
    there = task_file.read_keys(job.workspace)
    known = [key for key in there if not quality_gate.is_exempt(key)]
    if not known and not keys:
        text = f"there is no task in tasks/ of {job.run}: expected tasks/task-NN.md"
        raise Refusal(Problem("unknown-task", text, "tasks", hint=f"qrspi status {job.run}"))
    for key in keys:
        if key not in there:
            listed = ", ".join(known[:20]) or "none"
            text = f"there is no {task_file.task_path(key)}; tasks: {listed}"
            hint = f"qrspi {'quality batch' if known else 'status'} {job.run}"
            problem = Problem(
                "unknown-task", text, field="TASK", found=key, expected=listed, hint=hint
            )
            raise Refusal(problem)
    return tuple(keys or known)


def look(job: Job, keys: Iterable[str], how: Mode) -> Looked:
    check = QualityCheck(job)
    looked = {key: check.look(key, how) for key in keys}
    return Looked(
        {key: one for key, one in looked.items() if isinstance(one, Judgement)},
        tuple(one for one in looked.values() if isinstance(one, Wanted)),
    )


def keep(workspace: Workspace, options: Options, reached: Sequence[Reached]) -> dict[str, Problem]:
    if not any(one.judgement.is_new for one in reached):
        return {}
    with workspace.locked(options.lock_timeout, "qrspi quality"):
        return put(change_set.look(workspace, options), reached)


def commit_verdicts(
    workspace: Workspace, options: Options, judged: Iterable[Judgement]
) -> str | None:
    """Before the plan is approved, verdicts go with that commit."""
    job = change_set.look(workspace, options)
    if job.facts.statuses.get("plan") != "approved" or not change_set.in_git(job):
        return None
    decided = [judgement for judgement in judged if judgement.line]
    new = [one.task for one in decided if one.is_new]
    left = uncommitted(job, [one for one in decided if not one.is_new])
    if not (new or left):
        return None
    with workspace.locked(options.lock_timeout, "qrspi quality"):
        return commit(change_set.look(workspace, options), (*new, *left))
