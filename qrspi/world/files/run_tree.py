"""A run's files on disk, read so that nothing in the run can mislead the reader. Only a walk by
descriptors makes sure that no directory on the way is a symlink."""

import errno
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import itemgetter

from qrspi.core.hints import ClassVar
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import (
    BODY_LIMIT,
    FRONTMATTER_LIMIT,
    Earlier,
    Entry,
    Fault,
    Kind,
    Rows,
    Vouched,
    one_by_one,
)

HEAD = FRONTMATTER_LIMIT + 64

# O_NONBLOCK: opening a FIFO for reading would wait for a writer that never comes.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DIR_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
ROOT_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

_BLOCK = 16 * 1024
_LARGE = 16 * 1024 * 1024  # the kernel gives only the memory that is filled
_MOST_HELD = 128  # descriptors that all trees together keep open
_ABSENT = (errno.ENOENT, errno.ENOTDIR)
_REGULAR = stat.S_IFREG
_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class HeldFolder(NamedTuple):
    path: str
    fd: int
    identity: tuple[int, int] | None  # device and inode; a glance does not ask


class DiskTree:
    """Implements `core.tree.Tree` for the run directory at `path`; one thread at a time."""

    _all_held: ClassVar[set[int]] = set()  # of all trees; threads read runs side by side

    def __init__(
        self, path: str | os.PathLike[str], in_git: bool | None = None, *, glance: bool = False
    ) -> None:
        """A `glance` is for one derivation: it looks up no directory twice."""
        self._held: list[HeldFolder] = []  # from the run down to the directory read last
        self._glance = glance
        self.path = os.fspath(path).rstrip("/") or "/"
        self._in_git = in_git

    def __del__(self) -> None:
        self.let_go()

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def place(self) -> str:
        return self.path

    @property
    def in_git(self) -> bool:
        if self._in_git is None:
            self._in_git = inside_git(self.path)
        return self._in_git

    @property
    def decides(self) -> bool:
        return False

    def head(self, path: str) -> bytes | Fault:
        return self._load(path, HEAD)

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        data = self._load(path, limit + 1, whole=True)
        if isinstance(data, Fault) or len(data) <= limit:
            return data
        size = self.size(path)
        return size if isinstance(size, Fault) else Fault("too-large", str(size), limit)

    def read_each(
        self, folder: str, names: Sequence[str], limit: int = BODY_LIMIT
    ) -> list[bytes | Fault]:
        """A glance opens their folder once, and takes its listing's word that they are files: half
        the time for the texts of a run."""
        if not (self._glance and folder):
            return one_by_one(self, folder, names, limit)
        try:
            place = self._held_directory(folder)
        except OSError:
            return one_by_one(self, folder, names, limit)
        most = min(limit + 1, _BLOCK)
        small = [_small(place, name, most) for name in names]
        pairs = zip(names, small, strict=True)
        return [data or self.read(f"{folder}/{name}", limit) for name, data in pairs]

    def tail(self, path: str, size: int) -> bytes | Fault:
        fd = self.descriptor(path)
        if isinstance(fd, Fault):
            return fd
        try:
            os.lseek(fd, max(os.fstat(fd).st_size - size, 0), os.SEEK_SET)
            return _with_rest(fd, b"", size)
        except OSError as error:
            return fault_of(error)
        finally:
            os.close(fd)

    def size(self, path: str) -> int | Fault:
        fd = self.descriptor(path)
        if isinstance(fd, Fault):
            return fd
        with closing(fd):
            return os.fstat(fd).st_size

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        try:
            listing = os.scandir(self._held_directory(path) if path else self.path)
        except (OSError, ValueError) as error:
            return self._no_directory(path, error)
        finally:
            if len(DiskTree._all_held) > _MOST_HELD:
                self.let_go()
        try:
            with listing:
                return tuple(sorted(map(_entry, listing), key=_name))
        except OSError as error:
            return fault_of(error)

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        # Imported here: few runs have a database.
        from qrspi.world.files import orchestration_db

        return orchestration_db.answers(self.path, path, *queries)

    def knows(self, path: str) -> bool:
        """This tree knows nothing of git; `world.runs.committed_tree` does."""
        return False

    def to_restore(self, path: str) -> str:
        return ""

    def committed(self, path: str, *, glance: bool = False) -> bytes | None:
        return None

    def earlier(self, path: str, digests: Collection[str]) -> tuple[Earlier, ...]:
        return ()

    def on_branch(self, paths: Sequence[str]) -> tuple[str, frozenset[str]]:
        return "", frozenset()

    def code_since(self, commit: str, branch: str, place: str) -> tuple[str, ...]:
        return ()

    def signed(self, line: str) -> bool:
        return False

    def vouched(self, path: str) -> Vouched | None:
        return None

    def descriptor(self, path: str) -> int | Fault:
        """A descriptor of a regular file below the run, for the caller to close."""
        try:
            fd = self._open(path)
        except (OSError, ValueError) as error:
            return fault_of(error)
        kind = stat.S_IFMT(os.fstat(fd).st_mode)
        if kind == _REGULAR:
            return fd
        os.close(fd)
        return Fault("not-a-file", _KINDS[kind])

    def let_go(self) -> None:
        while self._held:
            self._close_last()

    def _open(self, path: str) -> int:
        parent, _, name = path.rpartition("/")
        if name in ("", ".", "..") or path.startswith("/"):
            raise ValueError(f"no name of a file: {path!r}")
        if not parent:
            return os.open(f"{self.path}/{name}", FILE_FLAGS)
        if self._glance and self._held and self._held[-1].path == parent:
            return os.open(name, FILE_FLAGS, dir_fd=self._held[-1].fd)
        try:
            return os.open(name, FILE_FLAGS, dir_fd=self._held_directory(parent))
        finally:
            if len(DiskTree._all_held) > _MOST_HELD:
                self.let_go()

    def _held_directory(self, path: str) -> int:
        """Kept open, which halves the cost of a round; used while its path still leads to it."""
        for held in self._held:
            if held.path == path and self._leads_to(held):
                return held.fd
        return self._walk(path)

    def _walk(self, path: str) -> int:
        held = self._held
        while held and not path.startswith(f"{held[-1].path}/"):
            self._close_last()
        if held and not self._leads_to(held[-1]):
            self.let_go()
        rest = path[len(held[-1].path) + 1 :] if held else path
        for part in rest.split("/"):
            self._enter(part)
        return held[-1].fd

    def _enter(self, part: str) -> None:
        if self._held:
            above = self._held[-1]
            path, fd = f"{above.path}/{part}", step_into(above.fd, part)
        else:
            path, fd = part, step_into(None, part, f"{self.path}/")
        self._held.append(HeldFolder(path, fd, None if self._glance else _identity(os.fstat(fd))))
        DiskTree._all_held.add(fd)

    def _leads_to(self, held: HeldFolder) -> bool:
        return self._glance or _identity(os.lstat(f"{self.path}/{held.path}")) == held.identity

    def _close_last(self) -> None:
        fd = self._held.pop().fd
        DiskTree._all_held.discard(fd)
        os.close(fd)

    def _load(self, path: str, most: int, *, whole: bool = False) -> bytes | Fault:
        fd = self.descriptor(path)
        if isinstance(fd, Fault):
            return fd
        try:
            # Nearly every file fits into the first block.
            first = os.read(fd, most if most < _BLOCK else _BLOCK)
            if len(first) < _BLOCK:
                return first
            size = os.fstat(fd).st_size  # a file that is too large is not read to its end
            if whole and size >= most:
                return Fault("too-large", str(size), most - 1)
            return _with_rest(fd, first, most)
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


