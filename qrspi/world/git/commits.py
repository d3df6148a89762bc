"""The engine's commits: exactly the paths it names. What the user has staged stays staged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from qrspi.core.errors import Halt
from qrspi.core.filenames import is_dropping
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.git import command
from qrspi.world.git.refs import Ref, check, empty_tree, head, resolve
from qrspi.world.git.repository import (
    Repo,
    commit_by_files,
    identity,
    refuse_if_detached,
    refuse_if_locked,
    refuse_if_under_way,
)
from qrspi.world.git.tracked_files import HIDDEN, tracked

FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")

# With the user's own settings, this could print more, or nothing at all.
_COMPARE = (
    *("-c", "diff.autoRefreshIndex=true", "diff", "--quiet", "-O/dev/null"),
    *("--no-ext-diff", "--no-textconv", "--no-relative"),
)


# Begins a line in the message of a commit that holds a person's decision and no text.
DECISION = "QRSPI-Decision: "


class Committed(NamedTuple):
    commit: str


class Unchanged(NamedTuple):
    """HEAD already has these bytes."""


class _Known(NamedTuple):
    tracked: tuple[str, ...]
    new: tuple[str, ...]
    hidden: tuple[str, ...] = ()  # those of the tracked that git is told not to look at


def commit(
    repo: Repo, paths: Sequence[str], message: str, trailers: Sequence[str] = ()
) -> Committed | Unchanged:
    """Ignored files too: `*.log` in a global ignore file must not leave out an audit."""
    refuse_if_under_way(repo, "commit")
    refuse_if_detached(repo, "commit")
    before = head(repo)
    known = _known(repo, paths)
    _look_at(repo, known.hidden)
    _add(repo, known.new)
    if not _differs(repo, before, paths):
        _forget(repo, known.new)
        return Unchanged()
    text = "\n\n".join(part for part in (message, "\n".join(trailers)) if part)
    output = _commit(repo, known, text)
    new = head(repo)
    if new == before:
        _forget(repo, known.new)
    if new == before or new is None or output.status:
        raise _stopped(repo, output)
    return Committed(new)


def is_on_record(repo: Repo, paths: Sequence[str]) -> bool:
    known = _known(repo, paths)
    if any(not _has(known.tracked, path) for path in paths):
        return False
    _look_at(repo, known.hidden)
    return not _differs(repo, head(repo), paths)


def _has(names: Sequence[str], path: str) -> bool:
    return any(f"{name}/".startswith(f"{path}/") for name in names)


def check_ready(repo: Repo, verb: str) -> None:
    """Stop before anything is written, where git would refuse a commit for a known reason."""
    refuse_if_under_way(repo, verb)
    refuse_if_detached(repo, verb)
    if not (identity(repo) and identity(repo, "COMMITTER")):
        raise _no_identity()


def message_of(repo: Repo, name: str) -> str:
    check(name)
    args = ["rev-list", "--max-count=1", "--encoding=UTF-8", "--format=%B", name, "--"]
    return command.read(repo.path, args).text.partition("\n")[2]


def has_lines(message: str, lines: Sequence[str]) -> bool:
    return set(lines) <= set(message.split("\n"))


def find(
    repo: Repo,
    lines: Sequence[str],
    since: str | None = None,
    most: int = 200,
    paths: Sequence[str] = (),
) -> str | None:
    """The newest commit after `since`, of those that touch `paths`, with these lines."""
    if not head(repo):
        return None
    bound = [f"^{since}"] if since and resolve(repo, since) else []
    args = ["rev-list", f"--max-count={most}", "--encoding=UTF-8", "--format=%B%x00"]
    where = ["HEAD", *bound, "--", *command.literal(paths)]
    for record in command.read(repo.path, [*args, *where]).text.split("\0\n"):
        title, _, message = record.partition("\n")
        if has_lines(message, lines):
            return title.removeprefix("commit ")
    return None


def parent_of_head(repo: Repo) -> Ref | None:
    """HEAD~1 in a history without decisions: a commit of theirs changes no text."""
    args = ["rev-list", "--first-parent", "--max-count=100", "--encoding=UTF-8"]
    asked = [*args, "--format=%B%x00", "HEAD", "--"]
    output = command.read(repo.path, asked, ok=(0, 128))  # 128: the branch has no commit
    refs: list[Ref] = []
    for at, record in enumerate(output.text.split("\0\n")[:-1]):
        title, _, message = record.partition("\n")
        if not any(line.startswith(DECISION) for line in message.split("\n")):
            refs.append(Ref(f"HEAD~{at}", title.removeprefix("commit ")))
    return refs[1] if refs[1:] else None


def lines_of(repo: Repo, beginning: str, paths: Sequence[str]) -> frozenset[str]:
    if not head(repo):
        return frozenset()
    args = ["rev-list", "--max-count=5000", "--encoding=UTF-8", "--fixed-strings"]
    which = [f"--grep={beginning}", "--format=%B", "HEAD", "--", *command.literal(paths)]
    lines = command.read(repo.path, [*args, *which]).text.split("\n")
    return frozenset(line for line in lines if line.startswith(beginning))


def touching(repo: Repo, paths: Sequence[str], most: int) -> tuple[str, ...]:
    if not head(repo):
        return ()
    args = ["rev-list", f"--max-count={most}", "HEAD", "--", *command.literal(paths)]
    return tuple(command.read(repo.path, args).out.decode("ascii", "replace").split())


def names(repo: Repo, commit: str) -> tuple[str, ...]:
    """The files that a commit has in the folder of `repo`; none when there is no such commit."""
    check(commit)
    output = command.read(repo.path, ["ls-tree", "-r", "-z", "--name-only", commit], ok=(0, 128))
    if output.status and resolve(repo, commit):
        raise command.failure("ls-tree", output)
    return output.items


def paths_of(repo: Repo, name: str) -> tuple[str, ...]:
    check(name)
    args = ["diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--root", "--no-renames"]
    return command.read(repo.path, [*args, "--no-ext-diff", "--end-of-options", name, "--"]).items


def _known(repo: Repo, paths: Sequence[str]) -> _Known:
    """A path that neither the index nor the work tree has stands for no file."""
    if not paths:
        return _Known((), ())
    args = ["ls-files", "-z", "-v", "--cached", "--others", "--", *command.literal(paths)]
    lines = command.read(repo.path, args).items
    tracked = {line[2:]: line[0] for line in lines if not line.startswith("? ")}
    others = (line[2:] for line in lines if line.startswith("? "))
    # No editor's left-over, and no other repository, which git lists with a slash.
    new = (name for name in others if not (name[-1] == "/" or is_dropping(name.rpartition("/")[2])))
    hidden = (name for name, tag in tracked.items() if tag in HIDDEN)
    return _Known(tuple(tracked), tuple(new), tuple(hidden))


def _look_at(repo: Repo, hidden: Sequence[str]) -> None:
    """What the engine commits, it compares, even where git was told to take it for unchanged."""
    if hidden:
        given = _lines(_from_root(repo, hidden))
        for flag in ("--no-assume-unchanged", "--no-skip-worktree"):  # git heeds one at a time
            command.write(repo.root, ["update-index", flag, "-z", "--stdin"], given=given)


def _add(repo: Repo, new: Sequence[str]) -> None:
    """`commit --only` takes the work tree's bytes by itself, but only of files git knows."""
    if not new:
        return
    output = command.write(repo.root, ["add", "--force", *FROM_INPUT], given=_pathspecs(repo, new))
    if output.status:
        _forget(repo, new)
        raise _stopped(repo, output)


