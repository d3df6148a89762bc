"""Merges: made whole or undone. One that a kill cut off is finished where its commit is there, or
else taken back: only what a commit has is replaced, so nothing that a person wrote is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shell_words import git
from qrspi.core.text.shortened import few
from qrspi.world.files import lock
from qrspi.world.git import command, commits, worktrees
from qrspi.world.git.refs import check, head, is_ancestor
from qrspi.world.git.repository import Repo, refuse_if_locked, refuse_if_under_way


class Merged(NamedTuple):
    commit: str


class UpToDate(NamedTuple):
    """HEAD already contains every tip."""


class Conflict(NamedTuple):
    """The merge was undone; the work tree is as it was."""

    tip: str
    files: tuple[str, ...]  # relative to the root


def merge(repo: Repo, tips: Sequence[str], message: str) -> Merged | UpToDate | Conflict:
    """Merge tips one after another into what is checked out; all of them or none."""
    refuse_if_under_way(repo, "merge")
    before = head(repo)
    if before is None:
        raise Halt(Problem("no-commit", f"{repo.root} has no commit to merge into"))
    for name in tips:
        check(name)
        if not is_ancestor(repo, name, "HEAD"):
            files = _merge(repo, name, message, before)
            if files:
                return Conflict(name, files)
    after = head(repo)
    return UpToDate() if after in (before, None) else Merged(str(after))


def _merge(repo: Repo, name: str, message: str, before: str) -> tuple[str, ...]:
    args = ["merge", "--no-ff", "--no-edit", "--no-log", "--no-autostash"]
    # A remembered resolution that git stages at once would hide the conflict.
    args += ["--no-rerere-autoupdate", f"--message={message}", "--end-of-options", name]
    with _marked(repo) as mark:
        output = command.write(repo.root, args, kept=mark)
    if not output.status:
        return ()
    files = _in_conflict(repo)
    _take_back(repo, before)
    if not files:
        refuse_if_locked(repo)
        raise command.failure("merge", output)
    return files


def _in_conflict(repo: Repo) -> tuple[str, ...]:
    output = command.read(repo.path, ["ls-files", "-z", "--unmerged", "--full-name", ":/"])
    return tuple(dict.fromkeys(line.partition("\t")[2] for line in output.items))


def _take_back(repo: Repo, before: str) -> None:
    if os.path.lexists(f"{repo.git_dir}/MERGE_HEAD"):
        worktrees.must(repo, "merge", "--abort")
    if head(repo) != before:
        worktrees.move(repo, before)


@contextmanager
def _marked(repo: Repo) -> Iterator[tuple[int, ...]]:
    """What git is given here it holds until it ends, also when we are killed meanwhile."""
    fd = _opened(repo)
    try:
        lock.take(fd, 0)  # what an earlier git left to tidy up may still have it
        yield (fd,)
    finally:
        os.close(fd)


def _opened(repo: Repo) -> int:
    return os.open(f"{repo.git_dir}/qrspi-merging", os.O_RDWR | os.O_CREAT, 0o600)


def settle(repo: Repo, tip: str, verb: str, timeout: float) -> tuple[str, ...]:
    """The files that were put back after a merge of this commit that was cut off."""
    repo = repo._replace(path=repo.root)
    if not (_merging(repo) or worktrees.uncommitted(repo)):
        return ()
    _wait(repo, verb, timeout)
    merging = _merging(repo)
    is_made = is_ancestor(repo, merging or tip, "HEAD")
    if merging not in ("", tip) and not is_made:
        return ()
    left = {} if is_made else _left(repo, tip)
    changed = [path for path in left or () if left and not left[path]]
    if merging and (left is None or changed):
        raise _unclear(repo, changed, verb)
    files = () if changed else tuple(left or ())
    _put_back(repo, files)
    if merging:
        worktrees.must(repo, "merge", "--quit")
    return files


def _merging(repo: Repo) -> str:
    """The commit at MERGE_HEAD; '' without one."""
    data = _bytes(f"{repo.git_dir}/MERGE_HEAD")
    return data.decode("ascii", "replace").strip() if data else ""


def _wait(repo: Repo, verb: str, timeout: float) -> None:
    fd = _opened(repo)
    try:
        free = lock.take(fd, timeout)
    finally:
        os.close(fd)
    if not free:
        text = (
            f"a git is still merging in {repo.root} for a command that was killed: wait until it "
            f"has ended, then {verb} again"
        )
        raise Halt(Problem("git-under-way", text, repo.root, found="merge", hint=_status(repo)))


def _left(repo: Repo, tip: str) -> dict[str, bool] | None:
    """What differs from HEAD of all that the merge would change, and whether a commit has it so.
    None from a git before 2.38, which cannot tell."""
    merged, here = _merged(repo, tip), head(repo)
    if not merged or not here:
        return None
    args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", here, merged]
    changes = set(command.read(repo.root, args).items)
    names = [name for name in worktrees.uncommitted(repo) if name in changes]
    blobs = commits.blobs(repo, [(at, name) for name in names for at in (here, merged)])
    return {
        name: _bytes(f"{repo.root}/{name}") in (blobs.get((here, name)), blobs.get((merged, name)))
        for name in names
    }


def _merged(repo: Repo, tip: str) -> str:
    """The tree of the merge, with the marks of its conflicts."""
    args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "HEAD", tip]
    output = command.read(repo.root, args, ok=(0, 1, 128, 129))
    return output.items[0] if output.status in (0, 1) else ""


def _bytes(path: str) -> bytes | None:
    try:
        if os.path.islink(path):
            return os.fsencode(os.readlink(path))
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _put_back(repo: Repo, names: Sequence[str]) -> None:
    if not names:
        return
    untracked = worktrees.unclean(repo).new
    new = [name for name in names if name in untracked]
    known = [name for name in names if name not in new]
    if known:
        back = ["--quiet", "--source=HEAD", "--staged", "--worktree", "--"]
        worktrees.must(repo, "restore", *back, *command.exactly(known))
    for name in new:
        os.remove(f"{repo.root}/{name}")


def _unclear(repo: Repo, changed: Sequence[str], verb: str) -> Halt:
    what = f"{few(changed)} was changed since" if changed else "this git cannot tell what it left"
    finish, back = git(repo.root, "commit"), git(repo.root, "merge", "--abort")
    text = (
        f"a merge was cut off in {repo.root}, and {what}: finish it with `{finish}`, or take "
        f"it back with `{back}`, then {verb} again"
    )
    return Halt(Problem("git-under-way", text, repo.root, found="merge", hint=_status(repo)))


def _status(repo: Repo) -> str:
    return git(repo.root, "status")
