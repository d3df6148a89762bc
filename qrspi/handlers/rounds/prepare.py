"""Open a review round: choose the ref, emit the diff, name who is expected."""

from __future__ import annotations

import os

from qrspi.core import reviewers
from qrspi.core.agents import model_choice, roles, transports
from qrspi.core.agents.model_choice import Route
from qrspi.core.artifacts import wireframes
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config.edit import backfills_of
from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import RoundPaths, is_dropping, prompt_file
from qrspi.core.findings import visual_excuse
from qrspi.core.model import Ask, Decision, Problem, Unseen
from qrspi.core.pipeline import Subject, subject_of
from qrspi.core.records import import_record, step_text
from qrspi.core.rounds import convergence, round_list, scope_set
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.convergence import ScopeSetFile
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.manifest import Dispatch, Manifest, RefChoice
from qrspi.core.steps import after_round, isolation, review_action
from qrspi.core.text import plain_diff
from qrspi.core.text.shortened import few
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree, content
from qrspi.handlers.changes import as_committed, change_set, review_target
from qrspi.handlers.changes.review_target import Branch, Files, Target
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.rounds import visual_reviewer
from qrspi.handlers.rounds.visual_reviewer import Chain
from qrspi.handlers.runs import change_config
from qrspi.world.git import commits, tracked_files
from qrspi.world.git.diffs import DiffResult
from qrspi.world.machine import hosts
from qrspi.world.runs import role_files
from qrspi.world.runs.workspace import Change, Workspace


def handle(job: Job, number: int | None = None) -> Performed:
    """Refuses before it writes: a round that cannot be opened changes nothing."""
    loop = job.round_loop
    paths = _next_round(job.workspace, loop, number)
    reviewed = _reviewed(job, loop.subject)
    again = _refuse_same_text(job, loop, reviewed)
    _refuse_unbound(job, loop.subject)
    _refuse_bad_settings(job, loop.subject)
    reviewed, notes = _tracked(job, loop, reviewed)
    notes += _backfill(job, loop.subject)
    job = with_config(job)
    decision = decide(job, paths.number - 1, reviewed)
    diff = _emit(job, reviewed, paths, decision)
    since = _emit_since(job, reviewed, paths)
    chain = visual_reviewer.look(job, loop.subject) if loop.subject.is_task else Chain()
    manifest = _manifest(job, paths, chain)._replace(
        choice=ref_choice(job.workspace, loop.subject, decision, diff),
        anyway=again,
        unseen=_unseen(job, loop.subject, diff),
        commit=reviewed.tip if isinstance(reviewed, Branch) else "",
    )
    own = {f"{paths.directory}/{name}": data for name, data in chain.files.items()}
    # The manifest first: it must know the others before they are there.
    for path, data in {paths.manifest: manifests.render(manifest), **own}.items():
        _put(job, path, data)
    notes += (*decision.diagnostics, *_consume_flag(job.workspace, loop, decision))
    notes += (manifest.chosen,) if manifest.chosen else ()
    files = (*(one.file for one in (diff, since) if one), paths.manifest, *own)
    opened = manifests.digest(manifest)
    return Performed(
        "prepare-round", loop.subject.key, paths.number, files=files, notes=notes, opened=opened
    )


def _unseen(job: Job, subject: Subject, diff: DiffResult | None) -> tuple[Unseen, ...]:
    """The tasks of a batch may be more than a prompt has room for, though each is not."""
    if subject.key != "implement-gate":
        return diff.unseen if diff else ()
    from qrspi.handlers.changes import shown_code

    return plain_diff.named(shown_code.of_tasks(job).left_out)


def opened_as_it_is(job: Job) -> Job | None:
    """The job of opening a round of a text that an author is asked to change."""
    facts = job.facts
    subject = subject_of(facts.step)
    loop = loops.evaluate(facts.tree, subject, facts.config, facts.base, facts.records)
    following = review_action.prepare_next(facts, loop, loop.because)
    if following.action != "prepare-round":
        return None
    return job._replace(loop=loop, next=following)


