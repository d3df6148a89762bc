"""Open a review round: choose the ref, emit the diff, name who is expected."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core import reviewers as matrix
from qrspi.core.artifacts import wireframes
from qrspi.core.config import reader as configs
from qrspi.core.config.edit import backfills_of
from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import RoundPaths, is_dropping
from qrspi.core.findings import visual_excuse as visual
from qrspi.core.model import Decision, Problem
from qrspi.core.pipeline import Subject
from qrspi.core.records import step_text as bodies
from qrspi.core.rounds import convergence as converge
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.convergence import ScopeSetFile
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.manifest import Manifest, RefChoice
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree
from qrspi.handlers.changes import review_target as target
from qrspi.handlers.changes.review_target import Branch, Target
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.rounds import expected_dispatches as lineup
from qrspi.handlers.rounds import visual_reviewer as visual_chain
from qrspi.handlers.rounds.visual_reviewer import Chain
from qrspi.handlers.runs import config_backfill as backfill
from qrspi.world.git.diffs import DiffResult
from qrspi.world.runs.workspace import Change, Workspace


class Prepared(NamedTuple):
    paths: RoundPaths
    manifest: Manifest
    diff: DiffResult | None
    files: tuple[str, ...]
    notes: tuple[str, ...]


def handle(job: Job, number: int | None = None) -> Performed:
    done = prepare(job, number)
    step = done.manifest.step
    return Performed("prepare-round", step, done.paths.number, done.files, done.notes)


def prepare(job: Job, number: int | None = None) -> Prepared:
    """Refuses before it writes: a round that cannot be opened changes nothing."""
    loop = job.round_loop
    paths = _next_round(job.workspace, loop, number)
    reviewed = _reviewed(job, loop.subject)
    again = _refuse_same_text(job, loop, reviewed)
    _refuse_unbound(job, loop.subject)
    reviewed = target.tracked(reviewed)
    notes = _backfill(job, loop.subject)
    job = with_config(job)
    decision = decide(job, paths.number - 1, reviewed)
    diff = _emit(job, reviewed, paths, decision)
    chain = visual_chain.look(job, loop.subject)
    manifest = _manifest(job, paths, chain)._replace(
        choice=ref_choice(job.workspace, loop.subject, decision, diff),
        anyway=again,
        commit=reviewed.tip if isinstance(reviewed, Branch) else "",
    )
    job.workspace.create(paths.manifest, manifests.render(manifest))
    own = visual_chain.write(job, paths.directory, chain.files)
    notes += (*decision.diagnostics, *_consume_flag(job.workspace, loop, decision))
    files = (*((diff.file,) if diff else ()), paths.manifest, *own)
    return Prepared(paths, manifest, diff, files, notes)


def _next_round(workspace: Workspace, loop: Loop, wanted: int | None) -> RoundPaths:
    """The round after the last, once that is closed; no other number is opened."""
    is_open = bool(loop.number) and loop.stage not in ("closed", "abandoned")
    due = loop.number if is_open else loop.highest + 1
    paths = RoundPaths(loop.subject.reviews, wanted or due)
    still = f" (it is open: {loop.because[0]})" if is_open and loop.manifest else ""
    _must_be_empty(workspace, paths, still)
    if paths.number != due:
        raise Refusal(
            Problem(
                "round-number",
                f"round {paths.number:02d} of {loop.subject.key} is not the next one: "
                f"expected {due:02d}{still}",
                file=paths.directory,
                found=str(paths.number),
                expected=str(due),
            )
        )
    return paths


def _must_be_empty(workspace: Workspace, paths: RoundPaths, still: str) -> None:
    entries = workspace.entries(paths.directory)
    if isinstance(entries, Fault):
        if entries.kind == "absent":
            return
        raise Halt(_unsure(paths.directory, entries))
    found = [entry.name for entry in entries if not is_dropping(entry.name)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        text = (
            f"precondition-violation: {paths.directory} already holds {found[0]}{more}; expected "
            f"no files before reviewers are sent{still}"
        )
        raise Refusal(
            Problem("precondition-violation", text, paths.directory, "", found[0], "no files")
        )


def _unsure(directory: str, fault: Fault) -> Problem:
    is_other = fault.kind == "not-a-file"
    error = f"Not a directory ({fault.detail})" if is_other else fault.detail or fault.kind
    text = (
        f"IO error on round-directory check at {directory}: {error}; cannot verify emptiness "
        "precondition. Resolve the IO condition and retry, or escalate to the user."
    )
    return Problem("io-error", text, file=directory, found=error, expected="a directory or nothing")


def _reviewed(job: Job, subject: Subject) -> Target | None:
    found = target.find(job, subject)
    if found is None and subject.is_task:
        raise target.no_work_tree(job, subject)
    if isinstance(job.workspace.head(subject.artifact), Fault) and subject.key != "test":
        name = subject.artifact
        text = f"{name} does not exist or cannot be read: write it before it is reviewed"
        raise Refusal(Problem("artifact-missing", text, file=name, expected="a text to review"))
    return found


def _refuse_same_text(job: Job, loop: Loop, reviewed: Target | None) -> bool:
    """Nobody pays twice for the same answer; True when a person wants to all the same."""
    commit = reviewed.tip if isinstance(reviewed, Branch) else ""
    before = loop.manifest.commit if loop.manifest else ""
    if loop.stage != "closed" or not loop.fresh or commit != before:
        return False
    if job.options.anyway:
        return True
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


def _refuse_unbound(job: Job, subject: Subject) -> None:
    if missing := wireframes.missing(job.workspace, subject, job.facts.config):
        raise Refusal(missing[0], *missing[1:])


def _backfill(job: Job, subject: Subject) -> tuple[str, ...]:
    fields = [field for field, _ in backfills_of("prepare", subject, job.facts.config)]
    return backfill.write_back(job.workspace, fields)


def with_config(job: Job) -> Job:
    """The same job after config.md was written back."""
    config = configs.read(job.workspace.read("config.md", CONFIG_LIMIT))
    return job._replace(facts=job.facts._replace(config=config))


def decide(job: Job, closed: int, reviewed: Target | None) -> Decision:
    """What convergence says of the round after `closed`; asking changes nothing."""
    if closed < 1:
        return Decision(1, False, "CNV-03")
    tree = job.workspace
    subject = job.round_loop.subject
    now, before = (RoundPaths(subject.reviews, number) for number in (closed, closed - 1))
    parent = target.parent(reviewed)
    return converge.decide(
        closed,
        step=subject.key,
        tagger_enabled=job.facts.config.scope_tagger_enabled is not False,
        flag=not isinstance(tree.head(now.flag), Fault),
        previous=_scope_set(tree, subject, before),
        current=_scope_set(tree, subject, now),
        head_parent=parent.commit if parent else None,
        previous_anchor=converge.anchor(tree.head(before.anchor)),
        in_git=reviewed is not None,
    )


def _scope_set(tree: Tree, subject: Subject, paths: RoundPaths) -> ScopeSetFile:
    """Where two subjects share a directory of reviews, the other's rounds say nothing."""
    if loops.is_of_another(tree, subject, paths.number):
        return None
    return converge.load(tree.read(paths.scope_set))


