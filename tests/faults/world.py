"""A project that a command is tried on again and again, and what must hold whatever happened."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.core.records import approvals
from qrspi.world.files import json_log
from qrspi.world.files.atomic_write import is_leftover
from qrspi.world.files.json_log import LogLine
from qrspi.world.files.run_tree import DiskTree
from tests import scenes
from tests.daemons import COMMAND
from tests.project import Project

OWN = ".qrspi"
AUDIT = f"{OWN}/audit.jsonl"
CASCADES = "cascade-audit.log"
APART = (AUDIT, approvals.FILE, CASCADES, f"{OWN}/cache/", f"{OWN}/lock")
ROUND_TRAILER = "QRSPI-Round"
NOW = "2026-05-17T09:30:00Z"

Files = dict[str, bytes]


@pytest.fixture(autouse=True)
def _same_bytes_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing depends on the time, so that two undisturbed runs leave the very same files."""
    monkeypatch.setenv("QRSPI_NOW", NOW)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_DATE", NOW)


class World:
    """A project made once, and brought back to how it was as often as wanted."""

    def __init__(self, root: Path, scene: scenes.Scene) -> None:
        self.root = root / "project"
        self.run = scene(self.root)
        self._project = Project(self.root).keep()

    def fresh(self) -> None:
        self._project.restore()

    def argv(self, *words: str) -> list[str]:
        return [str(COMMAND), "--root", str(self.root), *words]

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.argv(*words), capture_output=True, text=True, timeout=120)

    def finish(self) -> None:
        """`next`, here and now. A git that was killed leaves its locks behind: the command says
        so, names the file, and finishes when it is gone."""
        while True:
            try:
                scenes.advance(self.run)
                return
            except Halt as halt:
                locks = (self.root / ".git").rglob("*.lock")
                named = [lock for lock in locks if str(lock) in str(halt)]
                assert named, halt
                named[0].unlink()

    def after(self) -> Outcome:
        """What `next` leaves when nobody disturbs it."""
        self.fresh()
        self.finish()
        outcome = Outcome(files(self.run), tips(self.root), staged(self.root))
        self.fresh()
        return outcome


class Outcome(NamedTuple):
    files: Files
    commits: list[str]
    staged: str


def files(run: Path) -> Files:
    """What a reader can take for a file of the run; logs are looked at by their entries."""
    found = {}
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run).as_posix()
        if path.is_file() and not is_leftover(path.name) and not name.startswith(APART):
            found[name] = path.read_bytes()
    return found


def leftovers(root: Path) -> list[str]:
    return [path.name for path in root.rglob("*") if is_leftover(path.name)]


def tips(root: Path) -> list[str]:
    return scenes.git(root, "log", "--format=%s %T").splitlines()


def staged(root: Path) -> str:
    return scenes.git(root, "diff", "--cached", "--name-status")


def recovers(tried: World, before: Files, after: Outcome) -> None:
    """Nothing is lost or half, and `next` then leaves what it leaves undisturbed."""
    all_whole(tried.run, before, after.files)
    approved_only_on_record(tried.run)
    answers(tried.run)
    tried.finish()
    same_as(tried, after)
    nothing_twice(tried.run, tried.root)


def all_whole(run: Path, *possible: Files) -> None:
    """Each file as it was or as it is to be, and none that is neither."""
    for name, data in files(run).items():
        assert data in [state.get(name) for state in possible], name


def entries(run: Path, log: str) -> list[LogLine]:
    """Every line of a log is a whole one."""
    found = list(json_log.read(DiskTree(run), log))
    assert [item for item in found if not isinstance(item, LogLine)] == []
    return [item for item in found if isinstance(item, LogLine)]


def nothing_twice(run: Path, root: Path) -> None:
    done = Counter(_event(entry) for entry in entries(run, AUDIT) if _succeeded(entry))
    assert [event for event, count in done.items() if count > 1] == []
    marks = scenes.git(root, "log", f"--format=%(trailers:key={ROUND_TRAILER},valueonly)").split()
    assert [mark for mark, count in Counter(marks).items() if count > 1] == []


def _succeeded(entry: LogLine) -> bool:
    return entry.record["outcome"] == "done"


def _event(entry: LogLine) -> str:
    record = {key: value for key, value in entry.record.items() if key not in ("time", "actor")}
    return json.dumps(record, sort_keys=True)


def approved_only_on_record(run: Path, made_up: Container[str] = ()) -> None:
    """An artifact says `approved` only with the record of it: a person's, or in a quick run the
    entry of the cascade. None of them stands twice. `made_up` were approved by the test itself."""
    tree = DiskTree(run)
    records = approvals.read(tree.read(approvals.FILE))
    assert not isinstance(records, Problem), records
    by_itself = {entry.record["artifact"] for entry in entries(run, CASCADES)}
    for log in (approvals.FILE, CASCADES):
        lines = [json.dumps(entry.record, sort_keys=True) for entry in entries(run, log)]
        assert len(lines) == len(set(lines)), lines
    for step in derive(tree).steps:
        if step.status == "approved" and step.step not in by_itself and step.step not in made_up:
            newest = approvals.newest(records, step.step)
            assert newest and newest.event == "approve", (step, newest)


def answers(run: Path) -> None:
    """Whatever is there, it can be said how it stands."""
    errors = derive(DiskTree(run)).errors
    assert errors == (), errors


def same_as(world: World, outcome: Outcome) -> None:
    assert files(world.run) == outcome.files
    assert (tips(world.root), staged(world.root)) == (outcome.commits, outcome.staged)
    assert leftovers(world.root) == []
