"""A run's files on disk, read so that nothing in the run can lead the reader astray.

Strings and descriptors instead of pathlib: `status --all` opens thousands of small files, and
a descriptor walk is the only way to be sure that no directory on the way is a symlink.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, NamedTuple

from qrspi.core.tree import BODY_LIMIT, FRONTMATTER_LIMIT, Entry, Fault, Kind

HEAD = FRONTMATTER_LIMIT + 64

# O_NONBLOCK: opening a FIFO for reading would wait for a writer that never comes.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DIR_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
ROOT_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

_BLOCK = 16 * 1024  # nearly every file of a run fits
_LARGE = 1024 * 1024
_MOST_HELD = 128  # descriptors that all trees together keep open
_ABSENT = (errno.ENOENT, errno.ENOTDIR)
_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class Held(NamedTuple):
    """A directory kept open."""

    path: str
    fd: int
    device: int
    inode: int


class DiskTree:
    """Implements `core.tree.Tree` for the run directory at `path`; one thread at a time."""

    _held: Held | None = None
    _count: ClassVar[int] = 0

    def __init__(self, path: str | os.PathLike[str], in_git: bool | None = None) -> None:
        self.path = os.fspath(path).rstrip("/") or "/"
        self._in_git = in_git

    def __del__(self) -> None:
        self.let_go()

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def in_git(self) -> bool:
        """Whether some parent has a `.git`; pass the answer to ask once for many runs."""
        if self._in_git is None:
            self._in_git = inside_git(self.path)
        return self._in_git

    def head(self, path: str) -> bytes | Fault:
        return self._load(path, HEAD)

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        data = self._load(path, limit + 1)
        if isinstance(data, Fault) or len(data) <= limit:
            return data
        size = self.size(path)
        return size if isinstance(size, Fault) else Fault("too-large", str(size))

    def size(self, path: str) -> int | Fault:
        fd = self.descriptor(path)
        if isinstance(fd, Fault):
            return fd
        try:
            return os.fstat(fd).st_size
        finally:
            os.close(fd)

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        try:
            fd = self._directory(path)
        except (OSError, ValueError) as error:
            return self._no_directory(path, error)
        try:
            with os.scandir(fd) as listing:
                return tuple(sorted([_entry(Entry, (one.name, _kind(one))) for one in listing]))
        except OSError as error:
            return fault_of(error)
        finally:
            os.close(fd)

    def descriptor(self, path: str) -> int | Fault:
        """A descriptor of a regular file below the run, for the caller to close."""
        try:
            fd = self._open(path)
        except (OSError, ValueError) as error:
            return fault_of(error)
        kind = stat.S_IFMT(os.fstat(fd).st_mode)
        if kind == stat.S_IFREG:
            return fd
        os.close(fd)
        return Fault("not-a-file", _KINDS[kind])

    def let_go(self) -> None:
        """Close what is kept open for speed; the next read opens it again."""
        if self._held:
            os.close(self._held.fd)
            self._held = None
            DiskTree._count -= 1

    def _open(self, path: str) -> int:
        parent, _, name = path.rpartition("/")
        if name in ("", ".", "..") or path.startswith("/"):
            raise ValueError(f"no name of a file: {path!r}")
        if not parent:
            return os.open(f"{self.path}/{name}", FILE_FLAGS)
        fd = self._held_directory(parent)
        try:
            return os.open(name, FILE_FLAGS, dir_fd=fd)
        finally:
            if not self._held:
                os.close(fd)

    def _directory(self, path: str) -> int:
        """A descriptor for the caller to close; folders beside each other share their parent's."""
        parent, _, name = path.rpartition("/")
        if not parent:
            return walk(self.path, path)
        above = self._held_directory(parent)
        try:
            return step_into(above, name)
        finally:
            if not self._held:
                os.close(above)

    def _held_directory(self, path: str) -> int:
        """The directory read last stays open, which halves the cost of a round's findings. It
        serves only while the path still leads to it."""
        if self._held and self._held.path == path:
            now = os.stat(f"{self.path}/{path}")
            if (now.st_dev, now.st_ino) == (self._held.device, self._held.inode):
                return self._held.fd
        self.let_go()
        fd = walk(self.path, path)
        if DiskTree._count < _MOST_HELD:
            found = os.fstat(fd)
            self._held = Held(path, fd, found.st_dev, found.st_ino)
            DiskTree._count += 1
        return fd

    def _load(self, path: str, most: int) -> bytes | Fault:
        fd = self.descriptor(path)
        if isinstance(fd, Fault):
            return fd
        try:
            return _read_up_to(fd, most)
        except OSError as error:
            return fault_of(error)
        finally:
            os.close(fd)

    def _no_directory(self, path: str, error: OSError | ValueError) -> Fault:
        if not isinstance(error, NotADirectoryError):
            return fault_of(error)
        fd = self.descriptor(path)
        if isinstance(fd, Fault):
            return fd
        os.close(fd)
        return Fault("not-a-file", "file")


@contextmanager
def opened(directory: str) -> Iterator[int]:
    fd = os.open(directory, ROOT_FLAGS)
    try:
        yield fd
    finally:
        os.close(fd)


def walk(root: str, path: str) -> int:
    """A descriptor of a directory below `root`, reached without following any symlink."""
    fd = os.open(root, ROOT_FLAGS)
    for part in path.split("/") if path else ():
        try:
            below = step_into(fd, part)
        finally:
            os.close(fd)
        fd = below
    return fd


def step_into(fd: int, part: str) -> int:
    if part in ("", ".", ".."):
        raise ValueError(f"no name of a directory: {part!r}")
    try:
        return os.open(part, DIR_FLAGS, dir_fd=fd)
    except NotADirectoryError:
        # Linux says ENOTDIR of a symlink too, when it is asked for a directory.
        if stat.S_ISLNK(os.stat(part, dir_fd=fd, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part) from None
        raise


def _read_up_to(fd: int, most: int) -> bytes:
    first = os.read(fd, min(most, _BLOCK))
    if len(first) < min(most, _BLOCK) or len(first) == most:
        return first
    parts = [first]
    left = most - len(first)
    while left and (data := os.read(fd, min(left, _LARGE))):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def fault_of(error: OSError | ValueError) -> Fault:
    """Why there are no bytes: a path no file can have is as absent as one that has none."""
    if not isinstance(error, OSError) or error.errno in _ABSENT:
        return Fault("absent")
    if error.errno == errno.ELOOP:
        return Fault("not-a-file", "symlink")
    if error.errno == errno.ENXIO:
        return Fault("not-a-file", "socket")
    return Fault("unreadable", os.strerror(error.errno or 0))


_entry = tuple.__new__  # half the time of Entry(…), and `status --all` makes 200 for each run


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "dir"
    return "link" if entry.is_symlink() else "other"


def inside_git(path: str) -> bool:
    """Whether `path` or a parent of it has a `.git` directory or file."""
    at = os.path.realpath(path)
    while at:
        if os.path.lexists(f"{at}/.git"):
            return True
        at = at.rpartition("/")[0]
    return os.path.lexists("/.git")
