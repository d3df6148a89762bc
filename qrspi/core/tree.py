"""A read-only view of one run's files. The disk is one; a dict in a test is another. Paths are
run-relative, with forward slashes."""

from collections.abc import Collection, Mapping, Sequence

from qrspi.core.hints import Any, Literal, Protocol
from qrspi.core.named_tuple import NamedTuple

FRONTMATTER_LIMIT = 64 * 1024
CONFIG_LIMIT = 256 * 1024
FINDING_LIMIT = 256 * 1024
BODY_LIMIT = 128 * 1024 * 1024
ROUND_FILES_LIMIT = 5000

Kind = Literal["file", "dir", "link", "other"]


class Fault(NamedTuple):
    """Why there are no bytes. Absent and unreadable are never the same thing."""

    kind: Literal["absent", "not-a-file", "unreadable", "too-large"]
    detail: str = ""
    limit: int = 0  # of bytes, for a file that is too large

    @property
    def found(self) -> str:
        """What is there instead of bytes: "a symlink", "10,000,000 bytes"."""
        match self.kind:
            case "absent":
                return "nothing"
            case "not-a-file":
                return f"a {self.detail}" if self.detail else "no regular file"
            case "too-large":
                return f"{int(self.detail):,} bytes" if self.detail else "too many bytes"
            case "unreadable":
                return self.detail or "nobody knows what"

    @property
    def expected(self) -> str:
        return f"at most {self.limit:,} bytes" if self.limit else "a regular file"

    @property
    def reason(self) -> str:
        """The words after "cannot be read: "."""
        match self.kind:
            case "absent":
                return "it is not there"
            case "not-a-file":
                return f"it is a {self.detail}" if self.detail else "it is not a regular file"
            case "too-large":
                most = f", expected {self.expected}" if self.limit else ""
                return f"it is too large, {self.found}{most}" if self.detail else "it is too large"
            case "unreadable":
                return self.detail or "nobody knows why"


class Entry(NamedTuple):
    name: str
    kind: Kind


Rows = tuple[tuple[Any, ...], ...]


class Earlier(NamedTuple):
    digest: str  # sha256
    data: bytes
    commit: str
    branch: str = ""  # that has it, in words


class Vouched(NamedTuple):
    """What git says of who wrote the lines of a log."""

    names: frozenset[str]
    signs: bool  # whether any commit of the engine names lines of it


class Tree(Protocol):
    @property
    def name(self) -> str:
        """The run's directory name."""

    @property
    def place(self) -> str:
        """The run's directory, as a command names it."""

    @property
    def in_git(self) -> bool: ...

    @property
    def decides(self) -> bool:
        """Whether things are done by what is derived from it, so that git is asked more."""

    def head(self, path: str) -> bytes | Fault:
        """The start of a file, enough for its frontmatter and one byte more."""

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault: ...

    def read_each(
        self, folder: str, names: Sequence[str], limit: int = BODY_LIMIT
    ) -> list[bytes | Fault]:
        """What `read` finds of files that a listing of their folder has."""

    def tail(self, path: str, size: int) -> bytes | Fault:
        """The last bytes of a file, all of a shorter one: for logs, which have no end."""

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        """What a directory holds, sorted by name; '' is the run itself."""

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        """What a database of the run answers to queries, all about the same moment."""

    def knows(self, path: str) -> bool:
        """Whether git has the file, in its last commit or in its index."""

    def to_restore(self, path: str) -> str:
        """The command by which git restores a lost file; '' when git never had it."""

    def committed(self, path: str, *, glance: bool = False) -> bytes | None:
        """What the last commit has of a file. At a `glance` git is not asked, and None given, while
        its index shows that nothing of the file is gone."""

    def earlier(self, path: str, digests: Collection[str]) -> tuple[Earlier, ...]:
        """What git has of a file, in any commit that it still knows, with one of these hashes; the
        newest first."""

    def on_branch(self, paths: Sequence[str]) -> tuple[str, frozenset[str]]:
        """The one branch, checked out nowhere, that has most of some files, and those it has."""

    def code_since(self, commit: str, branch: str, place: str) -> tuple[str, ...]:
        """What changed in the code after a commit, a line each; '' for the branch that is checked
        out, and where the code lies beside the run. Nothing where nobody can tell."""

    def signed(self, line: str) -> bool:
        """Whether a commit about this run ends with this line, which the engine puts there."""

    def vouched(self, path: str) -> Vouched | None:
        """The lines of a log that commits of the engine brought. None where git knows nothing."""


