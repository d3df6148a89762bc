"""A run's files, with what git has of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.tree import Earlier, Vouched
from qrspi.world.files.run_tree import DiskTree

if TYPE_CHECKING:
    from qrspi.world.git.repository import Repo


class CommittedTree(DiskTree):
    _lines: Mapping[str, frozenset[str]] = {}  # what the engine's commits say, by its first word

    @cached_property
    def repository(self) -> Repo | None:
        """Found once for all that is read. Whoever commits looks for it again."""
        from qrspi.world.git import repository

        return repository.find(self.path)

    def knows(self, path: str) -> bool:
        """False where git does not work: code that needs git reports that."""
        if not self.in_git:
            return False
        # Imported here: only a run that seems to have lost a file pays for git.
        from qrspi.core.errors import Halt
        from qrspi.world.git import commits, tracked_files

        try:
            repo = self.repository
            if repo is None:
                return False
            return bool(tracked_files.tracked(repo, [path])) or (
                commits.content(repo, "HEAD", path) is not None
            )
        except Halt:
            return False

    def to_restore(self, path: str) -> str:
        if not self.in_git:
            return ""
        from qrspi.core.errors import Halt
        from qrspi.world.git import commits

        try:
            repo = self.repository
            return commits.to_restore(repo, path) if repo else ""
        except Halt:
            return ""

    def committed(self, path: str, *, glance: bool = False) -> bytes | None:
        if glance and not self._may_lack(path):
            return None
        return self.committed_of((path,)).get(path)

    def committed_of(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Those that the last commit has."""
        if not self.in_git:
            return {}
        from qrspi.core.errors import Halt
        from qrspi.world.git import commits

        try:
            repo = self.repository
            return commits.contents_at_head(repo, paths) if repo else {}
        except Halt:
            return {}

    def earlier(self, path: str, digests: Collection[str]) -> tuple[Earlier, ...]:
        if not self.in_git:
            return ()
        # Imported here: only a run that seems to have lost a line pays for git.
        from qrspi.core.errors import Halt
        from qrspi.world.git import run_log

        try:
            repo = self.repository
            return run_log.earlier(repo, path, digests) if repo else ()
        except Halt:
            return ()

    def on_branch(self, paths: Sequence[str]) -> tuple[str, frozenset[str]]:
        if not self.in_git:
            return "", frozenset()
        # Imported here: only a run that seems to have lost a file pays for git.
        from qrspi.core.errors import Halt
        from qrspi.world.git import repository, runs_elsewhere

        try:
            repo = repository.find(self.path)
            return runs_elsewhere.holding(repo, paths) if repo else ("", frozenset())
        except Halt:
            return "", frozenset()

    def vouched(self, path: str) -> Vouched | None:
        if not self.in_git:
            return None
        # Imported here: only a line that no command here wrote is asked about.
        from qrspi.core.errors import Halt
        from qrspi.world.git import repository, run_log

        try:
            repo = repository.find(self.path)
            return run_log.vouched(repo, path) if repo else None
        except Halt:
            return None

    def code_since(self, commit: str, branch: str, place: str) -> tuple[str, ...]:
        if not (commit and self.in_git):
            return ()
        # Imported here: only a run whose code was tested or reviewed pays for git.
        from qrspi.core.errors import Halt
        from qrspi.world.git import refs, repository

        runs = self.path.rpartition("/")[0]
        project = runs.removesuffix("/docs/qrspi") or "/"
        try:
            if place and not repository.is_allowed(project, place):
                return ()
            folder = repository.absolute(project, place)
            repo = repository.find(folder) if place else self.repository
            if repo is None:
                return ()
            inside = repository.runs_in(repo, runs)
            return refs.changes_since(repo, commit, branch, inside)
        except Halt:
            return ()

    def _may_lack(self, path: str) -> bool:
        # Imported here: many runs at once are looked at without it.
        from qrspi.world.runs import index_glance

        return index_glance.may_lack(self.path, path)

    def signed(self, line: str) -> bool:
        """Asked once: what is committed while this tree is used is in the trail as well."""
        beginning = line.partition(" ")[0]
        if beginning not in self._lines:
            found = self._signatures(beginning) if self.in_git else frozenset()
            self._lines = {**self._lines, beginning: found}
        return line in self._lines[beginning]

    def _signatures(self, beginning: str) -> frozenset[str]:
        # Imported here: only a run whose trail is elsewhere pays for git.
        from qrspi.core.errors import Halt
        from qrspi.world.git import commits

        try:
            repo = self.repository
            return commits.lines_of(repo, beginning, ["reviews"]) if repo else frozenset()
        except Halt:
            return frozenset()
