"""A rehearsal reads as if it had written, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.errors import Refusal
from qrspi.core.tree import Entry, Fault
from qrspi.world.runs.dry_run import DryRunWorkspace
from qrspi.world.runs.workspace import Change, Workspace

FILES = {"a.md": b"a", "d/b.md": b"b", "log.jsonl": b"1\n"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "2026-05-17-user-auth"
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def play(space: Workspace) -> list[object]:
    """The same for both: what they say while they are written to."""
    said: list[object] = []
    with space.locked():
        said += [space.write("a.md", b"a"), space.write("a.md", b"A"), space.write("new/x", b"x")]
        space.create("d/c.md", b"c")
        space.replace("d/b.md", b"b", b"B")
        space.append("log.jsonl", b"2\n")
        said += [space.remove("gone.md"), space.remove("d/c.md")]
        with pytest.raises(Refusal) as caught:
            space.create("a.md", b"")
        said.append(caught.value.problem)
        said += [space.read(name) for name in ("a.md", "new/x", "d/b.md", "d/c.md", "log.jsonl")]
        said += [
            space.head("a.md"),
            space.read("a.md", 0),
            space.entries("d"),
            space.entries("new"),
        ]
        said += [space.entries("none"), space.entries("new/x")]
        said.append(space.entries("")[:2] if isinstance(space.entries(""), tuple) else None)
        changes: list[Change] = space.changes
        said.append([change for change in changes if not change.path.startswith(".qrspi")])
    return said


@pytest.mark.rule("OUT-10")
def test_it_says_what_a_workspace_says_and_leaves_the_disk_alone(run: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    rehearsed = play(DryRunWorkspace(run))
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before
    real = play(Workspace(run))
    # The engine's own folder is only there when something is really written.
    assert rehearsed[-2] == (Entry("a.md", "file"), Entry("d", "dir"))
    assert real[-2] == (Entry(".qrspi", "dir"), Entry("a.md", "file"))
    del rehearsed[-2], real[-2]
    assert rehearsed == real


def test_a_file_that_was_removed_is_not_listed(run: Path) -> None:
    stage = DryRunWorkspace(run)
    with stage.locked():
        stage.remove("d/b.md")
        assert stage.entries("d") == ()
        assert stage.read("d/b.md") == Fault("absent")


def test_moving_is_told_and_not_done(run: Path) -> None:
    stage = DryRunWorkspace(run)
    with stage.locked():
        assert (stage.move("d", "e"), stage.move("none", "x")) == (True, False)
        assert stage.changes == [Change("d", None, None, "e")]
    assert (run / "d").exists()