def _forget(repo: Repo, new: Sequence[str]) -> None:
    """The index goes back to what the user had."""
    if new:
        given = _lines(_from_root(repo, new))
        command.write(repo.root, ["update-index", "--force-remove", "-z", "--stdin"], given=given)


def lags(repo: Repo, paths: Sequence[str]) -> bool:
    """As when git was killed after it made the commit: the next one would undo it."""
    args = ["diff-index", "--cached", "--quiet", "HEAD", "--", *command.literal(paths)]
    output = command.read(repo.path, args, ok=(0, 1, 128))
    if output.status == 128 and head(repo):
        raise command.failure("diff-index", output)
    return output.status == 1


def catch_up(repo: Repo, paths: Sequence[str]) -> None:
    """Bring the index to HEAD, where the work tree is: what a killed commit had left to do."""
    if not lags(repo, paths):
        return
    args = ["reset", "--quiet", "--", *_exactly(repo, paths)]
    output = command.write(repo.root, args)
    if output.status:
        raise _stopped(repo, output)


def _differs(repo: Repo, before: str | None, paths: Sequence[str]) -> bool:
    """Asked first: git would run the hooks even when there is nothing to commit."""
    if not paths:
        return False
    names = _exactly(repo, paths)
    output = command.write(repo.root, [*_COMPARE, before or empty_tree(repo).name, "--", *names])
    if output.status not in (0, 1):
        raise _stopped(repo, output)
    return output.status == 1


def _commit(repo: Repo, known: _Known, text: str) -> command.Output:
    args = ["commit", "--quiet", "--only", "--cleanup=whitespace", f"--message={text}"]
    given = _pathspecs(repo, [*known.tracked, *known.new])
    return command.write(repo.root, [*args, *FROM_INPUT], given=given)


def _exactly(repo: Repo, paths: Sequence[str]) -> list[str]:
    for path in paths:
        command.check_path(path)
    return command.exactly(_from_root(repo, paths))


def _pathspecs(repo: Repo, names: Sequence[str]) -> bytes:
    return _lines(command.exactly(_from_root(repo, names)))