def as_it_is(job: Job) -> Performed:
    opened = opened_as_it_is(job)
    assert opened is not None  # this was asked before
    return handle(opened)


def _put(job: Job, path: str, data: bytes) -> None:
    """A killed command may have written exactly these bytes; the trail names them anyway."""
    if not job.round_loop.is_renewable:
        job.workspace.create(path, data)
    elif not job.workspace.write(path, data):
        _note(job.workspace, path)


def _next_round(workspace: Workspace, loop: Loop, wanted: int | None) -> RoundPaths:
    """The last one again while nobody has answered and the text has changed."""
    is_open = bool(loop.round) and loop.stage not in ("closed", "abandoned")
    due = loop.round if is_open else loop.highest + 1
    paths = RoundPaths(loop.subject.reviews, wanted or due)
    still = f" (it is open: {loop.because[0]})" if is_open and loop.manifest else ""
    if not (loop.is_renewable and paths.number == due):
        _must_be_empty(workspace, paths, still)
    if paths.number != due:
        problem = Problem(
            "round-number",
            f"round {paths.number:02d} of {loop.subject.key} is not the next one: "
            f"expected {due:02d}{still}",
            file=paths.directory,
            found=str(paths.number),
            expected=str(due),
        )
        raise Refusal(problem)
    return paths


def _must_be_empty(workspace: Workspace, paths: RoundPaths, still: str) -> None:
    entries = workspace.entries(paths.directory)
    if isinstance(entries, Fault):
        if entries.kind == "absent":
            return
        raise Halt(_unsure(paths.directory, entries))
    names = [entry.name for entry in entries if not is_dropping(entry.name)]
    if names:
        text = (
            f"precondition-violation: {paths.directory} already holds {few(names)}; expected "
            f"no files before reviewers are sent{still}"
        )
        problem = Problem(
            "precondition-violation",
            text,
            file=paths.directory,
            found=names[0],
            expected="no files",
        )
        raise Refusal(problem)


def _unsure(directory: str, fault: Fault) -> Problem:
    is_other = fault.kind == "not-a-file"
    error = f"Not a directory ({fault.detail})" if is_other else fault.reason
    text = (
        f"IO error on round-directory check at {directory}: {error}; cannot verify emptiness "
        "precondition. Resolve the IO condition and retry, or escalate to the user."
    )
    return Problem("io-error", text, file=directory, found=error, expected="a directory or nothing")


def _reviewed(job: Job, subject: Subject) -> Target | None:
    target = review_target.find(job, subject)
    if target is None and subject.is_task:
        raise review_target.no_work_tree(job, subject)
    if subject.key in ("integrate", "test") and target:
        as_committed.refuse_other_whole(job)
    if isinstance(job.workspace.head(subject.artifact), Fault) and subject.key != "test":
        name = subject.artifact
        text = f"{name} does not exist or cannot be read: write it before it is reviewed"
        raise Refusal(Problem("artifact-missing", text, file=name, expected="a text to review"))
    return target


def _refuse_same_text(job: Job, loop: Loop, reviewed: Target | None) -> bool:
    """Nobody pays twice for the same answer, unless a person asks for it; then True."""
    commit = reviewed.tip if isinstance(reviewed, Branch) else ""
    before = loop.manifest.commit if loop.manifest else ""
    if loop.stage != "closed" or not loop.fresh or commit != before:
        return False
    wanted = after_round.read_choice(job.workspace, loop.subject).again_after == loop.round
    if job.options.anyway or wanted:
        return True
    artifact = loop.subject.artifact
    again = f"qrspi round prepare {job.run} {loop.subject.key} --anyway"
    text = (
        f"{artifact} is the very text that round {loop.round:02d} reviewed: change it first, "
        f"or review it again with `{again}`"
    )
    raise Refusal(Problem("same-text", text, file=artifact, hint=again))