def entries(tree: Tree, path: str) -> tuple[Entry, ...]:
    """For a caller that treats a folder that cannot be listed as an empty one."""
    listed = tree.entries(path)
    return () if isinstance(listed, Fault) else listed


def content(tree: Tree, path: str, limit: int = BODY_LIMIT) -> bytes:
    """For a caller that treats a file that cannot be read as an empty one."""
    data = tree.read(path, limit)
    return b"" if isinstance(data, Fault) else data


def one_by_one(
    tree: Tree, folder: str, names: Sequence[str], limit: int = BODY_LIMIT
) -> list[bytes | Fault]:
    """For a tree that has no faster way to read several files."""
    return [tree.read(f"{folder}/{name}" if folder else name, limit) for name in names]


def exists(tree: Tree, path: str) -> bool:
    """Whether anything stands there, readable or not."""
    data = tree.head(path)
    return not (isinstance(data, Fault) and data.kind == "absent")


class TreeOver:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @property
    def name(self) -> str:
        return self._tree.name

    @property
    def place(self) -> str:
        return self._tree.place

    @property
    def in_git(self) -> bool:
        return self._tree.in_git

    @property
    def decides(self) -> bool:
        return self._tree.decides

    read_each = one_by_one

    def tail(self, path: str, size: int) -> bytes | Fault:
        return self._tree.tail(path, size)

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        return self._tree.rows(path, *queries)

    def knows(self, path: str) -> bool:
        return self._tree.knows(path)

    def to_restore(self, path: str) -> str:
        return self._tree.to_restore(path)

    def committed(self, path: str, *, glance: bool = False) -> bytes | None:
        return self._tree.committed(path, glance=glance)

    def earlier(self, path: str, digests: Collection[str]) -> tuple[Earlier, ...]:
        return self._tree.earlier(path, digests)

    def on_branch(self, paths: Sequence[str]) -> tuple[str, frozenset[str]]:
        return self._tree.on_branch(paths)

    def code_since(self, commit: str, branch: str, place: str) -> tuple[str, ...]:
        return self._tree.code_since(commit, branch, place)

    def signed(self, line: str) -> bool:
        return self._tree.signed(line)

    def vouched(self, path: str) -> Vouched | None:
        return self._tree.vouched(path)


class MemoryTree:
    """Files as a mapping from path to bytes: for tests, simulations and what-if questions."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        name: str = "2026-01-01-sample-run",
        in_git: bool = True,
        signs: bool = True,
    ) -> None:
        """`signs`: what `signed` answers to every line."""
        self.name = name
        self.place = f"docs/qrspi/{name}"
        self.in_git = in_git
        self.decides = False
        self._signs = signs
        self._files = dict(files)

    def head(self, path: str) -> bytes | Fault:
        data = self.read(path)
        return data if isinstance(data, Fault) else data[: FRONTMATTER_LIMIT + 64]

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        if path not in self._files:
            is_dir = any(name.startswith(path + "/") for name in self._files)
            return Fault("not-a-file", "directory") if is_dir else Fault("absent")
        data = self._files[path]
        return data if len(data) <= limit else Fault("too-large", str(len(data)), limit)

    read_each = one_by_one

    def tail(self, path: str, size: int) -> bytes | Fault:
        data = self.read(path)
        return data if isinstance(data, Fault) else data[-size:]

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        prefix = path + "/" if path else ""
        kinds: dict[str, Kind] = {}
        for name in self._files:
            if name.startswith(prefix):
                first, _, rest = name[len(prefix) :].partition("/")
                kinds[first] = "dir" if rest else "file"
        if not kinds and path:
            return Fault("not-a-file", "file") if path in self._files else Fault("absent")
        return tuple(Entry(name, kinds[name]) for name in sorted(kinds))

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        return Fault("unreadable", "is in no folder") if path in self._files else Fault("absent")

    def knows(self, path: str) -> bool:
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
        return self._signs

    def vouched(self, path: str) -> Vouched | None:
        return None
