"""The diff that reviewers read.

git is pointed at a directory of ours that holds no config, no refs and no hooks, only an index
of the artifact's files, while objects and work tree are the repository's. So nothing that the
repository, the user or the system has configured can run or change a byte: it is never read.
Switching settings off one by one is not enough, since git has no way to unset a diff driver's
pattern, and a work-tree diff runs clean filters even with `--no-ext-diff`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.world.files import atomic_write as atomic
from qrspi.world.files.run_tree import opened, step_into
from qrspi.world.files.write_errors import worded
from qrspi.world.git import command as git
from qrspi.world.git import true_index as index
from qrspi.world.git.refs import Ref, check
from qrspi.world.git.repository import Repo, Tracked, setting_is_off, tracked, untracked_in
from qrspi.world.runs.locate import RUNS

SCRATCH = ".qrspi/cache"
_GIT = "diff.git"

# Dirty submodules are left out: to know of them git would run `status` with their own config.
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")

# In place of the attributes that would rewrite the work tree's bytes before they are compared.
_ATTRIBUTES = b"* -text -ident !eol !crlf !filter !working-tree-encoding\n"


class DiffResult(NamedTuple):
    ref: str  # as chosen
    ref_commit: str | None  # None for the empty tree
    file: str  # run-relative


def emit(
    repo: Repo,
    run: str,
    file: str,
    ref: Ref,
    paths: Sequence[str],
    entries: Sequence[Tracked] = (),
) -> DiffResult:
    """Write what the work tree's bytes at `paths` differ in from `ref` to `file` in the run.
    `entries` are those of `must_be_tracked`, if it was asked before."""
    entries = entries or must_be_tracked(repo, paths)
    _check_kinds(repo, entries)
    return _emit(repo, run, file, ref, entries, ["--", *git.literal(paths)])


def text(repo: Repo, ref: Ref, paths: Sequence[str]) -> bytes:
    """The same, to be shown: nothing is written into the run, which may be read-only."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="qrspi-") as place:
        done = emit(repo, place, "shown/since.diff", ref, paths)
        with open(f"{place}/{done.file}", "rb") as file:
            return file.read()


def must_be_tracked(repo: Repo, paths: Sequence[str]) -> tuple[Tracked, ...]:
    """The entries of the index for these paths; refused when one has none."""
    entries = tracked(repo, paths)
    missing = untracked_in(entries, repo, paths)
    if missing:
        raise Refusal(*(_untracked(path, _committing(repo, missing)) for path in missing))
    return entries


def emit_branch(repo: Repo, run: str, file: str, ref: Ref, tip: str) -> DiffResult:
    """Write everything that the commit `tip` differs in from `ref` to `file` in the run."""
    check(tip)
    return _emit(repo, run, file, ref, (), [tip, "--"])


def _emit(
    repo: Repo, run: str, file: str, ref: Ref, entries: Sequence[Tracked], rest: list[str]
) -> DiffResult:
    parent, _, name = file.rpartition("/")
    with _directory(run, parent) as directory:
        _clear(directory, name)
        with _scratch(repo, run, entries) as place, _whole(directory, name, file) as sink:
            where = [f"--git-dir={place}", f"--work-tree={repo.root}"]
            args = [*where, *_DIFF, "--end-of-options", ref.object, *rest]
            output = git.pour(repo.path, args, _environment(repo, place), sink)
            if output.status:
                raise git.failure("diff", output)
    return DiffResult(ref.name, ref.commit, file)


def _environment(repo: Repo, place: str) -> dict[str, str]:
    return {
        "GIT_OBJECT_DIRECTORY": f"{repo.common_dir}/objects",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "HOME": place,  # the user's own attributes are looked for here and in the next
        "XDG_CONFIG_HOME": place,
    }


