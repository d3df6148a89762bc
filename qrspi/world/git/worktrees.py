"""Branches, work trees and merges for tasks, by git's own commands: the user's hooks run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from qrspi.core.errors import Refusal
from qrspi.core.filenames import WORKTREES
from qrspi.core.hints import Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shell_words import git, quoted
from qrspi.world.files.atomic_write import reporting_errors
from qrspi.world.git import command, worktree_list
from qrspi.world.git.refs import check, resolve
from qrspi.world.git.repository import Repo, find, refuse_if_locked
from qrspi.world.git.worktree_list import Worktree

FOLDER = WORKTREES

Condition = Literal["absent", "ready", "half-made", "foreign"]


def tip(repo: Repo, name: str) -> str | None:
    check(name)
    return resolve(repo, f"refs/heads/{name}")


def create_branch(repo: Repo, name: str, at: str, *, move: bool = False) -> None:
    """With `move`, an existing branch of that name that nobody has checked out is moved there."""
    check(name)
    check(at)
    force = ["--force"] if move else []
    must(repo, "branch", *force, "--no-track", "--end-of-options", name, at)


def place(repo: Repo, *parts: str) -> str:
    """A path in the folder of work trees, where no directory on the way is a link to elsewhere."""
    path = repo.root
    for part in (FOLDER, *parts):
        path = f"{path}/{part}"
        if os.path.islink(path):
            text = (
                f"{path} is a symbolic link: work trees are only made in real directories below it"
            )
            expected = "a directory or nothing"
            raise Refusal(Problem("link", text, path, found="a link", expected=expected))
    return path


def checked_place(repo: Repo, shown: str) -> str:
    return place(repo, *shown.split("/")[1:])


def has_any(repo: Repo) -> bool:
    """Beside the main one. Git keeps them there, so it need not be asked where there are none."""
    return os.path.isdir(f"{repo.common_dir}/worktrees")


def worktrees(repo: Repo) -> tuple[Worktree, ...]:
    output = worktree_list.asked(repo)
    if output.status and _drop_unreadable(repo):
        output = worktree_list.asked(repo)
    if output.status:
        raise command.failure("worktree list", output)
    return worktree_list.read(output.out)


def _drop_unreadable(repo: Repo) -> bool:
    """git fails for ever on notes that it was killed in writing. True when there were some."""
    from shutil import rmtree

    ours = os.fsencode(os.path.realpath(f"{repo.root}/{FOLDER}") + "/")
    is_there = False
    for name in os.listdir(f"{repo.common_dir}/worktrees"):
        notes = f"{repo.common_dir}/worktrees/{name}"
        texts = {file: _text(f"{notes}/{file}") for file in ("locked", "gitdir", "commondir")}
        unfinished = texts["locked"] == b"initializing" and not texts["commondir"]
        if unfinished and texts["gitdir"].startswith(ours):
            rmtree(notes)
            is_there = True
    return is_there


def _text(path: str) -> bytes:
    """Empty when it cannot be read: such notes are left alone."""
    try:
        with open(path, "rb") as file:
            return file.read(4096).strip()
    except OSError:
        return b""


def at(repo: Repo, path: str) -> Repo | None:
    known = _known(repo, path)
    return whole(repo, known) if known else None


def whole(repo: Repo, listed: Worktree) -> Repo | None:
    is_whole = not listed.prunable and worktree_list.is_linked(repo, listed.path)
    return find(listed.path) if is_whole else None


def _known(repo: Repo, path: str) -> Worktree | None:
    place = os.path.realpath(path)
    return next((one for one in worktrees(repo) if os.path.realpath(one.path) == place), None)


def condition(repo: Repo, path: str, branch: str) -> Condition:
    known = _known(repo, path)
    if known is None:
        if not os.path.lexists(path) or _is_empty(path):
            return "absent"
        return "half-made" if _claims(repo, path) else "foreign"
    if known.locked == "initializing" or known.prunable or not worktree_list.is_linked(repo, path):
        return "half-made"
    return "ready" if known.branch == branch else "foreign"


def add_worktree(repo: Repo, path: str, branch: str) -> None:
    check(branch)
    match condition(repo, path, branch):
        case "ready":
            return
        case "foreign":
            raise foreign(path, branch, repo)
        case "half-made":
            if _relinked(repo, path, branch):
                return
            clear(repo, path)
        case "absent":
            pass
    must(repo, "worktree", "add", "-q", "--", path, branch)


def add_detached(repo: Repo, path: str, commit: str) -> None:
    check(commit)
    must(repo, "worktree", "add", "-q", "--detach", "--", path, commit)


@contextmanager
def throwaway(repo: Repo, path: str, commit: str) -> Iterator[Repo]:
    """Removed afterwards, as are the remains of a killed command's."""
    if _known(repo, path):
        remove_worktree(repo, path)
    elif _claims(repo, path):
        clear(repo, path)
    elif os.path.lexists(path) and not _is_empty(path):
        raise foreign(path)
    add_detached(repo, path, commit)
    own = find(path)
    assert own is not None
    try:
        yield own
    finally:
        remove_worktree(repo, path)


def clear(repo: Repo, path: str) -> None:
    """An incomplete work tree is removed; what somebody may have worked at is put aside."""
    known = _known(repo, path)
    unfinished = known is not None and known.locked == "initializing"
    if unfinished or not os.path.lexists(path) or _is_empty(path):
        remove_worktree(repo, path)
        return
    _set_aside(path)
    _forget(repo, path)


def _set_aside(path: str) -> None:
    with reporting_errors(path):
        if os.listdir(path) == [".git"]:
            os.unlink(f"{path}/.git")
            os.rmdir(path)
            return
        number = 1
        while os.path.lexists(aside := f"{path}.left-{number}"):
            number += 1
        os.rename(path, aside)


