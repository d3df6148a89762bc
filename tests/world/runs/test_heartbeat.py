"""One daemon per root, and everybody can see whether it lives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qrspi.core.errors import Busy, Halt, Refusal
from qrspi.world.runs import locate, project_root
from qrspi.world.runs.heartbeat import Daemon, daemon, watching

NOON, LATER = "2026-05-17T12:00:00Z", "2026-05-17T12:00:30Z"

HOLD = """
import sys
from qrspi.world.runs.heartbeat import watching
with watching(sys.argv[1], "2026-05-17T12:00:00Z") as beat:
    beat("2026-05-17T12:00:00Z")
    print("watching", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    runs = tmp_path / "docs" / "qrspi"
    runs.mkdir(parents=True)
    return runs


@pytest.mark.rule("DMN-05")
def test_the_daemon_says_when_it_last_looked(runs: Path) -> None:
    assert daemon(str(runs)) is None
    with watching(str(runs), NOON) as beat:
        assert daemon(str(runs)) == Daemon()
        beat(NOON)
        assert daemon(str(runs)) == Daemon(os.getpid(), NOON, NOON)
        beat(LATER)
        assert daemon(str(runs)) == Daemon(os.getpid(), NOON, LATER)
    assert daemon(str(runs)) is None


@pytest.mark.rule("DMN-03", "DMN-08")
def test_a_second_daemon_is_refused_naming_the_first(runs: Path) -> None:
    with (
        watching(str(runs), NOON),
        pytest.raises(Busy) as busy,
        watching(str(runs), LATER),
    ):
        raise AssertionError("two daemons")
    assert (busy.value.exit_code, str(busy.value)) == (
        5,
        f"these runs are watched already, by process {os.getpid()} (qrspi watch): "
        "one daemon is enough",
    )


@pytest.mark.rule("DMN-03", "ENG-02")
def test_a_killed_daemon_is_dead_at_once(runs: Path) -> None:
    argv = [sys.executable, "-c", HOLD, str(runs)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"watching\n"
        assert daemon(str(runs)) == Daemon(process.pid, NOON, NOON)
        process.kill()
        process.wait()
    assert daemon(str(runs)) is None
    with watching(str(runs), LATER) as beat:
        beat(LATER)
        assert daemon(str(runs)) == Daemon(os.getpid(), LATER, LATER)


@pytest.mark.rule("RUN-04", "RUN-11")
def test_the_mark_lies_in_its_own_ignored_folder_and_is_no_run(runs: Path) -> None:
    with watching(str(runs), NOON) as beat:
        beat(NOON)
    found = sorted(path.relative_to(runs).as_posix() for path in runs.rglob("*"))
    assert found == [
        ".qrspi",
        ".qrspi/.gitignore",
        ".qrspi/heartbeat.json",
        ".qrspi/watch.lock",
    ]
    root = project_root.find_root("/", str(runs), {})
    assert (locate.list_runs(root), locate.others(root)) == ((), ())


@pytest.mark.rule("RUN-04")
def test_a_linked_folder_is_refused(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (runs / ".qrspi").symlink_to(tmp_path / "outside")
    with pytest.raises(Refusal) as refused, watching(str(runs), NOON):
        raise AssertionError("watching")
    assert str(refused.value) == (
        ".qrspi/watch.lock is a symlink or lies below one: the engine never writes through a "
        "symlink"
    )
    assert os.listdir(tmp_path / "outside") == []


def test_runs_that_are_gone_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(Halt) as halted, watching(str(tmp_path / "gone"), NOON):
        raise AssertionError("watching")
    assert str(halted.value) == "cannot write .qrspi/watch.lock: No such file or directory"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"pid": "x"}', b"\xff", b"[" * 4000])
def test_a_garbled_heartbeat_is_a_daemon_that_says_nothing(runs: Path, content: bytes) -> None:
    with watching(str(runs), NOON):
        (runs / ".qrspi" / "heartbeat.json").write_bytes(content)
        assert daemon(str(runs)) == Daemon()
