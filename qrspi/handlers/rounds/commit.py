"""Put a finished round on record: dispositions, one commit, its anchor."""

from __future__ import annotations

import hashlib

from qrspi.core.errors import Refusal
from qrspi.core.filenames import RoundPaths, loop_choice, pause_file, slug_of
from qrspi.core.model import Problem
from qrspi.core.rounds import convergence, dispositions
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Fault, Tree, content
from qrspi.handlers.changes import change_set, engine_files, review_target
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.git import commits, refs, repository, tracked_files
from qrspi.world.git.commits import Committed
from qrspi.world.git.repository import Repo
from qrspi.world.runs.workspace import Workspace


def handle(job: Job) -> Performed:
    loop = job.round_loop
    repo = repository.find(job.workspace.path)
    if repo and not job.options.dry_run:
        repository.refuse_if_detached(repo, "commit")
    files = dispose(job).files
    refuse_bad_dispositions(job.workspace, loop)
    if repo is not None:
        if not job.options.dry_run:
            _anchor(job, loop, repo)
        files += (loop.paths.anchor,)
    return Performed("commit-round", loop.subject.key, loop.round, files)


def is_left(job: Job) -> bool:
    """A round that kept nothing is closed as soon as it is assembled; a clone does not have it."""
    loop = job.loop
    if loop is None or loop.stage != "closed" or loop.subject.is_task or loop.imported:
        return False
    if not job.commits or job.options.dry_run or not loop.verified:
        return False
    repo = repository.find(job.workspace.path)
    if repo is None or not refs.head(repo):
        return False
    known = commits.contents_at_head(repo, (loop.paths.verified,))
    return known.get(loop.paths.verified) != loop.verified


def put_on_record(job: Job) -> Performed:
    """Without an anchor: no later round is held against one that kept nothing."""
    loop = job.round_loop
    change_set.commit_files(job, (), f"review round {loop.round:02d} of {loop.subject.key}")
    return Performed("commit-round", loop.subject.key, loop.round)


def dispose(job: Job) -> Performed:
    """When nothing was applied, no fixer writes the dispositions, so the engine does."""
    loop = job.round_loop
    path = loop.paths.dispositions
    files: tuple[str, ...] = ()
    if needs_dispositions(job.workspace, loop):
        names = [item.finding.name for item in loop.triaged if item.verdict != "drop"]
        skipped = {name: loop.decided.skip_of(name) for name in names}
        job.workspace.create(path, dispositions.nothing_applied(loop.round, skipped))
        files = (path,)
    return Performed("dispositions", loop.subject.key, loop.round, files)


def needs_dispositions(tree: Tree, loop: Loop) -> bool:
    return not loop.to_apply and tree.head(loop.paths.dispositions) == Fault("absent")


def refuse_bad_dispositions(tree: Tree, loop: Loop) -> None:
    path = loop.paths.dispositions
    data = tree.read(path)
    if isinstance(data, Fault):
        text = f"{path} cannot be read ({data.reason}): expected what was done"
        raise Refusal(Problem("bad_dispositions", text, file=path, found=data.kind))
    if bad := dispositions.problems(data, path, loop.round):
        raise Refusal(*bad)


def trailers(tree: Tree, run: str, loop: Loop) -> tuple[str, str]:
    """Both together identify a round even after a new phase numbers its rounds from 01."""
    digest = hashlib.sha256(content(tree, loop.paths.manifest)).hexdigest()
    return (
        f"QRSPI-Round: {run}/{loop.subject.key}/{loop.round:02d}",
        f"QRSPI-Manifest: {digest}",
    )


def _anchor(job: Job, loop: Loop, repo: Repo) -> None:
    """A commit without its anchor was made by a killed command. Then the index may be behind."""
    marks = trailers(job.workspace, job.run, loop)
    before = RoundPaths(loop.subject.reviews, loop.round - 1).anchor
    since = convergence.anchor(job.workspace.head(before))
    own = engine_files.find(job.workspace, repo)
    files = (*covered(job.workspace, loop, repo), *own.paths)
    commit = commits.find(repo, marks, since)
    if commit:
        commits.catch_up(repo, files)
    else:
        commit = _commit(job, loop, repo, files, marks, since)
    job.workspace.write(loop.paths.anchor, f"{commit}\n".encode())


