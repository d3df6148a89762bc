"""kill -9, a full disk and a missing system call at every change: all files whole, and the same
command finishes."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.world.files import json_log
from qrspi.world.files.atomic_write import is_leftover
from qrspi.world.files.json_log import LogLine
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.faults import drive
from tests.faults.strace import (
    CHANGING,
    always,
    error_points,
    kill_points,
    needs_strace,
    python,
    stopped_at,
    trace,
)

pytestmark = needs_strace

BEFORE = {
    "a.md": drive.OLD,
    "goals.md": drive.OLD,
    "gone.md": drive.OLD,
    "log.jsonl": b'{"n": 1}\n',
    "tree/deep/x.md": drive.OLD,
}
TORN = {"log.jsonl": b'{"n": 1}\n{"n"'}


def filled(folder: Path, files: dict[str, bytes]) -> Callable[[], None]:
    def fill() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        runs.put_openings_on_record(folder, files)

    return fill


def files(folder: Path) -> dict[str, bytes]:
    """What a reader can take for a file of the run."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != ".qrspi" and not is_leftover(path.name)
    }


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if is_leftover(path.name)]


def states(folder: Path) -> list[dict[str, bytes]]:
    """The files before and after each step, made by a process that nobody disturbs."""
    filled(folder, BEFORE)()
    found = [files(folder)]
    with Workspace(folder).locked() as space:
        for step in drive.STEPS:
            step(space)
            found.append(files(folder))
    assert len({str(state) for state in found}) == len(drive.STEPS) + 1
    return found


@pytest.mark.rule("ENG-01", "ENG-02", "ENG-04")
def test_a_kill_leaves_one_of_the_states_between_the_steps(tmp_path: Path) -> None:
    run = tmp_path / "run"
    possible = states(run)
    killed = set()
    argv = python("-m", "tests.faults.drive", "change", str(run))
    for point in kill_points(argv, filled(run, BEFORE)):
        assert point.code == -9, point
        assert files(run) in possible, point
        killed.add(point.syscall)
        drive.change(str(run))
        assert (files(run), leftovers(run)) == (possible[-1], []), point
        assert sorted(os.listdir(run / ".qrspi")) == [".gitignore", "lock"]
    assert {"write", "renameat", "linkat", "unlinkat", "mkdirat"} <= killed


@pytest.mark.rule("ENG-01")
def test_every_file_is_synced_before_it_has_its_name_and_its_directory_after(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    filled(run, BEFORE)()
    drive.idle(str(run))
    argv = python("-m", "tests.faults.drive", "change", str(run))
    calls = [call.name for call in trace(argv, (*CHANGING, "fsync"))]
    assert calls == [
        *("pwrite64", "ftruncate"),  # whose lock it is
        *("write", "fsync", "renameat", "fsync", "unlinkat"),  # write
        *("mkdirat", "fsync", "write", "fsync", "linkat", "fsync", "unlinkat"),  # create
        *("write", "fsync", "renameat", "fsync", "unlinkat"),  # replace
        *("write", "fsync"),  # append
        *("unlinkat", "fsync"),  # remove
        *("mkdirat", "fsync", "mkdirat", "fsync", "renameat", "fsync", "fsync"),  # move
        *("pwrite64", "ftruncate"),
    ]


@pytest.mark.rule("ENG-05")
def test_a_full_disk_is_one_line_and_harms_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    possible = states(run)
    line = re.compile(r"4 cannot write [a-z/.0-9-]+: No space left on device\n")
    argv = python("-m", "tests.faults.drive", "change", str(run))
    failing = ("write", "renameat", "linkat", "mkdirat")
    for point in error_points(argv, filled(run, BEFORE), "ENOSPC", failing):
        assert line.fullmatch(point.stderr), point
        assert files(run) in possible, point
        assert leftovers(run) == [], point
        drive.change(str(run))
        assert files(run) == possible[-1], point


@pytest.mark.rule("CSC-07", "ENG-04")
def test_a_torn_line_is_never_lost_and_no_entry_doubled(tmp_path: Path) -> None:
    run = tmp_path / "run"
    argv = python("-m", "tests.faults.drive", "log", str(run))
    for point in kill_points(argv, filled(run, TORN), ("write", "ftruncate", "linkat")):
        found = files(run)
        aside = found.get("log.jsonl.torn-1")
        assert found["log.jsonl"].endswith(b'{"n"') or aside == b'{"n"', point
        drive.log(str(run))
        entries = list(json_log.read(DiskTree(run), "log.jsonl"))
        assert [item.record for item in entries if isinstance(item, LogLine)] == [
            {"n": 1},
            {"n": 2},
        ]
        assert files(run) == {
            "log.jsonl": b'{"n": 1}\n{"n": 2}\n',
            "log.jsonl.torn-1": b'{"n"',
        }
        assert leftovers(run) == []


@pytest.mark.rule("RUN-03", "ENG-04")
def test_a_new_run_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    project = tmp_path / "project"
    whole = {
        f"docs/qrspi/2026-01-01-sample-run/{name}": data for name, data in drive.FIRST_FILES.items()
    }
    argv = python("-m", "tests.faults.drive", "new", str(project))
    for point in kill_points(argv, filled(project, {})):
        runs = list((project / "docs" / "qrspi").glob("2026*"))
        if runs:
            assert files(project) == whole, point
            continue
        drive.new(str(project))
        assert files(project) == whole, point
        assert os.listdir(project / "docs" / "qrspi") == ["2026-01-01-sample-run"], point


@pytest.mark.rule("ENG-06")
def test_an_edit_saved_at_the_last_moment_is_kept(tmp_path: Path) -> None:
    run = tmp_path / "run"
    filled(run, BEFORE)()
    drive.idle(str(run))

    def filling() -> int:
        """The process, once its new bytes are ready and wait to be given the file's name."""
        ready = [path for path in run.glob(".goals.md.*") if path.stat().st_size == len(drive.NEW)]
        return int((run / ".qrspi" / "lock").read_text().split()[0]) if ready else 0

    argv = python("-m", "tests.faults.drive", "edit", str(run))
    with stopped_at(argv, "fsync", filling) as command:
        (run / "goals.md.new").write_bytes(b"a person's words\n")
        (run / "goals.md.new").rename(run / "goals.md")
    assert command.communicate()[1] == (
        "3 goals.md was changed by someone else meanwhile and is left as it is: "
        "run the command again\n"
    )
    assert files(run) == {**BEFORE, "goals.md": b"a person's words\n"}
    assert leftovers(run) == []


@pytest.mark.parametrize("error", ["EPERM", "EOPNOTSUPP"])
@pytest.mark.rule("ENG-01")
def test_a_file_system_without_hard_links_will_do(tmp_path: Path, error: str) -> None:
    run = tmp_path / "run"
    final = states(run)[-1]
    filled(run, BEFORE)()
    point = always(python("-m", "tests.faults.drive", "change", str(run)), "linkat", error)
    assert (point.code, point.stderr) == (0, "")
    assert (files(run), leftovers(run)) == (final, [])


@pytest.mark.rule("ENG-01")
def test_a_file_system_that_cannot_sync_directories_will_do(tmp_path: Path) -> None:
    """EINVAL is forgiven of directories, never of a file whose bytes would not be safe."""
    run = tmp_path / "run"
    filled(run, BEFORE)()
    point = always(python("-m", "tests.faults.drive", "change", str(run)), "fsync", "EINVAL")
    assert point.stderr == "4 cannot write .qrspi/lock: Invalid argument\n"
