"""The work trees of a repository: as git lists them, and removed without losing anything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from qrspi.core.filenames import WORKTREES
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.git import command
from qrspi.world.git.repository import Repo, git_dir_of


class Worktree(NamedTuple):
    path: str
    commit: str | None
    branch: str | None  # None when detached
    locked: str | None = None  # the reason
    prunable: bool = False


def asked(repo: Repo) -> command.Output:
    """With NULs, since a path may contain line ends; git 2.35 and older exit with 129."""
    args = ["worktree", "list", "--porcelain"]
    output = command.read(repo.path, [*args, "-z"], ok=(0, 128, 129))
    if output.status == 129:
        output = command.read(repo.path, args, ok=(0, 128))
        output = output._replace(out=output.out.replace(b"\n", b"\0"))
    return output


def read(listing: bytes) -> tuple[Worktree, ...]:
    return tuple(_worktree(block) for block in os.fsdecode(listing).split("\0\0") if block)


def _worktree(block: str) -> Worktree:
    fields = {key: value for key, _, value in (line.partition(" ") for line in block.split("\0"))}
    branch = fields.get("branch")
    return Worktree(
        path=fields["worktree"],
        commit=fields.get("HEAD"),
        branch=branch.removeprefix("refs/heads/") if branch else None,
        locked=fields.get("locked"),
        prunable="prunable" in fields,
    )


def is_linked(repo: Repo, path: str) -> bool:
    """Whoever works there can make `.git` lead to a repository of their own, with hooks."""
    folder = os.path.realpath(f"{repo.common_dir}/worktrees")
    return (git_dir_of(path) or "").startswith(f"{folder}/")


def bytecode(new: Iterable[str]) -> tuple[str, ...]:
    """What Python left beside the code in a work tree: the work of nobody, ignored or not."""
    compiled = re.compile(r"(^|/)__pycache__/[^/]+[.]pyc$")
    return tuple(filter(compiled.search, new))


def remove(repo: Repo, path: str, beside: Iterable[str]) -> None:
    """With the files `beside` the work; what git ignores goes too: products of a build."""
    for name in beside:
        os.unlink(f"{path}/{name}")
    output = command.write(repo.root, ["worktree", "remove", "--", path])
    if output.status:
        raise command.failure("worktree remove", output)


def remove_empty_folders(repo: Repo, folder: str) -> None:
    top = f"{repo.root}/{WORKTREES}"
    if os.path.islink(top) or os.path.islink(f"{top}/{folder}"):
        return  # what it leads to is nobody's to tidy up
    for path, _, _ in os.walk(f"{top}/{folder}", topdown=False):
        if not os.listdir(path):
            os.rmdir(path)
    if os.path.isdir(top) and not os.listdir(top):
        os.rmdir(top)