def _refuse_unbound(job: Job, subject: Subject) -> None:
    if missing := wireframes.missing(job.workspace, subject, job.facts.config):
        raise Refusal(missing[0], *missing[1:])
    if breaches := isolation.breaches(job.workspace, subject):
        raise Refusal(*breaches)


def _refuse_bad_settings(job: Job, subject: Subject) -> None:
    """A base that is not a branch, or a reviewer for whom config.md allows no model."""
    config = job.facts.config
    bad = [problem for problem in config.problems if problem.field == "base_branch"]
    first = [
        tag for tag in reviewers.expected_tags(subject, config) if not reviewers.is_second(tag)
    ]
    for name in dict.fromkeys(map(roles.for_tag, first)):
        role = role_files.load(name, job.workspace.path, job.project)
        model = None if isinstance(role, Problem) else model_choice.resolve(role, config)
        if isinstance(model, Problem) and model.found == "none":
            bad.append(model)
    if bad:
        raise Refusal(*(config_problems.for_run(one, job.workspace) for one in bad))


def _tracked(
    job: Job, loop: Loop, reviewed: Target | None
) -> tuple[Target | None, tuple[str, ...]]:
    """A person who commits by hand is told what git lacks; otherwise it is committed here."""
    if isinstance(reviewed, Branch):
        return reviewed, (reviewed.doubt,) if reviewed.doubt else ()
    if not isinstance(reviewed, Files) or not job.commits:
        return review_target.tracked(reviewed), ()
    if job.options.dry_run:
        return reviewed, ()
    notes = _put_on_record(job, loop, reviewed)
    return review_target.tracked(reviewed), notes


def _put_on_record(job: Job, loop: Loop, text: Files) -> tuple[str, ...]:
    """A later round is compared with the commit before the last, so its text stays."""
    is_first = not loop.highest or (loop.round == 1 and loop.is_renewable)
    if not is_first and not tracked_files.untracked(text.repo, text.paths):
        return ()
    if commits.is_on_record(text.repo, (*text.paths, "config.md")):
        return ()
    step = loop.subject.key
    commit = change_set.commit_files(job, text.paths, f"draft {step}")
    return (f"the draft of {step} is committed as {commit[:12]}",) if commit else ()


def _backfill(job: Job, subject: Subject) -> tuple[str, ...]:
    fields = [field for field, _ in backfills_of("prepare", subject, job.facts.config)]
    return change_config.write_back(job.workspace, fields)


def with_config(job: Job) -> Job:
    config = configs.read(job.workspace.read("config.md", CONFIG_LIMIT))
    return job._replace(facts=job.facts._replace(config=config))


def decide(job: Job, closed: int, reviewed: Target | None) -> Decision:
    """Asking changes nothing. Rounds that were made elsewhere are compared with nothing."""
    tree = job.workspace
    subject = job.round_loop.subject
    if closed <= import_record.last(tree, subject.reviews):
        return Decision(closed + 1, False, "CNV-03")
    last, before = (RoundPaths(subject.reviews, number) for number in (closed, closed - 1))
    parent = review_target.parent(reviewed)
    return convergence.decide(
        closed,
        step=subject.key,
        tagger_enabled=job.facts.config.tags_scope,
        flag=not isinstance(tree.head(last.flag), Fault),
        previous=_scope_set(tree, subject, before),
        current=_scope_set(tree, subject, last),
        head_parent=parent.commit if parent else None,
        previous_anchor=convergence.anchor(tree.head(before.anchor)),
        in_git=reviewed is not None,
    )


def _scope_set(tree: Tree, subject: Subject, paths: RoundPaths) -> ScopeSetFile:
    """Where two subjects share a directory of reviews, the other's rounds do not count."""
    if round_list.is_of_another(tree, subject, paths.number):
        return None
    return scope_set.load(tree.read(paths.scope_set))


