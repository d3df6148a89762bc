"""Whole files or none: a temporary file beside the target is filled, synced, then renamed. All by
descriptors, so that no symlink can be slipped in between. Failures are OSErrors until
`reporting_errors` names the file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from qrspi.core import patterns
from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import entries
from qrspi.world.files.run_tree import DiskTree, closing, opened, step_into

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LARGEST = 256 * 1024 * 1024  # of what is replaced: none of our files comes near it
# No hard links on FAT, some network and some FUSE file systems.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

_LEFTOVER = r"\..*\.qrspi-[0-9a-f]{16}\.tmp"
# phases/phase-01/reviews/tasks/task-01/round-01 is the deepest folder the engine writes to.
_DEEPEST = 6

_MINE = os.urandom(4).hex()  # of this process


@contextmanager
def reporting_errors(path: str, absent_is_fine: bool = False) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if absent_is_fine and isinstance(error, FileNotFoundError):
            raise
        if error.errno == errno.ELOOP:
            raise Refusal(_symlink(path)) from None
        message = f"cannot write {path}: {error.strerror}"
        found, expected = error.strerror or "", "a file and a folder that can be written"
        raise Halt(Problem("cannot-write", message, path, "", found, expected)) from None
    except ValueError:
        text = f"{path!r} names no file inside the run: nothing is written elsewhere"
        expected = "a path below the run, without `..`"
        raise Refusal(Problem("outside-the-run", text, path, expected=expected)) from None


def _symlink(path: str) -> Problem:
    text = f"{path} is a symlink or lies below one: the engine never writes through a symlink"
    expected = "a file in the run's own directory"
    return Problem("symlink", text, path, found="a symlink", expected=expected)


@contextmanager
def below(directory: int, path: str, make: bool) -> Iterator[int]:
    """A descriptor of a directory below another, reached through no symlink."""
    fd = os.dup(directory)
    try:
        for part in path.split("/") if path else ():
            inner = enter(fd, part, make)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def enter(directory: int, name: str, make: bool) -> int:
    try:
        return step_into(directory, name)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)
    sync(directory)
    return step_into(directory, name)


def temporary_name(name: str) -> str:
    return f".{name[:40]}.qrspi-{_MINE}{os.urandom(4).hex()}.tmp"


def is_mine(name: str) -> bool:
    return f".qrspi-{_MINE}" in name and is_leftover(name)


def is_leftover(name: str) -> bool:
    return ".qrspi-" in name and patterns.fullmatch(_LEFTOVER, name) is not None


@contextmanager
def temporary(directory: int, name: str, data: bytes, mode: int | None = None) -> Iterator[str]:
    """A synced file beside `name`, removed at the end unless it was renamed."""
    temp = temporary_name(name)
    try:
        fill(directory, temp, data, mode)
        yield temp
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=directory)


def fill(directory: int, name: str, data: bytes, mode: int | None = None) -> None:
    with filling(directory, name) as fd:
        write_all(fd, data)
        if mode is not None:
            os.fchmod(fd, mode)


@contextmanager
def filling(directory: int, name: str) -> Iterator[int]:
    with closing(os.open(name, _NEW, 0o666, dir_fd=directory)) as fd:
        yield fd
        os.fsync(fd)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def replace(directory: int, name: str, data: bytes, mode: int | None = None) -> None:
    with temporary(directory, name, data, mode) as temp:
        put(directory, temp, name)


def put(directory: int, temp: str, name: str) -> None:
    os.replace(temp, name, src_dir_fd=directory, dst_dir_fd=directory)
    sync(directory)


def put_new(directory: int, temp: str, name: str) -> None:
    """Fails with FileExistsError when anything has the name."""
    link_new(directory, temp, name)
    sync(directory)


def link_new(directory: int, temp: str, name: str) -> None:
    try:
        os.link(temp, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if exists(directory, name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        os.replace(temp, name, src_dir_fd=directory, dst_dir_fd=directory)


def sync(directory: int) -> None:
    try:
        os.fsync(directory)
    except OSError as error:
        # Some network and FUSE file systems cannot sync a directory and say EINVAL.
        if error.errno != errno.EINVAL:
            raise


def exists(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_regular(directory: int, name: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    safe = flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(name, safe, mode, dir_fd=directory)
    kind = os.fstat(fd).st_mode
    if stat.S_ISREG(kind):
        return fd
    os.close(fd)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    raise OSError(errno.EINVAL, "Not a regular file", name)


class Present(NamedTuple):
    sha: str
    mode: int


def write_named(path: str, data: bytes) -> None:
    folder, name = os.path.split(os.path.abspath(path))
    with reporting_errors(path), opened(folder) as directory:
        replace(directory, name, data)


def present(directory: int, name: str) -> Present | None:
    try:
        fd = open_regular(directory, name)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb", buffering=0) as file:
        found = os.fstat(fd)
        if found.st_size > _LARGEST:
            raise OSError(errno.EFBIG, f"what is there is of {found.st_size} bytes", name)
        from hashlib import file_digest

        return Present(file_digest(file, "sha256").hexdigest(), stat.S_IMODE(found.st_mode))


def sha256(data: bytes) -> str:
    from hashlib import sha256 as new_digest  # loads OpenSSL, which no reader of a log needs

    return new_digest(data).hexdigest()


def sweep(directory: int, depth: int = _DEEPEST) -> None:
    """The caller holds the lock that the writers of temporary files would need."""
    with os.scandir(directory) as listing:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    for name, is_directory in listed:
        # We can have left nothing in a folder that is gone or that we cannot enter.
        with suppress(FileNotFoundError, PermissionError):
            if is_directory and depth:
                with closing(step_into(directory, name)) as below_it:
                    sweep(below_it, depth - 1)
            elif not is_directory and is_leftover(name):
                os.unlink(name, dir_fd=directory)


def leftovers(tree: DiskTree, folder: str = "", depth: int = 8) -> list[str]:
    paths = []
    for entry in entries(tree, folder):
        path = f"{folder}/{entry.name}".lstrip("/")
        if is_leftover(entry.name):
            paths.append(path)
        elif entry.kind == "dir" and depth:
            paths += leftovers(tree, path, depth - 1)
    return paths


def is_writable(folder: str) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)
