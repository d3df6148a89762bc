"""The diff that reviewers read. git works in a directory of ours, with our config and our index;
only objects and work tree are the repository's. So nothing that anybody has configured can run or
change a byte: it is never read. Switching settings off is not enough: git cannot unset a diff
driver's pattern, and a work-tree diff runs clean filters even with `--no-ext-diff`."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from qrspi.core.errors import Halt, Refusal
from qrspi.core.hints import Literal
from qrspi.core.model import Problem, Unseen
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import changed_lines, plain_diff
from qrspi.core.text.plain_diff import Contents
from qrspi.core.tree import Fault
from qrspi.world.files import atomic_write
from qrspi.world.files.atomic_write import reporting_errors
from qrspi.world.files.run_tree import FILE_FLAGS, DiskTree, closing, opened
from qrspi.world.git import command
from qrspi.world.git.refs import Ref, check
from qrspi.world.git.repository import Repo, setting_is_off
from qrspi.world.git.tracked_files import Tracked, tracked, untracked_in

SCRATCH = ".qrspi/cache"
_GIT = "diff.git"

# Dirty submodules are left out: git would run `status` with their own config. Everything is text,
# so that no attribute hides a file from its reviewers.
_PLAIN = ("diff", "--text", "--no-ext-diff", "--no-textconv", "--no-color")
_DIFF = (*_PLAIN, "--ignore-submodules=dirty")

# Instead of the attributes that would rewrite the work tree's bytes before the comparison.
_ATTRIBUTES = b"* -text -ident !eol !crlf !filter !working-tree-encoding\n"

_BLOCK = 1024 * 1024
_LINE = plain_diff.LONGEST + 2
_SECOND = 10**9
_UNKNOWN = (0,) * 9


Pair = tuple[str, str]  # two commits: how the second differs from the first
_FILES = ("100644", "100755")  # neither links nor submodules


class DiffResult(NamedTuple):
    ref: str  # as chosen
    ref_commit: str | None  # None for the empty tree
    file: str  # run-relative
    unseen: tuple[Unseen, ...] = ()  # files that not everybody can read as text


class ChangedFile(NamedTuple):
    """As it is afterwards."""

    name: str  # from the root
    mode: str
    object: str

    @property
    def is_file(self) -> bool:
        return self.mode in _FILES


def emit(
    repo: Repo,
    run: str,
    file: str,
    ref: Ref,
    paths: Sequence[str],
    entries: Sequence[Tracked] = (),
) -> DiffResult:
    """`entries` are those of `must_be_tracked`, if it was called before."""
    entries = entries or must_be_tracked(repo, paths)
    _check_kinds(repo, entries)
    rest = ["--", *command.literal(paths)]
    return _emit(repo, run, file, ref, entries, rest, partial(_in_work_tree, repo))


def text(repo: Repo, ref: Ref, paths: Sequence[str]) -> bytes:
    return _read(lambda place: emit(repo, place, _ELSEWHERE, ref, paths))


def text_of_branch(repo: Repo, ref: Ref, tip: str, without: str = "") -> bytes:
    return _read(lambda place: emit_branch(repo, place, _ELSEWHERE, ref, tip, without))


_ELSEWHERE = "shown/since.diff"


def _read(emitted: Callable[[str], DiffResult]) -> bytes:
    """Nothing is written into the run, which may be read-only."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="qrspi-") as place:
        result = emitted(place)
        with open(f"{place}/{result.file}", "rb") as file:
            return file.read()


def must_be_tracked(repo: Repo, paths: Sequence[str]) -> tuple[Tracked, ...]:
    entries = tracked(repo, paths)
    missing = untracked_in(entries, repo, paths)
    if missing:
        first, *rest = missing
        raise Refusal(_untracked(first, _adding(repo, missing)), *map(_untracked, rest))
    return entries


def emit_branch(
    repo: Repo, run: str, file: str, ref: Ref, tip: str, without: str = ""
) -> DiffResult:
    """How the commit `tip` differs from `ref`, except for a folder that is named from the root."""
    check(tip)
    command.check_path(without or ".")
    paths = [":(top)", f":(top,exclude,literal){without}"] if without else []
    rest = [tip, "--", *paths]
    result = _emit(repo, run, file, ref, (), rest, partial(_in_commit, repo, tip))
    left_out = _left_out(f"{run}/{file}")
    return result._replace(unseen=plain_diff.named((*result.unseen, *left_out)))


def names(repo: Repo, pair: Pair, folder: str) -> tuple[str, ...]:
    return tuple(one.name for one in _differing(repo, pair, command.literal([folder])))


def files(repo: Repo, pair: Pair, without: str = "") -> tuple[ChangedFile, ...]:
    """Those that are there afterwards; `without` is a folder, named from the root."""
    command.check_path(without or ".")
    paths = [":(top)", f":(top,exclude,literal){without}"] if without else []
    return tuple(one for one in _differing(repo, pair, paths) if one.mode.strip("0"))


