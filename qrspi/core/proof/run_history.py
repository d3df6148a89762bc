"""What git's history says of one run, as values."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.named_tuple import NamedTuple


class Commit(NamedTuple):
    sha: str
    message: str
    files: tuple[str, ...] = ()  # that it touched, run-relative

    @property
    def lines(self) -> frozenset[str]:
        return frozenset(self.message.split("\n"))


class Removed(NamedTuple):
    """A line that a commit took out of a log."""

    sha: str
    file: str  # run-relative
    line: bytes


class RunHistory(NamedTuple):
    commits: tuple[Commit, ...] = ()  # the newest first
    present: frozenset[str] = frozenset()  # files of the run in the last commit
    logs: Mapping[str, bytes] = {}  # what the last commit has of each log that only grows
    removed: tuple[Removed, ...] = ()  # the newest first

    @property
    def by_sha(self) -> Mapping[str, Commit]:
        return {commit.sha: commit for commit in self.commits}

    @property
    def lines(self) -> frozenset[str]:
        return frozenset(line for commit in self.commits for line in commit.lines)

    @property
    def ever(self) -> frozenset[str]:
        return frozenset(path for commit in self.commits for path in commit.files)