def _forget(repo: Repo, path: str) -> None:
    """Let git drop its own notes of a work tree whose directory is gone."""
    command.write(repo.root, ["worktree", "unlock", "--", path])
    must(repo, "worktree", "prune")


def _claims(repo: Repo, path: str) -> bool:
    """git writes that file first and deletes it last: it may be there alone after a kill."""
    link = f"{path}/.git"
    if os.path.islink(link) or not os.path.isfile(link):
        return False
    with reporting_errors(link), open(link, "rb") as file:
        content = file.read(4096)
    folder = os.path.realpath(f"{repo.common_dir}/worktrees")
    return content.startswith(os.fsencode(f"gitdir: {folder}/"))


def _relinked(repo: Repo, path: str, branch: str) -> bool:
    """For one that has only lost its link to the repository, and may contain somebody's work."""
    known = _known(repo, path)
    if known is None or known.locked == "initializing" or not os.path.isdir(path):
        return False
    if _is_empty(path):
        return False
    command.write(repo.root, ["worktree", "repair", "--", path])
    return condition(repo, path, branch) == "ready"


def remove_worktree(repo: Repo, path: str) -> None:
    """Twice --force, because git locks a work tree while it makes it."""
    remove = ["worktree", "remove", "--force", "--force", "--", path]
    output = command.write(repo.root, remove)
    if output.status and os.path.lexists(path) and not _is_empty(path):
        # A git that was killed here had already deleted the link, without which git finds nothing.
        command.write(repo.root, ["worktree", "repair", "--", path])
        if command.write(repo.root, remove).status:
            _set_aside(path)  # its notes were not finished either, so git cannot help
    # git cannot remove a work tree whose directory is gone or still empty; it can only forget it.
    _forget(repo, path)


def dirty(repo: Repo) -> tuple[str, ...]:
    """Without any filter, so a file may count of which only the time stamp changed."""
    return tuple(line[3:] for line in _differing(repo))


def uncommitted(repo: Repo) -> tuple[str, ...]:
    return unclean(repo).files


class Unclean(NamedTuple):
    files: tuple[str, ...]
    new: tuple[str, ...]  # those that git does not track


def unclean(repo: Repo) -> Unclean:
    lines = _differing(repo, untracked="all")
    new = (line[3:] for line in lines if line.startswith("??"))
    return Unclean(tuple(line[3:] for line in lines), tuple(new))


def move(repo: Repo, commit: str) -> None:
    """--keep, not --hard: if somebody has changed a file meanwhile, git refuses."""
    check(commit)
    must(repo, "reset", "--quiet", "--keep", commit)


def staged(repo: Repo) -> tuple[str, ...]:
    """Files with a staged change: while there is one, git refuses to merge."""
    return tuple(line[3:] for line in _differing(repo) if line[0] != " ")


def _differing(repo: Repo, untracked: str = "no") -> tuple[str, ...]:
    args = ["status", "--porcelain", "-z", f"--untracked-files={untracked}", "--no-renames"]
    args.append("--ignore-submodules=dirty")
    return command.read(repo.path, args, config=_filters_off(repo)).items


def exclude_folder(repo: Repo) -> bool:
    return exclude(repo, f"{FOLDER}/")


def exclude(repo: Repo, pattern: str) -> bool:
    """In the repository's own ignore file; False if it is already there."""
    path = f"{repo.common_dir}/info/exclude"
    line = os.fsencode(pattern)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with reporting_errors(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0) as file:
            present = file.read() or b""
            if {line, b"/" + line} & {known.strip() for known in present.split(b"\n")}:
                return False
            gap = b"" if present.endswith(b"\n") or not present else b"\n"
            file.write(gap + line + b"\n")
            os.fsync(file.fileno())
            return True


def _is_empty(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path) and not os.listdir(path)


def _filters_off(repo: Repo) -> list[tuple[str, str]]:
    args = ["config", "-z", "--name-only", "--get-regexp", r"^filter\."]
    keys = command.read(repo.path, args, ok=(0, 1)).items
    names = {key.rpartition(".")[0] for key in keys}
    off = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return [(f"{name}.{key}", value) for name in sorted(names) for key, value in off.items()]


def must(repo: Repo, verb: str, *rest: str) -> None:
    output = command.write(repo.root, [verb, *rest])
    if output.status:
        refuse_if_locked(repo)
        more = rest[0] if verb in ("worktree", "merge") else ""
        raise command.failure(f"{verb} {more}".strip(), output)


def _link(path: str) -> Refusal:
    text = f"{path} is a symbolic link: work trees are only made in real directories below it"
    return Refusal(Problem("link", text, path, found="a link", expected="a directory or nothing"))


def foreign(path: str, branch: str = "", repo: Repo | None = None) -> Refusal:
    """The way out keeps every file: ours returns to its branch, anything else is moved away."""
    whose = f"of branch {branch}" if branch else "of ours"
    known = _known(repo, path) if repo and branch and tip(repo, branch) else None
    way_out = f"mv {quoted(path)} {quoted(f'{path}.old')}"
    advice = "move it away"
    if known:
        way_out = git(path, "switch", branch)
        advice = f"it is on {known.branch or 'no branch'}, so go back there with `{way_out}`"
    text = f"{path} is there and is no work tree {whose}: {advice}, then run the same command again"
    expected = f"nothing, or the work tree of {branch}" if branch else "nothing"
    found = "something else"
    return Refusal(Problem("foreign-worktree", text, path, "", found, expected, way_out))
