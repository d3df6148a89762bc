"""The code of a round as an agent is shown it that opens no files. All of it comes from git, at the
commits under review: in a work tree anything may lie. What there is no room for is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from qrspi.core.agents.prompts import Source
from qrspi.core.code_steps import batch, task_state
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.model import Unseen
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.text import plain_diff
from qrspi.core.tree import Fault
from qrspi.handlers.changes import code_repository, review_target, task_base
from qrspi.handlers.changes.review_target import Branch
from qrspi.handlers.jobs.job import Job
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import commits, diffs, refs, worktrees
from qrspi.world.git.diffs import ChangedFile
from qrspi.world.git.refs import Ref
from qrspi.world.git.repository import Repo

FILE_LIMIT = 256 * 1024
LIMIT = plain_diff.ROOM + FILE_LIMIT  # of a diff and its files together


class OfTasks(NamedTuple):
    """Of tasks that are not merged yet."""

    files: tuple[Source, ...] = ()
    diffs: tuple[Source, ...] = ()
    left_out: tuple[Unseen, ...] = ()


class _Named(NamedTuple):
    name: str  # as it is shown
    file: ChangedFile


def of_round(job: Job, manifest: Manifest | None, diff: int) -> tuple[Source, ...]:
    """The files of the round's diff, of which a prompt has so many bytes already."""
    reviewed = _reviewed(job, manifest)
    if reviewed is None:
        return ()
    pair = (reviewed.base.object, reviewed.tip)
    found = diffs.files(reviewed.repo, pair, reviewed.without)
    return _in_full(reviewed.repo, (_Named(one.name, one) for one in found), LIMIT - diff)


def diff_of_round(job: Job, manifest: Manifest | None) -> bytes | None:
    """None for texts, and outside git."""
    one = _reviewed(job, manifest)
    return diffs.text_of_branch(one.repo, one.base, one.tip, one.without) if one else None


def _reviewed(job: Job, manifest: Manifest | None) -> Branch | None:
    repo = code_repository.repository_or_none(job)
    if repo is None or manifest is None or not manifest.commit:
        return None
    repo = repo._replace(path=repo.root)
    commit = manifest.choice.ref_commit
    base = Ref(commit, commit) if commit else refs.empty_tree(repo)
    return Branch(repo, manifest.commit, base, without=review_target.runs_in(repo, job))


def of_tasks(job: Job) -> OfTasks:
    repo = code_repository.repository_of(job)
    files, changes = list[_Named](), dict[str, bytes]()
    for task, _ in worked_on(job):
        assert task.start is not None
        if not task.commit:
            continue
        base = task_base.find(job, task.key, task.start, task.commit).commit
        changes[task.key] = diffs.text_of_branch(repo, Ref(base, base), task.commit)
        found = diffs.files(repo, (base, task.commit))
        files += (_Named(f"{task.start.worktree}/{one.name}", one) for one in found)
    cut = _cut(changes)
    shown = tuple(Source(f"{key}.diff", cut[key].text) for key in changes)
    left = tuple(
        one._replace(path=f"{key}: {one.path}") for key in changes for one in cut[key].left_out
    )
    room = LIMIT - sum(len(one.data) for one in shown)
    return OfTasks(_in_full(repo, files, room), shown, left)


def worked_on(job: Job) -> Iterator[tuple[TaskState, str]]:
    repo = code_repository.repository_of(job)
    for task in task_state.survey(job.facts, batch.read(job.facts).items):
        place = worktrees.checked_place(repo, task.start.worktree) if task.start else ""
        if place and not isinstance(DiskTree(place).entries(""), Fault):
            yield task, place


def _cut(changes: dict[str, bytes]) -> dict[str, plain_diff.Shown]:
    """Room that a short one leaves is for the others."""
    room, cut = plain_diff.ROOM, dict[str, plain_diff.Shown]()
    for key in sorted(changes, key=lambda key: len(changes[key])):
        share = room // (len(changes) - len(cut))
        cut[key] = plain_diff.shown(changes[key], share)
        room -= min(share, len(changes[key]))
    return cut


def _in_full(repo: Repo, files: Iterable[_Named], room: int) -> tuple[Source, ...]:
    listed = tuple(files)
    kept = _chosen(repo, listed, room)
    texts = commits.texts(repo, [one.file.object for one in kept])
    whole, left_out = list[Source](), [plain_diff.as_text(o.name) for o in listed if o not in kept]
    for one in kept:
        text = plain_diff.whole_file(texts[one.file.object])
        name = plain_diff.as_text(one.name)
        if text is None:
            left_out.append(name)
        else:
            whole.append(Source(name, text))
    if left_out:
        whole.append(Source("files-not-shown", "\n".join(left_out).encode()))
    return tuple(whole)


def _chosen(repo: Repo, files: Sequence[_Named], room: int) -> tuple[_Named, ...]:
    sizes = commits.sizes(repo, [one.file.object for one in files if one.file.is_file])
    kept = list[_Named]()
    for one in files:
        size = sizes.get(one.file.object, LIMIT) if one.file.is_file else LIMIT
        if size <= min(FILE_LIMIT, room):
            kept.append(one)
            room -= size
    return tuple(kept)
