"""Open a review round: choose the ref, emit the diff, name who is expected."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core import bodies, converge, matrix
from qrspi.core import manifest as manifests
from qrspi.core.config_edit import backfills_of
from qrspi.core.filenames import RoundPaths, is_dropping
from qrspi.core.loop import Loop
from qrspi.core.manifest import Manifest, RefChoice
from qrspi.core.model import Decision, Problem
from qrspi.core.pipeline import Subject
from qrspi.core.refusal import Halt, Refusal
from qrspi.core.tree import Fault, Tree
from qrspi.handlers import backfill, lineup
from qrspi.handlers.job import Job, Performed
from qrspi.world import diffs, refs, repository
from qrspi.world.diffs import DiffResult
from qrspi.world.refs import Ref
from qrspi.world.repository import Repo
from qrspi.world.workspace import Workspace


class Prepared(NamedTuple):
    paths: RoundPaths
    decision: Decision
    diff: DiffResult | None
    expected_tags: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return (*((self.diff.file,) if self.diff else ()), self.paths.manifest)


def handle(job: Job) -> Performed:
    done = prepare(job)
    subject = job.round_loop.subject
    return Performed("prepare-round", subject.key, done.paths.number, done.files, done.notes)


def prepare(job: Job, number: int | None = None) -> Prepared:
    loop = job.round_loop
    paths = RoundPaths(loop.subject.reviews, number or loop.highest + 1)
    _refuse_same_text(job, loop)
    _must_be_empty(job.workspace, paths)
    notes = _backfill(job, loop.subject)
    repo = repository.find(job.workspace.path)
    decision = decide(job.workspace, job, paths.number - 1, repo)
    diff = _emit(job, loop.subject, paths, decision, repo)
    manifest = _manifest(job, loop.subject, paths, decision, diff)
    job.workspace.create(paths.manifest, manifests.render(manifest))
    notes += (*decision.diagnostics, *_consume_flag(job.workspace, loop, decision))
    return Prepared(paths, decision, diff, manifest.expected_tags, notes)


def _refuse_same_text(job: Job, loop: Loop) -> None:
    """Nobody pays twice for the same answer."""
    if loop.stage != "closed" or not loop.fresh or job.options.anyway:
        return
    artifact = loop.subject.artifact
    raise Refusal(
        Problem(
            "same-text",
            f"{artifact} is the very text that round {loop.number:02d} reviewed: change it first, "
            f"or review it again with `qrspi round prepare {job.run} {loop.subject.key} --anyway`",
            file=artifact,
            hint=f"qrspi approve {job.run} {loop.subject.key}",
        )
    )


def _must_be_empty(workspace: Workspace, paths: RoundPaths) -> None:
    entries = workspace.entries(paths.directory)
    if isinstance(entries, Fault):
        if entries.kind == "absent":
            return
        text = (
            f"IO error on round-directory check at {paths.directory}: "
            f"{entries.detail or entries.kind}; cannot verify emptiness precondition. Resolve the "
            "IO condition and retry, or escalate to the user."
        )
        raise Halt(Problem("io-error", text, file=paths.directory))
    found = [entry.name for entry in entries if not is_dropping(entry.name)]
    if found:
        text = (
            f"precondition-violation: {paths.directory} already holds {found[0]}"
            f"{f' and {len(found) - 1} more' if len(found) > 1 else ''}; expected no files before "
            "reviewers are sent"
        )
        raise Refusal(Problem("precondition-violation", text, file=paths.directory))


def _backfill(job: Job, subject: Subject) -> tuple[str, ...]:
    fields = [field for field, _ in backfills_of("prepare", subject, job.facts.config)]
    return backfill.write_back(job.workspace, fields)


def decide(tree: Tree, job: Job, closed: int, repo: Repo | None) -> Decision:
    """What convergence says of the round after `closed`; asking changes nothing."""
    if closed < 1:
        return Decision(1, False, "CNV-03")
    subject = job.round_loop.subject
    now, before = (RoundPaths(subject.reviews, number) for number in (closed, closed - 1))
    parent = refs.parent_of_head(repo) if repo else None
    return converge.decide(
        closed,
        step=subject.key,
        tagger_enabled=job.facts.config.scope_tagger_enabled is not False,
        flag=not isinstance(tree.head(now.flag), Fault),
        previous=converge.load(tree.read(before.scope_set)),
        current=converge.load(tree.read(now.scope_set)),
        head_parent=parent.commit if parent else None,
        previous_anchor=converge.anchor(tree.head(before.anchor)),
        in_git=repo is not None,
    )


def choose_ref(job: Job, decision: Decision, repo: Repo) -> Ref:
    parent = refs.parent_of_head(repo) if decision.narrow else None
    return parent or refs.base(repo, job.facts.config.base_branch)


def _emit(
    job: Job, subject: Subject, paths: RoundPaths, decision: Decision, repo: Repo | None
) -> DiffResult | None:
    if repo is None or subject.key == "test":
        return None
    ref = choose_ref(job, decision, repo)
    files = bodies.paths(job.workspace, subject.step)
    return diffs.emit(repo, job.workspace.path, paths.diff, ref, files)


def _manifest(
    job: Job, subject: Subject, paths: RoundPaths, decision: Decision, diff: DiffResult | None
) -> Manifest:
    tags = matrix.expected_tags(subject, job.facts.config)
    return Manifest(
        step=subject.key,
        round=paths.number,
        body_hash=bodies.body_hash(job.workspace, subject),
        expected_tags=tags,
        choice=ref_choice(job.workspace, subject, decision, diff),
        dispatches=lineup.dispatches(job, subject, paths, tags),
        anyway=job.options.anyway,
    )


def ref_choice(
    tree: Tree, subject: Subject, decision: Decision, diff: DiffResult | None
) -> RefChoice:
    closed = decision.round - 1
    sets = [
        tree.read(RoundPaths(subject.reviews, number).scope_set) for number in (closed, closed - 1)
    ]
    now, before = (() if isinstance(data, Fault) else converge.tags(data) for data in sets)
    return RefChoice(
        ref=diff.ref if diff else "",
        ref_commit=(diff.ref_commit or "") if diff else "",
        rule=decision.rule,
        narrow=decision.narrow,
        scope_hint=decision.scope_hint,
        diagnostics=decision.diagnostics,
        current_set=now,
        previous_set=before,
    )


def _consume_flag(workspace: Workspace, loop: Loop, decision: Decision) -> tuple[str, ...]:
    """Preparing consumes the flag; one that cannot be deleted only makes a later round broad."""
    if not decision.consumes_flag:
        return ()
    try:
        workspace.remove(RoundPaths(loop.subject.reviews, decision.round - 1).flag)
    except Halt:
        return (
            f"Round {decision.round - 1:02d}: backward-loop flag delete failed — flag persists; "
            "manual remove may be required",
        )
    return ()
