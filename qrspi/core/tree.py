"""A read-only view of one run's files. The disk is one; a dict in a test is another.

Deriving takes a Tree and reads what it needs of it, so nothing is read twice and nothing
is read that the answer does not depend on. Paths are run-relative, with forward slashes.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

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


class Entry(NamedTuple):
    name: str
    kind: Kind


class Tree(Protocol):
    @property
    def name(self) -> str:
        """The run's directory name."""

    @property
    def in_git(self) -> bool: ...

    def head(self, path: str) -> bytes | Fault:
        """The start of a file, enough for its frontmatter and one byte more."""

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault: ...

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        """What a directory holds, sorted by name; '' is the run itself."""


class MemoryTree:
    """Files as a mapping from path to bytes: for tests, simulation and what-if questions."""

    def __init__(
        self, files: Mapping[str, bytes], name: str = "2026-01-01-sample-run", in_git: bool = True
    ) -> None:
        self.name = name
        self.in_git = in_git
        self._files = dict(files)

    def head(self, path: str) -> bytes | Fault:
        data = self.read(path)
        return data if isinstance(data, Fault) else data[: FRONTMATTER_LIMIT + 64]

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        if path not in self._files:
            is_dir = any(name.startswith(path + "/") for name in self._files)
            return Fault("not-a-file", "directory") if is_dir else Fault("absent")
        data = self._files[path]
        return data if len(data) <= limit else Fault("too-large", str(len(data)))

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        prefix = path + "/" if path else ""
        found: dict[str, Kind] = {}
        for name in self._files:
            if name.startswith(prefix):
                first, _, rest = name[len(prefix) :].partition("/")
                found[first] = "dir" if rest else "file"
        if not found and path:
            return Fault("not-a-file", "file") if path in self._files else Fault("absent")
        return tuple(Entry(name, found[name]) for name in sorted(found))