def _lines(names: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def _from_root(repo: Repo, names: Sequence[str]) -> list[str]:
    """At the root git searches for no repository: an agent may have put one into the run."""
    return [repo.from_root(name) for name in names]


def _stopped(repo: Repo, output: command.Output) -> Halt:
    refuse_if_locked(repo)
    if not (identity(repo) and identity(repo, "COMMITTER")):
        return _no_identity()
    halt = command.failure("commit", output)
    hint = "put right what git or its hook says, then run the same command again"
    return Halt(halt.problem._replace(code="commit-failed", hint=hint))


def _no_identity() -> Halt:
    name = "git config --global user.name NAME"
    text = (
        f"git does not know who you are: run `{name}` and "
        "`git config --global user.email EMAIL`, then the same command again"
    )
    return Halt(Problem("no-identity", text, hint=name))


def content(repo: Repo, commit: str, path: str) -> bytes | None:
    check(commit)
    name = f"{commit}:{repo.from_root(path)}"
    output = command.read(repo.path, ["cat-file", "blob", name], ok=(0, 128))
    return None if output.status else output.out


def contents(repo: Repo, commit: str, paths: Sequence[str]) -> dict[str, bytes]:
    check(commit)
    for path in paths:
        command.check_path(path)
    blobs_there = blobs(repo, [(commit, path) for path in paths])
    return {path: data for (_, path), data in blobs_there.items()}


def blobs(repo: Repo, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """Files at commits; those that are there. Paths and commits are checked by the caller."""
    if not places:
        return {}
    asked = "".join(f"{commit}:./{path}\n" for commit, path in places).encode()
    output = command.read(repo.path, ["cat-file", "--batch"], given=asked).out
    data: dict[tuple[str, str], bytes] = {}
    at = 0
    for place in places:
        end = output.find(b"\n", at)
        *_, kind, size = output[at:end].split(b" ") if end >= 0 else (b"", b"0")
        at = end + 1 if size == b"missing" else end + int(size) + 2
        if end < 0 or at > len(output):  # git ends well even where not all could be written
            raise Halt(Problem("git-failed", "git cat-file failed: its answer was cut off"))
        if kind == b"blob":
            data[place] = output[end + 1 : at - 1]
    return data


def sizes(repo: Repo, objects: Sequence[str]) -> dict[str, int]:
    """Without those that git does not have."""
    asked = "".join(f"{one}\n" for one in objects).encode()
    if not asked:
        return {}
    lines = command.read(repo.path, ["cat-file", "--batch-check"], given=asked).text.splitlines()
    fields = (line.split(" ") for line in lines)
    return {found[0]: int(found[2]) for found in fields if len(found) == 3}


def texts(repo: Repo, objects: Sequence[str]) -> dict[str, bytes]:
    """Of objects that are there."""
    asked = "".join(f"{one}\n" for one in objects).encode()
    if not asked:
        return {}
    output = command.read(repo.path, ["cat-file", "--batch"], given=asked).out
    data, at = dict[str, bytes](), 0
    for one in objects:
        end = output.index(b"\n", at)
        size = int(output[at:end].split(b" ")[2])
        data[one] = output[end + 1 : end + 1 + size]
        at = end + size + 2
    return data


def contents_at_head(repo: Repo, paths: Sequence[str]) -> dict[str, bytes]:
    """While HEAD is the same commit it has the same, so a daemon asks once."""
    commit = commit_by_files(repo)
    return _contents(repo, commit, tuple(paths)) if commit else contents(repo, "HEAD", paths)


@lru_cache(maxsize=16)
def _contents(repo: Repo, commit: str, paths: tuple[str, ...]) -> dict[str, bytes]:
    return contents(repo, commit, paths)


def to_restore(repo: Repo, path: str) -> str:
    """From HEAD, the index, or before the commit that removed it; '' when git never had it."""
    if head(repo) and content(repo, "HEAD", path) is not None:
        return _checkout(repo, path, "HEAD ")
    if tracked(repo, [path]):
        return _checkout(repo, path, "")
    removed = _removed_by(repo, path) if head(repo) else ""
    return _checkout(repo, path, f"{removed[:12]}^ ") if removed else ""


def _removed_by(repo: Repo, path: str) -> str:
    args = ["log", "--max-count=1", "--format=%H", "--diff-filter=D", "--no-renames", "HEAD", "--"]
    output = command.read(repo.path, [*args, *command.literal([path])]).out
    return output.decode("ascii", "replace").strip()


def _checkout(repo: Repo, path: str, source: str) -> str:
    """With a path from the root, it works in every folder of the work tree."""
    from qrspi.core.text.shell_words import quoted

    inside = f"{os.getcwd()}/".startswith(f"{repo.root}/")
    git = "git" if inside else f"git -C {quoted(repo.root)}"
    return f"{git} checkout {source}-- {quoted(f':/{repo.from_root(path)}')}"