def _identity(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino


@contextmanager
def closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


def not_waiting(path: str, flags: int) -> int:
    """For `open`: a FIFO would wait for a writer that never comes, a terminal for a person."""
    return os.open(path, flags | os.O_NONBLOCK)


def opened(directory: str) -> AbstractContextManager[int]:
    return closing(os.open(directory, ROOT_FLAGS))


def step_into(fd: int | None, part: str, above: str = "") -> int:
    if part in ("", ".", ".."):
        raise ValueError(f"no name of a directory: {part!r}")
    place = above + part
    try:
        return os.open(place, DIR_FLAGS, dir_fd=fd)
    except NotADirectoryError:
        # Linux reports ENOTDIR for a symlink too, when a directory is wanted.
        if stat.S_ISLNK(os.stat(place, dir_fd=fd, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part) from None
        raise


def _small(place: int, name: str, most: int) -> bytes:
    """The content of a file that is shorter than this, as nearly every file is. Nothing for any
    other, nor where there is no file that can be read."""
    try:
        fd = os.open(name, FILE_FLAGS, dir_fd=place)
    except OSError:
        return b""
    try:
        data = os.read(fd, most)
    except OSError:
        return b""
    finally:
        os.close(fd)
    return data if len(data) < most else b""


def _with_rest(fd: int, first: bytes, most: int) -> bytes:
    parts = [first]
    left = most - len(first)
    while left and (data := os.read(fd, min(left, _LARGE))):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def fault_of(error: OSError | ValueError) -> Fault:
    """Why there are no bytes. A path that no file can have counts as absent."""
    if not isinstance(error, OSError) or error.errno in _ABSENT:
        return Fault("absent")
    if error.errno == errno.ELOOP:
        return Fault("not-a-file", "symlink")
    if error.errno == errno.ENXIO:
        return Fault("not-a-file", "socket")
    return Fault("unreadable", os.strerror(error.errno or 0))


_name = itemgetter(0)
_new = tuple.__new__  # half the time of Entry(…), and `status --all` makes 80 for each run


def _entry(one: os.DirEntry[str]) -> Entry:
    kind = "file" if one.is_file(follow_symlinks=False) else _other_kind(one)
    return _new(Entry, (one.name, kind))


def _other_kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_dir(follow_symlinks=False):
        return "dir"
    return "link" if entry.is_symlink() else "other"


def inside_git(path: str) -> bool:
    at = os.path.realpath(path)
    while at:
        if os.path.lexists(f"{at}/.git"):
            return True
        at = at.rpartition("/")[0]
    return os.path.lexists("/.git")
