"""Commands of which one kind of project is enough: what they leave must be what they leave
undisturbed, however often they were killed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from qrspi.core.derivation.derive import derive
from qrspi.world.files.run_tree import DiskTree
from tests import runs
from tests.faults import world
from tests.faults.campaign.processes import Command, Words, unlock
from tests.faults.campaign.strikes import Strikes
from tests.project import Project

NOW = "2026-05-17T09:30:00Z"


class Scene(NamedTuple):
    """A project with a run in it, at the moment of a command."""

    project: Project
    run: Path
    words: Words
    whole: Callable[[], object]  # what must hold after a kill, over what always must
    left: Callable[[], Any] = lambda: None  # what the command leaves besides files


Maker = Callable[[Path], Scene]


class Case:
    def __init__(self, strikes: Strikes, part: str, name: str, make: Maker) -> None:
        self._strikes, self._part = strikes, part
        folder = strikes.folder / part / name
        folder.mkdir(parents=True)
        self._scene = make(folder)
        self._deed = Command(self._scene.words, self._scene.project.root, {"QRSPI_NOW": NOW})
        self._scene.project.keep()
        assert self._deed.begin().finish() == 0, self._deed.told()
        self._expected = self._left()

    def tell(self) -> None:
        self._scene.project.restore()
        status = self._strikes.try_often(self._part, self._deed, self._holds)
        # 3: it is refused when the one that was killed has done it all.
        assert status in (0, 3), (self._deed, self._deed.told())
        for found, expected in zip(self._left(), self._expected, strict=True):
            assert found == expected, (self._deed, found, expected)
        assert world.leftovers(self._scene.project.root) == [], self._deed

    def _holds(self) -> None:
        unlock(self._scene.project.root)
        try:
            for log in (world.AUDIT, world.CASCADES, world.approvals.FILE):
                world.entries(self._scene.run, log)
            self._scene.whole()
        except AssertionError as error:
            raise AssertionError(f"after {self._deed}") from error

    def _left(self) -> tuple[Any, ...]:
        project, run = self._scene.project, self._scene.run
        commits = project.subjects() if (project.root / ".git").exists() else []
        state = derive(DiskTree(run))
        files = {path: data for path, data in runs.contents(run).items() if ".db" not in path}
        return files, commits, state.next, state.errors, self._scene.left()


class Cases:
    """Each of them once, in any order."""

    def __init__(self, strikes: Strikes, part: str, makers: dict[str, Maker]) -> None:
        self._strikes, self._part, self._makers = strikes, part, makers

    def tell(self) -> None:
        for name in self._strikes.chance.sample(sorted(self._makers), len(self._makers)):
            if not self._strikes.is_over:
                made = _made(self._strikes, self._part, name, self._makers[name])
                made.tell()


@cache
def _made(strikes: Strikes, part: str, name: str, make: Maker) -> Case:
    """Once for all stories: it is put back to how it was."""
    return Case(strikes, part, name, make)
