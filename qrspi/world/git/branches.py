"""Branches by name: the default one, one to stand on, and names that git can keep."""

from __future__ import annotations

import os

from qrspi.world.git import command
from qrspi.world.git.refs import check, default_branch
from qrspi.world.git.repository import Repo, branch, refuse_if_under_way


def on_default(repo: Repo) -> bool:
    here = branch(repo)
    return here is not None and here == default_branch(repo)


def switch_to_new(repo: Repo, name: str) -> None:
    check(name)
    refuse_if_under_way(repo, "make a branch")
    output = command.write(repo.root, ["switch", "--quiet", "--no-track", "--create", name])
    if output.status:
        raise command.failure("switch", output)


def is_free(repo: Repo, name: str) -> bool:
    """git keeps `a/b` in a folder `a`: neither `a`, nor `a/b`, nor `a/b/c` may be a branch."""
    taken = names(repo)
    return not (
        name in taken
        or any(above in taken for above in _above(name))
        or any(one.startswith(f"{name}/") for one in taken)
    )


def names(repo: Repo) -> frozenset[str]:
    args = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"]
    return frozenset(os.fsdecode(command.read(repo.path, args).out).split())


_MOST = 50


def free(repo: Repo) -> tuple[str, ...]:
    """Those that are checked out nowhere, so that one can switch to them; the newest first."""
    args = [
        "for-each-ref",
        "--sort=-committerdate",
        "--format=%(worktreepath)%09%(refname:lstrip=2)",
    ]
    rows = os.fsdecode(command.read(repo.path, [*args, "refs/heads"]).out).splitlines()
    return tuple(row.removeprefix("\t") for row in rows if row.startswith("\t"))[:_MOST]


def remote(repo: Repo) -> str:
    remotes = os.fsdecode(command.read(repo.path, ["remote"]).out).split()
    return "origin" if "origin" in remotes else next(iter(remotes), "")


def spelled(repo: Repo, name: str) -> str:
    """The name, with `-` for each `/` after a part that is already a branch."""
    taken = names(repo)
    above = next((part for part in _above(name) if part in taken), None)
    return _joined(above, name) if above and name not in taken else name


def spellings(name: str) -> tuple[str, ...]:
    return (name, *(_joined(above, name) for above in _above(name)))


def _above(name: str) -> tuple[str, ...]:
    parts = name.split("/")
    return tuple("/".join(parts[:count]) for count in range(1, len(parts)))


def _joined(above: str, name: str) -> str:
    return f"{above}-{name[len(above) + 1 :].replace('/', '-')}"


def delete(repo: Repo, name: str, commit: str) -> bool:
    """Delete a branch if it still is at `commit`; False when it has moved."""
    check(name)
    check(commit)
    args = ["update-ref", "-d", f"refs/heads/{name}", commit]
    return command.write(repo.root, args).status == 0


def with_commit(repo: Repo, commit: str) -> str:
    """A branch or tag that has it and is not checked out, in words; '' when there is none."""
    check(commit)
    asked = ["merge-base", "--is-ancestor", commit, "HEAD"]
    if command.read(repo.path, asked, ok=(0, 1, 128)).status == 0:
        return ""
    args = ["for-each-ref", "--count=1", f"--contains={commit}", "--format=%(refname:lstrip=2)"]
    found = command.read(repo.path, [*args, "refs/heads", "refs/remotes", "refs/tags"]).out
    name = os.fsdecode(found).strip()
    return f"branch {name}" if name else ""
