"""What is made of the files of a round: checked, assembled, scoped; for `qrspi round`."""

from __future__ import annotations

from qrspi.core import reviewers
from qrspi.core.config import reader as configs
from qrspi.core.errors import Refusal
from qrspi.core.filenames import RoundPaths
from qrspi.core.findings import triage, visual_excuse
from qrspi.core.findings.triage import Tally
from qrspi.core.model import Problem, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.rounds.loop import SKIPPABLE, Loop, keeps_scope_set
from qrspi.core.tree import Fault
from qrspi.handlers.jobs.carry_out import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.handlers.rounds import assemble as assembling
from qrspi.handlers.rounds import named_round
from qrspi.world.runs.workspace import Workspace


class Checked(NamedTuple):
    number: int
    expected_tags: tuple[str, ...]
    violations: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


class Assembled(NamedTuple):
    paths: RoundPaths
    tally: Tally
    triaged: tuple[Triaged, ...]
    file: str | None  # None: a closed round that has none
    done: Performed


class Scoped(NamedTuple):
    number: int
    tags: tuple[str, ...]
    warnings: tuple[str, ...]
    file: str | None  # None: the run or the step keeps no scope sets
    done: Performed


def check(workspace: Workspace, subject: Subject, number: int | None) -> Checked:
    job = named_round.to_read(workspace, subject, number, Options())
    loop = job.round_loop
    blocking, accepted = _violations(job)
    read = loop.files
    wanted = visual_excuse.is_expected(workspace, subject, job.facts.config)
    expected = reviewers.expected_tags(subject, job.facts.config, visual=wanted)
    tags = read.expected_tags if read else expected
    return Checked(loop.round, tags, blocking, (*loop.warnings, *accepted))


def _violations(job: Job) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    loop = job.round_loop
    if loop.files is None:
        return ((loop.problem,) if loop.problem else ()), ()
    blocking = loop.files.blocking
    accepted = tuple(problem for problem in blocking if loop.skipped and problem.code in SKIPPABLE)
    return tuple(one for one in blocking if one not in accepted), accepted


def assemble(
    workspace: Workspace, subject: Subject, number: int | None, options: Options
) -> Assembled:
    with workspace.locked(options.lock_timeout, "qrspi round assemble"):
        job = _settled(workspace, subject, number, options)
        performed = carry_out(_assemble, job)
        loop = job.round_loop
        there = not isinstance(workspace.head(loop.paths.verified), Fault)
    assert loop.files is not None
    tally = triage.tally(loop.files, loop.triaged)
    file = loop.paths.verified if there else None
    return Assembled(loop.paths, tally, loop.triaged, file, performed)


def _settled(workspace: Workspace, subject: Subject, number: int | None, options: Options) -> Job:
    job = named_round.to_read(workspace, subject, number, options)
    if job.round_loop.files is None or not job.round_loop.files.splits:
        return job
    from qrspi.handlers.rounds import printed_reply

    carry_out(printed_reply.finish_splits, job)
    return named_round.to_read(workspace, subject, number, options)


def _assemble(job: Job) -> Performed:
    loop = job.round_loop
    notes = list(_backfilled(job, "assemble"))
    if loop.files and loop.files.bypasses:
        from qrspi.handlers.rounds import visual_reviewer

        visual_reviewer.write_bypasses(job.workspace, loop)
    _refuse_violations(job)
    files: list[str] = []
    if loop.stage == "closed" and not loop.clean:
        notes.append(_is_closed(loop, "verified file"))
    else:
        notes += assembling.normalise(job.workspace, loop)
        files = [*assembling.write_verified(job), *assembling.write_pause(job)]
    return Performed("assemble", loop.subject.key, loop.round, tuple(files), tuple(notes))


def _backfilled(job: Job, handler: str) -> tuple[str, ...]:
    if not configs.backfills(job.facts.config):
        return ()
    from qrspi.core.config.edit import backfills_of
    from qrspi.handlers.runs import change_config

    missing = backfills_of(handler, job.round_loop.subject, job.facts.config)
    return change_config.write_back(job.workspace, [field for field, _ in missing])


def _refuse_violations(job: Job) -> None:
    loop = job.round_loop
    blocking, _ = _violations(job)
    if loop.files and loop.problem:
        raise Refusal(loop.problem)
    if blocking:
        count = f"{len(blocking)} violation{'s' if len(blocking) > 1 else ''}"
        text = f"{loop.paths.directory}: {count}, so nothing is assembled"
        hint = f"qrspi round check {job.run} {loop.subject.key} --round {loop.round}"
        raise Refusal(Problem("violations", text, loop.paths.directory, hint=hint), *blocking)


def _is_closed(loop: Loop, what: str) -> str:
    name = f"round {loop.round:02d} of {loop.subject.key}"
    return f"{name} is closed: its {what} is left as it is"


def scope(workspace: Workspace, subject: Subject, number: int | None, options: Options) -> Scoped:
    with workspace.locked(options.lock_timeout, "qrspi round scope"):
        job = _settled(workspace, subject, number, options)
        performed = carry_out(_scope, job)
        loop = job.round_loop
        keeps = keeps_scope_set(loop.subject, job.facts.config)
        scopes = assembling.read_scope_set(workspace, loop) if keeps else None
    if scopes is None:
        return Scoped(loop.round, (), (), None, performed)
    return Scoped(loop.round, scopes.tags, scopes.warnings, loop.paths.scope_set, performed)


def _scope(job: Job) -> Performed:
    loop = job.round_loop
    notes = list(_backfilled(job, "scope"))
    files: list[str] = []
    if keeps_scope_set(loop.subject, job.facts.config):
        _refuse_violations(job)
        if loop.stage == "closed" and not loop.clean:
            notes.append(_is_closed(loop, "scope set"))
        else:
            files = assembling.write_scope_set(job, notes)
    return Performed("scope", loop.subject.key, loop.round, tuple(files), tuple(notes))
