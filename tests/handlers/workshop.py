"""A real repository in which tasks are implemented, reviewed and merged, in few words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from qrspi.core.derivation.derive import derive
from qrspi.core.model import Next
from qrspi.core.records.task_records import ReportStatus
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import approve
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.carry_out import carry_out
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.menus import menu as resolve
from qrspi.handlers.menus.menu import More
from qrspi.handlers.tasks import reports
from tests import runs
from tests.deliveries import TAGS
from tests.project import EngineProject, about

PASSING = "exit 0\n"
CODE = {"a.py": "a = 0\n", "test.sh": PASSING, "ci.sh": PASSING}


class Workshop(EngineProject):
    def __init__(
        self,
        root: Path,
        files: Mapping[str, bytes],
        code: Mapping[str, str] | None = None,
        *,
        git: bool = True,
    ) -> None:
        super().__init__(root, files, {**CODE, **(code or {})}, git=git)

    # the engine

    def did(self, **options: Any) -> list[str]:
        """What `next` did, prompts aside."""
        done = self.next(**options).performed
        return [one.handler for one in done if one.handler != "write-prompts"]

    @property
    def answer(self) -> Next:
        return derive(self.workspace()).next

    def perform(self, handler: Callable[[Job], Performed]) -> Performed:
        workspace = self.workspace()
        with workspace.locked():
            return carry_out(handler, change_set.look(workspace, self.options))

    def resolve(self, key: str, who: str = "") -> ChangeSet:
        return self.make(lambda job: resolve.plan(job, key, More(who=who)))[0]

    def approve(self, step: str) -> None:
        self.make(lambda job: approve.plan(job, step, Consent(unreviewed=True)))

    # the agents

    def tree(self, key: str) -> Path:
        return self.root / ".worktrees" / "user-auth" / key

    def work(self, key: str, path: str, text: str) -> str:
        place = self.tree(key)
        (place / path).write_text(text)
        self.git("add", "--all", at=place)
        self.git("commit", "-q", "-m", f"{key}: {path}", at=place)
        return self.git("rev-parse", "HEAD", at=place)

    def deliver(self, key: str, path: str, text: str) -> str:
        commit = self.work(key, path, text)
        self.report(key)
        return commit

    def report(self, key: str, commit: str = "HEAD", status: ReportStatus = "DONE") -> None:
        self.make(lambda job: reports.report(job, key, status, commit, "Done."))

    def review(self, key: str, number: int, tags: tuple[str, ...] = TAGS, wrong: str = "") -> None:
        """Everybody is clean, or the first one has found something that was scored."""
        folder = self.run / about(key).reviews / f"round-{number:02d}"
        for tag in tags[1:] if wrong else tags:
            (folder / f"{tag}.clean.md").write_bytes(runs.clean(tag, number))
        if wrong:
            found = runs.finding(tags[0], round=number, step=key, cites="a.py:L1", message=wrong)
            (folder / f"{tags[0]}.finding-F01.md").write_bytes(found)
            (folder / f"{tags[0]}.finding-F01.score.yml").write_bytes(runs.score(90))

    def finish(self, key: str, path: str, text: str) -> str:
        """The task is implemented, reported and found clean."""
        commit = self.deliver(key, path, text)
        self.next()
        self.review(key, 1)
        self.next()
        return commit

    def take(self, key: str, path: str, text: str) -> str:
        """The task is implemented, reported, and accepted by a person without a review."""
        commit = self.deliver(key, path, text)
        self.make(lambda job: reports.accept(job, key, "Looks good."))
        return commit

    # what is there

    def archived(self) -> set[str]:
        """What lies in the folder of the first phase."""
        home = self.run / "phases" / "phase-01"
        return {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}

    def left(self) -> set[str]:
        """The run's files, without those of phases that were put away."""
        files = (path for path in self.run.rglob("*") if path.is_file())
        names = (path.relative_to(self.run).as_posix() for path in files)
        return {name for name in names if not name.startswith((".qrspi/", "phases/"))}