def _emit(
    job: Job, reviewed: Target | None, paths: RoundPaths, decision: Decision
) -> DiffResult | None:
    if reviewed is None:
        return None
    if job.options.dry_run:
        chosen = review_target.ref(job, reviewed, decision)
        return DiffResult(chosen.name, chosen.commit, paths.diff)
    result = review_target.emit(job, reviewed, paths.diff, decision)
    _note(job.workspace, result.file)
    return result


def _emit_since(job: Job, reviewed: Target | None, paths: RoundPaths) -> DiffResult | None:
    before = round_list.manifest_before(job.workspace, job.round_loop.subject, paths.number)
    if reviewed is None or before is None:
        return None
    known = review_target.last_reviewed(reviewed, before)
    if known is None:
        return None
    if job.options.dry_run:
        return DiffResult(known.ref.name, known.ref.commit, paths.since)
    result = review_target.emit_since(job, reviewed, paths.since, known)
    _note(job.workspace, result.file)
    return result


def _note(workspace: Workspace, file: str) -> None:
    """Put on the trail a file that git wrote, not the workspace."""
    data = workspace.read(file)
    if not isinstance(data, Fault):
        workspace.changes.append(Change(file, None, visual_excuse.digest(data)))


def _manifest(job: Job, paths: RoundPaths, chain: Chain) -> Manifest:
    subject, config = job.round_loop.subject, job.facts.config
    wanted = visual_excuse.is_expected(job.workspace, subject, config)
    tags = reviewers.expected_tags(subject, config, visual=wanted)
    base = convergence.base_of(subject, job.facts.records)
    chosen = convergence.choose_reviewers(job.workspace, subject, config, tags, paths.number, base)
    left_out = () if chain.sent else (reviewers.visual_tag(),)
    sent = tuple(tag for tag in chosen.tags if tag not in left_out)
    return Manifest(
        step=subject.key,
        round=paths.number,
        body_hash=step_text.body_hash(job.workspace, subject),
        expected_tags=chosen.tags,
        chosen=chosen.because,
        dispatches=tuple(_dispatch(job, paths, tag) for tag in sent),
        engine_files=chain.hashes,
    )


def _dispatch(job: Job, paths: RoundPaths, tag: str) -> Dispatch:
    config, name = job.facts.config, roles.for_tag(tag)
    role = role_files.load(name, job.workspace.path, job.project)
    second = reviewers.is_second(tag)
    model = None if isinstance(role, Problem) else model_choice.resolve(role, config, second=second)
    chosen = model.model if isinstance(model, Route) else None
    ours = chosen is not None and transports.means(chosen.vendor, config).prints
    return Dispatch(
        tag=tag,
        agent=name,
        mode="background" if ours else "first_party",
        host=hosts.detect(os.environ),
        vendor=chosen.vendor if chosen else "",
        model=chosen.model if chosen else "",
        prompt_file=prompt_file(Ask("review", job.round_loop.subject.key, paths.number, tag)),
    )


def ref_choice(
    tree: Tree, subject: Subject, decision: Decision, diff: DiffResult | None
) -> RefChoice:
    closed = decision.round - 1
    current, previous = (
        scope_set.tag_lines(content(tree, RoundPaths(subject.reviews, number).scope_set))
        for number in (closed, closed - 1)
    )
    return RefChoice(
        ref=diff.ref if diff else "",
        ref_commit=(diff.ref_commit or "") if diff else "",
        rule=decision.rule,
        narrow=decision.narrow,
        scope_hint=decision.scope_hint,
        diagnostics=decision.diagnostics,
        current_set=current,
        previous_set=previous,
    )


def _consume_flag(workspace: Workspace, loop: Loop, decision: Decision) -> tuple[str, ...]:
    """Preparing uses the flag up. If it cannot be deleted, it only makes a later round broad."""
    if not decision.consumes_flag:
        return ()
    closed = decision.round - 1
    try:
        workspace.remove(RoundPaths(loop.subject.reviews, closed).flag)
    except Refusal:
        return (convergence.flag_persists(closed),)
    return ()
