"""Remove work trees without losing anything. git itself refuses to remove one with changes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from qrspi.world.git import command
from qrspi.world.git.repository import Repo
from qrspi.world.git.worktrees import FOLDER


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
    top = f"{repo.root}/{FOLDER}"
    for path, _, _ in os.walk(f"{top}/{folder}", topdown=False):
        if not os.listdir(path):
            os.rmdir(path)
    if os.path.isdir(top) and not os.path.islink(top) and not os.listdir(top):
        os.rmdir(top)
