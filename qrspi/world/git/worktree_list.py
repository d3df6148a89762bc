"""The work trees of a repository, as git lists them."""

from __future__ import annotations

import os

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