def _differing(repo: Repo, pair: Pair, paths: Sequence[str]) -> Iterator[ChangedFile]:
    for name in pair:
        check(name)
    args = ["diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=none"]
    items = iter(command.read(repo.root, [*args, *pair, "--", *paths]).items)
    for about, name in zip(items, items, strict=True):
        _, mode, _, oid, _ = about.split(" ")
        yield ChangedFile(name, mode, oid)


def unseen(repo: Repo, change: Pair, seen: Sequence[Pair]) -> tuple[str, ...]:
    """The files that differ by a line which no diff of the other pairs has. Where one was renamed
    meanwhile, git says so: a file with the same lines need not be the same file."""
    wanted, known = _lines(repo, change), [_lines(repo, pair) for pair in seen]
    if not changed_lines.unseen(wanted, known):
        return ()
    renamed = (
        changed_lines.as_renamed(there, _lines(repo, (pair[0], change[0])))
        for there, pair in zip(known, seen, strict=True)
    )
    return changed_lines.unseen(wanted, renamed)


def _lines(repo: Repo, pair: Pair) -> changed_lines.Changes:
    for name in pair:
        check(name)
    options = ("-r", "-M", "--text", "--unified=0", "--no-ext-diff", "--no-textconv", "--no-color")
    # A .gitmodules can say that changes of its submodules are not to be shown.
    args = ["diff-tree", *options, "--ignore-submodules=none", "--full-index", "-p", *pair, "--"]
    return changed_lines.read(command.read(repo.path, args).out)


def _left_out(path: str) -> tuple[Unseen, ...]:
    if os.path.getsize(path) <= plain_diff.ROOM:
        return ()
    with open(path, "rb") as file:
        return plain_diff.shown(file.read()).left_out


def _in_work_tree(repo: Repo, name: str) -> bytes | None:
    data = DiskTree(repo.root).read(name)
    return None if isinstance(data, Fault) else data


def _in_commit(repo: Repo, tip: str, name: str) -> bytes | None:
    output = command.read(repo.path, ["cat-file", "blob", f"{tip}:{name}"], ok=(0, 128))
    return None if output.status else output.out


def _emit(
    repo: Repo,
    run: str,
    file: str,
    ref: Ref,
    entries: Sequence[Tracked],
    rest: list[str],
    contents: Contents,
) -> DiffResult:
    parent, _, name = file.rpartition("/")
    with _directory(run, parent) as directory:
        _clear(directory, name)
        with _scratch(repo, run, entries) as place, _whole(directory, name, file) as sink:
            where = [f"--git-dir={place}", f"--work-tree={repo.root}"]
            args = [*where, *_DIFF, "--end-of-options", ref.object, *rest]
            output = command.pour(repo.path, args, _environment(repo, place), sink)
            if output.status:
                raise command.failure("diff", output)
            unseen = _made_plain(sink, contents)
    return DiffResult(ref.name, ref.commit, file, unseen)


def _made_plain(sink: int, contents: Contents) -> tuple[Unseen, ...]:
    """Nearly every diff is plain already, and is only checked."""
    with os.fdopen(os.dup(sink), "rb") as file:
        file.seek(0)
        if all(plain_diff.is_plain(line) for line in iter(lambda: file.readline(_LINE), b"")):
            return ()
        file.seek(0)
        plain = plain_diff.rewrite(file.read(), contents)
    os.lseek(sink, 0, os.SEEK_SET)
    os.ftruncate(sink, 0)
    atomic_write.write_all(sink, plain.text)
    return plain.unseen


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
    with ExitStack() as stack:
        try:
            root = stack.enter_context(opened(run))
            directory = stack.enter_context(atomic_write.below(root, path, make=True))
        except OSError as error:
            raise _system("mkdir", error, path) from None
        yield directory


def _clear(directory: int, name: str) -> None:
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
    except OSError as error:
        raise _system("rm", error, name) from None


@contextmanager
def _whole(directory: int, name: str, file: str) -> Iterator[int]:
    """Not git's `--output`, which reports success when the disk is full."""
    temp = atomic_write.temporary_name(name)
    with reporting_errors(file):
        try:
            with atomic_write.filling(directory, temp) as sink:
                yield sink
            atomic_write.put(directory, temp, name)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=directory)


@contextmanager
def _scratch(repo: Repo, run: str, entries: Sequence[Tracked]) -> Iterator[str]:
    """What git uses as the repository's own directory. One from a killed command is replaced."""
    from shutil import rmtree

    place = os.path.join(run, SCRATCH, _GIT)
    with _directory(run, SCRATCH), reporting_errors(f"{SCRATCH}/{_GIT}"):
        rmtree(place, ignore_errors=True)
        os.mkdir(place)
        try:
            for name in ("refs", "info"):
                os.mkdir(f"{place}/{name}")
            _put(f"{place}/HEAD", b"ref: refs/heads/none\n")
            _put(f"{place}/config", _config(repo))
            _put(f"{place}/info/attributes", _ATTRIBUTES)
            write_index(f"{place}/index", repo, entries)
            yield place
        finally:
            rmtree(place, ignore_errors=True)