def _emit(
    job: Job, reviewed: Target | None, paths: RoundPaths, decision: Decision
) -> DiffResult | None:
    if reviewed is None:
        return None
    if job.options.dry_run:
        chosen = target.ref(job, reviewed, decision)
        return DiffResult(chosen.name, chosen.commit, paths.diff)
    done = target.emit(job, reviewed, paths.diff, decision)
    _note(job.workspace, done.file)
    return done


def _note(workspace: Workspace, file: str) -> None:
    """git has written it, not the workspace; the trail tells of it all the same."""
    data = workspace.read(file)
    if not isinstance(data, Fault):
        workspace.changes.append(Change(file, None, visual.digest(data)))


def _manifest(job: Job, paths: RoundPaths, chain: Chain) -> Manifest:
    subject, config = job.round_loop.subject, job.facts.config
    wanted = visual.is_expected(job.workspace, subject, config)
    tags = matrix.expected_tags(subject, config, visual=wanted)
    left_out = () if chain.sent else (matrix.visual_tag(),)
    sent = tuple(tag for tag in tags if tag not in left_out)
    return Manifest(
        step=subject.key,
        round=paths.number,
        body_hash=bodies.body_hash(job.workspace, subject),
        expected_tags=tags,
        dispatches=lineup.dispatches(job, subject, paths, sent),
        engine_files=chain.hashes,
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
    closed = decision.round - 1
    try:
        workspace.remove(RoundPaths(loop.subject.reviews, closed).flag)
    except Refusal:
        return (converge.flag_persists(closed),)
    return ()