def _commit(
    job: Job,
    loop: Loop,
    repo: Repo,
    files: tuple[str, ...],
    marks: tuple[str, str],
    since: str | None,
) -> str:
    message = f"docs(qrspi): review round {loop.round:02d} of {loop.subject.key} for "
    lines = (*marks, *engine_files.decided(job.workspace))
    committed = commits.commit(repo, files, message + slug_of(job.run), lines)
    if isinstance(committed, Committed):
        return committed.commit
    # All of the round may have gone along with another commit of the engine.
    signed = (manifests.signed_line(loop.manifest),) if loop.manifest else marks
    if earlier := commits.find(repo, signed, since):
        return earlier
    adopt = f"qrspi round commit {job.run} {loop.subject.key} --adopt"
    text = (
        f"round {loop.round:02d} of {loop.subject.key} is committed already, but not by "
        f"qrspi: take HEAD as its anchor with `{adopt}`"
    )
    raise Refusal(Problem("nothing-to-commit", text, file=loop.paths.directory, hint=adopt))


def covered(workspace: Workspace, loop: Loop, repo: Repo) -> tuple[str, ...]:
    paths = loop.paths
    return (
        *review_target.files(workspace, loop.subject, repo),
        paths.directory,
        paths.diff,
        paths.since,
        paths.verified,
        paths.scope_set,
        paths.dispositions,
        paths.skipped,
        loop_choice(loop.subject.reviews),
        pause_file(loop.subject.key, loop.round),
        RoundPaths(loop.subject.reviews, loop.round - 1).anchor,
    )


def adopt(job: Job) -> Performed:
    loop = job.round_loop
    repo = repository.find(job.workspace.path)
    commit = refs.head(repo) if repo else None
    if repo is None or commit is None:
        text = f"{job.run} has no commit to adopt: it is not in a git repository with commits"
        raise Refusal(Problem("no-commit", text))
    refuse_bad_dispositions(job.workspace, loop)
    _refuse_other_round(job, loop, repo, commit)
    _refuse_uncommitted(job.workspace, loop, repo, commit)
    job.workspace.write(loop.paths.anchor, f"{commit}\n".encode())
    return Performed("adopt-commit", loop.subject.key, loop.round, (loop.paths.anchor,))


def _refuse_other_round(job: Job, loop: Loop, repo: Repo, commit: str) -> None:
    """A commit that names its round is believed."""
    mine = trailers(job.workspace, job.run, loop)[0]
    lines = commits.message_of(repo, commit).split("\n")
    round_lines = [line for line in lines if line.startswith("QRSPI-Round: ")]
    if round_lines and mine not in round_lines:
        raise _wrong_commit(loop, commit, f"says '{round_lines[0]}', expected '{mine}'")


def _refuse_uncommitted(workspace: Workspace, loop: Loop, repo: Repo, commit: str) -> None:
    folder = repo.from_root(loop.paths.directory) + "/"
    changed = commits.paths_of(repo, commit)
    if not any(name.startswith(folder) for name in changed):
        raise _wrong_commit(loop, commit, f"does not touch {loop.paths.directory}")
    files = covered(workspace, loop, repo)
    needed = [name for name in files if not isinstance(workspace.head(name), Fault)]
    if left := tracked_files.untracked(repo, needed):
        raise _wrong_commit(loop, commit, f"leaves {left[0]} out")


def _wrong_commit(loop: Loop, commit: str, what: str) -> Refusal:
    problem = Problem(
        "wrong-commit",
        f"HEAD ({commit[:12]}) {what}: commit the files of round {loop.round:02d} of "
        f"{loop.subject.key}, then adopt that commit",
        file=loop.paths.directory,
        found=commit,
        expected=f"the commit of round {loop.round:02d}",
    )
    return Refusal(problem)
