"""How a round is opened, compared and put on record, for `qrspi round` and other programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from qrspi.core.errors import Refusal
from qrspi.core.filenames import RoundPaths
from qrspi.core.findings import guard
from qrspi.core.model import Decision, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records import step_text
from qrspi.core.rounds import convergence, round_list
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.manifest import ADOPT, Manifest
from qrspi.handlers.changes import change_set, review_target
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.changes.review_target import Branch
from qrspi.handlers.jobs.carry_out import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.handlers.rounds import commit as commit_round
from qrspi.handlers.rounds import named_round, prepare
from qrspi.world.runs.workspace import Workspace


class Opened(NamedTuple):
    paths: RoundPaths
    manifest: Manifest
    done: Performed

    @property
    def diff_file(self) -> str | None:
        return self.paths.diff if self.paths.diff in self.done.files else None


class Converged(NamedTuple):
    decision: Decision
    ref: str | None
    ref_commit: str | None


class Recorded(NamedTuple):
    commit: str | None  # None outside git, and for a clean round, which needs none
    done: Performed


def open_round(
    workspace: Workspace, subject: Subject, number: int | None, options: Options
) -> Opened:
    handle = partial(prepare.handle, number=number)
    return _opened(workspace, subject, options, partial(carry_out, handle))


def adopt_round(
    workspace: Workspace, subject: Subject, number: int | None, options: Options
) -> Opened:
    def handle(job: Job) -> Performed:
        return change_set.carry_out(job, _adoption(job, number)).performed

    return _opened(workspace, subject, options, handle)


def _opened(
    workspace: Workspace, subject: Subject, options: Options, handle: Callable[[Job], Performed]
) -> Opened:
    """A person who opens a round by hand also commits its text by hand; `next` does both."""
    options = options._replace(no_commit=True)
    with workspace.locked(options.lock_timeout, "qrspi round prepare"):
        performed = handle(named_round.to_prepare(workspace, subject, options))
        paths = RoundPaths(subject.reviews, performed.round)
        manifest = manifests.read(workspace.read(paths.manifest), paths.manifest)
    assert isinstance(manifest, Manifest)
    return Opened(paths, manifest, performed)


def converge(workspace: Workspace, subject: Subject, number: int | None) -> Converged:
    """What the round after `number` would be compared with. Asking uses nothing up."""
    job = named_round.to_converge(workspace, subject, Options())
    reviewed = review_target.find(job, subject)
    closed = round_list.newest(workspace, subject) if number is None else number
    decision = prepare.decide(job, closed, reviewed)
    if reviewed is None:
        return Converged(decision, None, None)
    chosen = review_target.ref(job, reviewed, decision)
    return Converged(decision, chosen.name, chosen.commit)


def commit(
    workspace: Workspace, subject: Subject, number: int | None, options: Options, adopt: bool
) -> Recorded:
    with workspace.locked(options.lock_timeout, "qrspi round commit"):
        job = named_round.to_read(workspace, subject, number, options)
        loop = job.round_loop
        if loop.stage == "closed":
            performed = Performed("commit-round", subject.key, loop.round)
        else:
            _refuse_unfinished(loop)
            performed = carry_out(commit_round.adopt if adopt else commit_round.handle, job)
        return Recorded(convergence.anchor(workspace.head(loop.paths.anchor)), performed)


def _refuse_unfinished(loop: Loop) -> None:
    if loop.stage == "committing":
        return
    why = "; ".join(loop.because)
    problem = Problem(
        "round-open",
        f"round {loop.round:02d} of {loop.subject.key} is not ready to be committed: {why}",
        file=loop.paths.directory,
        found=loop.stage,
        expected="a round whose findings are dealt with",
    )
    raise Refusal(problem)


def _adoption(job: Job, number: int | None) -> ChangeSet:
    """All reviewers that the matrix and config.md name are expected, whatever its manifest says."""
    loop = job.round_loop
    _refuse_adoption(job, loop, number)
    manifest = loop.manifest or _manifest_of_now(job, loop)
    data = manifests.render(manifests.as_opened(manifest))
    path = loop.paths.manifest
    edit = Edit("write", path, f"expects {', '.join(manifest.expected_tags)}", data)
    decided = change_set.decision(job, ADOPT, loop.subject.key, loop.round, edit)
    edits = (edit, change_set.on_record(job, decided))
    change = ChangeSet("adopt-round", loop.subject.key, loop.round, edits)
    return change_set.on_record_in_git(job, change, "take up findings")


def _manifest_of_now(job: Job, loop: Loop) -> Manifest:
    """The person who accepts the files says that they are about the present text."""
    reviewed = review_target.find(job, loop.subject)
    return Manifest(
        step=loop.subject.key,
        round=loop.round,
        body_hash=step_text.body_hash(job.workspace, loop.subject),
        expected_tags=guard.due(job.workspace, loop.subject, job.facts.config, None),
        commit=reviewed.tip if isinstance(reviewed, Branch) else "",
    )


def _refuse_adoption(job: Job, loop: Loop, number: int | None) -> None:
    key = loop.subject.key
    if not loop.round or number not in (None, loop.round):
        newest = f"the newest is {loop.round:02d}" if loop.round else "it has no round"
        text = f"only the newest round of {key} can be taken up, and {newest}"
        raise Refusal(Problem("no-round", text, file=loop.subject.reviews))
    if loop.problem and loop.manifest is None:
        raise Refusal(loop.problem)
    if loop.manifest and loop.is_proven:
        how = "was taken up already" if loop.opening == "adopted" else "was opened by qrspi"
        text = f"round {loop.round:02d} of {key} {how}: there is nothing to take up"
        hint = f"qrspi status {job.run}"
        raise Refusal(Problem("nothing-to-adopt", text, file=loop.paths.directory, hint=hint))