def _config(repo: Repo) -> bytes:
    """What is true of the file system, and nobody's preferences."""
    lines = ["[core]", f"repositoryformatversion = {int(repo.hash == 'sha256')}"]
    lines += [f"{key} = false" for key in ("filemode", "symlinks") if setting_is_off(repo, key)]
    if repo.hash == "sha256":
        lines += ["[extensions]", "objectformat = sha256"]
    return "\n".join([*lines, ""]).encode()


def _put(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)


class _Seen(NamedTuple):
    object: str
    numbers: tuple[int, ...]


def write_index(path: str, repo: Repo, entries: Sequence[Tracked]) -> None:
    """Not a copy of the repository's index, which may say `assume-unchanged`, be split or sparse,
    and only knows bytes as the filters left them. With the files' sizes and times git does not hash
    them again, except those that are newer than the index."""
    begin = time.time_ns() - _SECOND
    _put(path, _index(repo, entries))
    # A file that changes from now on is newer than the index, so git does not trust the index.
    os.utime(path, ns=(begin, begin))


def _index(repo: Repo, entries: Sequence[Tracked]) -> bytes:
    unique = {os.fsencode(entry.name): entry for entry in entries}
    body = [b"DIRC" + struct.pack(">II", 2, len(unique))]
    body += (_record(repo, name, entry) for name, entry in sorted(unique.items()))
    data = b"".join(body)
    return data + hashlib.new(repo.hash, data).digest()


def _record(repo: Repo, name: bytes, entry: Tracked) -> bytes:
    seen = _look(os.path.join(repo.root, entry.name), repo.hash)
    oid, numbers = seen or _Seen(entry.object, _UNKNOWN)
    *times, device, inode, user, group, size = numbers
    fields = (*times, device, inode, int(entry.mode, 8), user, group, size)
    flags = struct.pack(">H", min(len(name), 0xFFF))
    record = struct.pack(">10I", *fields) + bytes.fromhex(oid) + flags + name
    return record + bytes(8 - len(record) % 8)


def _look(path: str, algorithm: str) -> _Seen | None:
    """None for anything but a readable regular file: git then looks for itself."""
    try:
        fd = os.open(path, FILE_FLAGS)
    except OSError:
        return None
    with closing(fd):
        info = os.fstat(fd)
        oid = _blob(fd, info.st_size, algorithm) if stat.S_ISREG(info.st_mode) else None
    return _Seen(oid, _numbers(info)) if oid else None


def _blob(fd: int, size: int, algorithm: str) -> str | None:
    digest = hashlib.new(algorithm, b"blob %d\0" % size)
    block = memoryview(bytearray(min(_BLOCK, size + 1)))
    while count := os.readv(fd, [block]):
        digest.update(block[:count])
        size -= count
    return digest.hexdigest() if size == 0 else None


def _numbers(info: os.stat_result) -> tuple[int, ...]:
    changed, modified = (divmod(ns, _SECOND) for ns in (info.st_ctime_ns, info.st_mtime_ns))
    rest = (info.st_dev, info.st_ino, info.st_uid, info.st_gid, info.st_size)
    return tuple(number & 0xFFFFFFFF for number in (*changed, *modified, *rest))


def _check_kinds(repo: Repo, entries: Sequence[Tracked]) -> None:
    """If a pipe has taken a file's place, git would open it and wait for ever."""
    for entry in entries:
        try:
            mode = os.lstat(os.path.join(repo.root, entry.name)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
            text = f"{entry.name} is a pipe, a socket or a device: expected a regular file"
            raise Halt(Problem("not-a-file", text, entry.name, expected="a regular file"))


def _adding(repo: Repo, paths: Sequence[str]) -> str:
    """A shell command for the current folder: paths are relative to it, if it is in the project."""
    from qrspi.core.text.shell_words import quoted

    place = repo.path if len(paths) > 1 else f"{repo.path}/{paths[0]}"
    if f"{os.getcwd()}/".startswith(f"{repo.root}/"):
        return f"git add -- {quoted(os.path.relpath(place))}"
    return f"git -C {quoted(repo.root)} add -- {quoted(os.path.relpath(place, repo.root))}"


def _untracked(path: str, hint: str = "") -> Problem:
    text = f"artifact {path} is untracked — commit before reviewer dispatch"
    expected = "tracked by git"
    return Problem("untracked-artifact", text, path, "", "untracked", expected, hint)


def _system(verb: Literal["mkdir", "rm"], error: OSError, file: str) -> Halt:
    message = f"{verb} exited {error.errno}: {os.strerror(error.errno or 0)}"
    return Halt(Problem("mkdir-failed" if verb == "mkdir" else "rm-failed", message, file=file))
