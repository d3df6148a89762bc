"""What git's history says of one run, as values."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.named_tuple import NamedTuple

SHALLOW = "older commits are not here, and what only they have is not missed: git fetch --unshallow"


class Commit(NamedTuple):
    sha: str
    message: str
    files: tuple[str, ...] = ()  # that it touched, run-relative

    @property
    def lines(self) -> frozenset[str]:
        return frozenset(self.message.split("\n"))


class Before(NamedTuple):
    """A log as it was before a commit that took a line out of it, or moved one."""

    sha: str  # of that commit
    file: str  # run-relative
    data: bytes


class RunHistory(NamedTuple):
    commits: tuple[Commit, ...] = ()  # the newest first
    present: frozenset[str] = frozenset()  # files of the run in the last commit
    logs: Mapping[str, bytes] = {}  # what the last commit has of each log that only grows
    cut: tuple[Before, ...] = ()  # the newest first
    is_shallow: bool = False  # whether older commits are not here

    @property
    def by_sha(self) -> Mapping[str, Commit]:
        return {commit.sha: commit for commit in self.commits}

    @property
    def lines(self) -> frozenset[str]:
        return frozenset(line for commit in self.commits for line in commit.lines)

    @property
    def ever(self) -> frozenset[str]:
        return frozenset(path for commit in self.commits for path in commit.files)
