"""kill -9 and a full disk at every write of an approval that the engine makes by itself: nothing
is approved without its entry, no entry is there twice, and the next command finishes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from qrspi import engine
from qrspi.core.pipeline import STEP
from qrspi.handlers.jobs.job import Options
from qrspi.world.files.atomic_write import is_leftover
from qrspi.world.runs.workspace import Workspace
from tests import quick
from tests.faults import drive_gate
from tests.faults.strace import CHANGING, Point, error_points, kill_points, needs_strace, python
from tests.project import Project
from tests.quick import LOG, RECORDS, status
from tests.runs import contents, lines

pytestmark = needs_strace

QUICKLY = ("renameat", "write")


class Lab:
    """A run just before it approves itself, to be restored after each harm."""

    def __init__(self, root: Path, step: str, git: bool) -> None:
        self.step, self.git, self.root = step, git, root / "project"
        self._kept = root / "kept"
        run = quick.reviewed(self._kept, step, git=git)
        with Workspace(run).locked() as workspace:
            engine.tick(workspace, Options())
        self.run = self.root / run.relative_to(self._kept)
        self.fresh()
        self.before = self.files()
        drive_gate.advance(str(self.run))
        self.after = self.files()
        self.argv = python("-m", "tests.faults.drive_gate", str(self.run))

    def fresh(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self._kept, self.root)

    def files(self) -> dict[str, bytes]:
        """What a reader can take for a file of the run."""
        return {
            name: data
            for name, data in contents(self.run).items()
            if not is_leftover(name.rpartition("/")[2])
        }

    def is_consistent(self, point: Point) -> None:
        """Each file is old or new, and those that come later are new only if the earlier are."""
        found = self.files()
        torn = {LOG, RECORDS} & set(found)
        for name in found.keys() - torn:
            assert found[name] in (self.before.get(name), self.after.get(name)), (point, name)
        for name in torn:
            assert self.after[name].startswith(found[name]), (point, name)
        artifact = STEP[self.step].artifact
        if found[artifact] == self.after[artifact]:
            assert found[LOG] == self.after[LOG], point
            assert all(found.get(name) == self.after[name] for name in self._first()), point
        if found.get(RECORDS) == self.after[RECORDS]:
            assert found == self.after, point

    def _first(self) -> set[str]:
        """What has to be there before the step itself is approved."""
        return {name for name in self.after if name.startswith(("cascade-clean-", "tasks/"))}

    def is_finished(self, point: Point) -> None:
        drive_gate.advance(str(self.run))
        found = {name: data for name, data in self.files().items() if ".torn-" not in name}
        assert found == self.after, point
        assert (len(lines(self.run, LOG)), len(lines(self.run, RECORDS))) == (1, 1), point
        left = [path for path in self.run.rglob("*") if is_leftover(path.name)]
        assert left == [], point
        if self.git:
            self._is_committed(point)

    def _is_committed(self, point: Point) -> None:
        """Compared with HEAD: a git that was killed between its branch and its index leaves the
        index behind, and nobody but git can tell that from what a person has staged."""
        project = Project(self.root)
        assert project.git("diff", "--name-only", "HEAD") == "", point
        others = project.git("ls-files", "--others", "--exclude-standard").splitlines()
        assert [name for name in others if ".torn-" not in name] == [], point
        subjects = project.git("log", "--format=%s").splitlines()
        wanted = f"docs(qrspi): approve {self.step} for user-auth"
        assert subjects.count(wanted) == 1, (point, subjects)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bool], Lab]:
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-05-17T09:30:00Z")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-05-17T09:30:00Z")
    return lambda step, git: Lab(tmp_path, step, git)


def killed(lab: Lab, syscalls: Iterable[str]) -> int:
    count = 0
    for point in kill_points(lab.argv, lab.fresh, syscalls):
        _unlock_git(lab)
        lab.is_consistent(point)
        lab.is_finished(point)
        count += 1
    return count


def _unlock_git(lab: Lab) -> None:
    """A killed git leaves its lock behind, which people are told to remove."""
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        (lab.root / ".git" / name).unlink(missing_ok=True)


@pytest.mark.rule("CSC-06", "ENG-04")
def test_a_kill_at_a_write_is_finished(lab: Callable[[str, bool], Lab]) -> None:
    assert killed(lab("questions", False), QUICKLY) >= 7


@pytest.mark.slow
@pytest.mark.rule("CSC-06", "ENG-04")
@pytest.mark.parametrize("git", [False, True], ids=["plain", "git"])
@pytest.mark.parametrize("step", quick.CASCADING)
def test_a_kill_anywhere_is_finished(lab: Callable[[str, bool], Lab], step: str, git: bool) -> None:
    assert killed(lab(step, git), CHANGING) >= 15


def full(lab: Lab, syscalls: Iterable[str]) -> set[str]:
    """The files that the messages name."""
    named = set()
    line = re.compile(r"4 cannot write ([\w./-]+): No space left on device\n")
    for point in error_points(lab.argv, lab.fresh, "ENOSPC", syscalls):
        if point.code == 0:
            continue  # the file lock's own signature is only for people
        told = line.fullmatch(point.stderr)
        assert told, point
        named.add(told[1])
        lab.is_consistent(point)
        if told[1] == LOG:
            found = lab.files()
            assert found.pop(LOG, b"") == b"", point
            assert found == lab.before, point
            assert status(lab.run, lab.step) == "draft", point
        lab.is_finished(point)
    return named


@pytest.mark.rule("CSC-04", "ENG-05")
def test_a_full_disk_approves_nothing_and_names_the_file(lab: Callable[[str, bool], Lab]) -> None:
    named = full(lab("questions", False), ("write",))
    sentinel = "cascade-clean-questions-quality-claude.md"
    assert {LOG, sentinel, "questions.md", RECORDS} <= named


@pytest.mark.slow
@pytest.mark.rule("CSC-04", "ENG-05")
def test_a_full_disk_anywhere(lab: Callable[[str, bool], Lab]) -> None:
    assert LOG in full(lab("plan", False), ("write", "renameat", "linkat", "mkdirat"))


@pytest.mark.rule("CSC-07", "ENG-04")
def test_every_torn_piece_of_the_entry_is_kept_aside(lab: Callable[[str, bool], Lab]) -> None:
    """As a machine that goes down leaves it: any part of the line may be on the disk."""
    bench = lab("questions", False)
    line = bench.after[LOG]
    for cut in (1, 10, len(line) // 2, len(line) - 2, len(line) - 1):
        bench.fresh()
        (bench.run / LOG).write_bytes(line[:cut])
        bench.is_finished(Point("torn", cut, 0, "", ""))
        aside = bench.run / f"{LOG}.torn-1"
        assert aside.exists() == (cut < len(line) - 1)
        assert not aside.exists() or aside.read_bytes() == line[:cut]


@pytest.mark.rule("ENG-02", "CSC-06")
def test_two_at_once_have_one_effect(lab: Callable[[str, bool], Lab]) -> None:
    bench = lab("questions", False)
    bench.fresh()
    started = [subprocess.Popen(bench.argv, env=dict(os.environ)) for _ in range(4)]
    assert [process.wait() for process in started] == [0] * 4
    assert bench.files() == bench.after
    assert len(lines(bench.run, LOG)) == 1
