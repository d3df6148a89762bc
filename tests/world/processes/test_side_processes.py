"""Programs beside the daemon: it waits for none of them, and none outlives it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from qrspi.world.processes.side_processes import Ended, SideProcesses, SideProgram
from tests.patience import LIMIT, until


def python(source: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", source, *words)


def ended(programs: SideProcesses, woken: threading.Event, count: int = 1) -> list[Ended]:
    found: list[Ended] = []
    while len(found) < count:
        assert woken.wait(LIMIT)
        woken.clear()
        found += programs.ended()
    return found


@pytest.mark.rule("DMN-06")
@pytest.mark.parametrize(
    ("argv", "status", "out", "err"),
    [
        (python("import sys; print(sys.stdin.read()[::-1], end='')"), 0, b"nevig", ""),
        (python("import sys; sys.exit('no')"), 1, b"", "no\n"),
        (("/nonexistent/program",), None, b"", "cannot be started: No such file or directory"),
        (("/etc/passwd",), None, b"", "cannot be started: Permission denied"),
    ],
    ids=["reads its input", "fails", "is not there", "is no program"],
)
def test_how_a_program_ended_is_told(
    argv: tuple[str, ...], status: int | None, out: bytes, err: str
) -> None:
    woken = threading.Event()
    program = SideProgram("hook", "a-run", argv, b"given")
    with SideProcesses(woken.set) as programs:
        programs.start(program)
        assert ended(programs, woken) == [Ended(program, status, out, err)]


@pytest.mark.rule("DMN-06")
def test_a_program_that_reads_nothing_and_leaves_a_child_behind_blocks_nobody() -> None:
    """A pipe would be full after 64 KiB, and open as long as the child has it."""
    woken = threading.Event()
    program = SideProgram("hook", "a-run", ("sh", "-c", "sleep 600 & echo $!"), b"x" * 1_000_000)
    with SideProcesses(woken.set) as programs:
        programs.start(program)
        (done,) = ended(programs, woken)
        assert done.status == 0
        os.kill(int(done.out), signal.SIGKILL)


@pytest.mark.rule("DMN-06")
def test_a_program_that_hangs_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    woken = threading.Event()
    program = SideProgram("hook", "a-run", ("sh", "-c", "sleep 600 & sleep 600"), b"", 0.2)
    with SideProcesses(woken.set) as programs:
        programs.start(program)
        assert ended(programs, woken) == [Ended(program, None, b"", "")]


@pytest.mark.rule("DMN-06")
def test_a_few_run_at_once_and_the_others_wait_their_turn(tmp_path: Path) -> None:
    woken = threading.Event()
    source = (
        "import os, sys, pathlib\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "mine = folder / str(os.getpid()); mine.touch()\n"
        "print(len(list(folder.iterdir()))); mine.unlink()"
    )
    with SideProcesses(woken.set, at_once=2) as programs:
        for number in range(12):
            programs.start(SideProgram("hook", str(number), python(source, str(tmp_path))))
        done = ended(programs, woken, 12)
    assert {one.program.run for one in done} == {str(number) for number in range(12)}
    assert max(int(one.out) for one in done) <= 2


@pytest.mark.rule("DMN-04")
def test_none_outlives_the_daemon_and_it_does_not_wait_long(tmp_path: Path) -> None:
    stubborn = python(
        "import signal, sys, time, pathlib, os\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\n"
        "time.sleep(600)",
        str(tmp_path / "pid"),
    )
    with SideProcesses(lambda: None) as programs:
        programs.start(SideProgram("dispatch", "a-run", stubborn))
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not Path(f"/proc/{pid}").exists(), "the program is gone")