@contextmanager
def _directory(run: str, path: str) -> Iterator[int]:
    """A directory of the run, made when it is not there, and never reached through a symlink."""
    try:
        with opened(run) as root:
            fd = os.dup(root)
        for part in path.split("/"):
            below = _enter(fd, part)
            os.close(fd)
            fd = below
    except OSError as error:
        raise _system("mkdir", error, path) from None
    try:
        yield fd
    finally:
        os.close(fd)


def _enter(directory: int, part: str) -> int:
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=directory)
        atomic.sync(directory)
    return step_into(directory, part)


def _clear(directory: int, name: str) -> None:
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
    except OSError as error:
        raise _system("rm", error, name) from None


@contextmanager
def _whole(directory: int, name: str, file: str) -> Iterator[int]:
    """Not git's `--output`, which reports success when the disk is full."""
    temp = atomic.temporary_name(name)
    with worded(file):
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            sink = os.open(temp, flags, 0o666, dir_fd=directory)
            try:
                yield sink
                os.fsync(sink)
            finally:
                os.close(sink)
            atomic.put(directory, temp, name)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=directory)


@contextmanager
def _scratch(repo: Repo, run: str, entries: Sequence[Tracked]) -> Iterator[str]:
    """The directory that git takes for the repository's own. A killed command's is replaced."""
    from shutil import rmtree

    place = os.path.join(run, SCRATCH, _GIT)
    with _directory(run, SCRATCH), worded(f"{SCRATCH}/{_GIT}"):
        rmtree(place, ignore_errors=True)
        os.mkdir(place)
        try:
            for name in ("refs", "info"):
                os.mkdir(f"{place}/{name}")
            for name, data in _contents(repo):
                _put(f"{place}/{name}", data)
            index.put(f"{place}/index", repo, entries)
            yield place
        finally:
            rmtree(place, ignore_errors=True)


def _contents(repo: Repo) -> list[tuple[str, bytes]]:
    return [
        ("HEAD", b"ref: refs/heads/none\n"),
        ("config", _config(repo)),
        ("info/attributes", _ATTRIBUTES),
    ]


def _config(repo: Repo) -> bytes:
    """What is true of the file system stays true; no taste of anyone's is in it."""
    lines = ["[core]", f"repositoryformatversion = {int(repo.hash == 'sha256')}"]
    lines += [f"{key} = false" for key in ("filemode", "symlinks") if setting_is_off(repo, key)]
    if repo.hash == "sha256":
        lines += ["[extensions]", "objectformat = sha256"]
    return "\n".join([*lines, ""]).encode()


def _put(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)


def _check_kinds(repo: Repo, entries: Sequence[Tracked]) -> None:
    """git opens a pipe that stands in a file's place and waits for its writer for ever."""
    for entry in entries:
        try:
            mode = os.lstat(os.path.join(repo.root, entry.name)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
            raise Halt(
                Problem(
                    "not-a-file",
                    f"{entry.name} is a pipe, a socket or a device: expected a regular file",
                    file=entry.name,
                    expected="a regular file",
                )
            )


def _committing(repo: Repo, paths: Sequence[str]) -> str:
    """A line for a shell in the project, or anywhere when the run lies in no docs/qrspi."""
    from shlex import quote

    project, _, run = repo.path.rpartition(f"/{RUNS}/")
    folder = f"{RUNS}/{run}" if project else repo.path
    names = " ".join(quote(f"{folder}/{path}") for path in paths)
    message = quote(f"Add {', '.join(paths)}")
    return f"git add -- {names} && git commit -m {message} -- {names}"


def _untracked(path: str, hint: str) -> Problem:
    return Problem(
        "untracked-artifact",
        f"artifact {path} is untracked — commit before reviewer dispatch",
        file=path,
        found="untracked",
        expected="tracked by git",
        hint=hint,
    )


def _system(verb: str, error: OSError, file: str) -> Halt:
    message = f"{verb} exited {error.errno}: {os.strerror(error.errno or 0)}"
    return Halt(Problem(f"{verb}-failed", message, file=file))
