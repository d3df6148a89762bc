"""Agents that are real child processes: obedient, endless, deaf, failing, or left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qrspi.core.agents.transports import Means
from qrspi.core.config.vendors import Command
from qrspi.world.agents import command_line
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.consent.permits import Permit


def request(
    *argv: str,
    directory: str = "/",
    timeout: float = 30.0,
    limit: int = 100_000,
    prompt: bytes = b"Review it.",
    trusted: bool = True,
) -> Request:
    means = Means("command", "text", command=Command(argv, "text", timeout))
    assert means.named
    return Request(
        *("quality-claude", "goals", 1, prompt, means, "m-1", directory, trusted),
        limit=limit,
        permit=Permit(means.named),
    )


def sent(asked: Request, environment: dict[str, str] | None = None) -> Answer:
    world = {"PATH": os.environ["PATH"]} if environment is None else environment
    with DispatchContext(world) as wire:
        wire.children.grace = 0.2
        return command_line.send(asked, wire)


def failed(answer: Answer) -> tuple[str, str]:
    assert answer.problem is not None
    return answer.problem.code, answer.problem.message


def is_there(pid: int) -> bool:
    """Whether it runs; one that waits to be reaped by somebody else does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


@pytest.mark.rule("TRN-01")
def test_the_prompt_goes_to_stdin_and_stdout_is_the_reply(tmp_path: Path) -> None:
    prompt = "päper ".encode() * 100_000
    done = sent(request("cat", directory=str(tmp_path), prompt=prompt, limit=10**6))
    assert (done.data, done.problem) == (prompt, None)


@pytest.mark.rule("TRN-01")
def test_arguments_are_a_list_and_meet_no_shell(tmp_path: Path) -> None:
    done = sent(request("printf", "%s|", "$HOME", "; touch it", "{model}", directory=str(tmp_path)))
    assert done.data == b"$HOME|; touch it|m-1|"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("TRN-01")
def test_it_runs_where_it_is_told_and_knows_its_model(tmp_path: Path) -> None:
    done = sent(
        request("sh", "-c", 'pwd; echo "$QRSPI_MODEL/$CLAUDECODE"', directory=str(tmp_path)),
        {"PATH": os.environ["PATH"], "CLAUDECODE": "1"},
    )
    assert done.data.decode() == f"{tmp_path}\nm-1/\n"


@pytest.mark.rule("TRN-10")
@pytest.mark.parametrize(
    ("argv", "trusted", "arguments"),
    [
        (
            ("claude", "-p", "--model", "{model}"),
            False,
            ["claude", "--setting-sources", "user", "-p", "--model", "m-1"],
        ),
        (("claude", "-p"), True, ["claude", "-p"]),
        (
            ("/opt/bin/codex", "exec", "--json", "-"),
            False,
            ["/opt/bin/codex", "-c", "features.hooks=false", "exec", "--json", "-"],
        ),
        (("my-agent", "claude"), False, ["my-agent", "claude"]),
        (("{model}", "{model}"), False, ["{model}", "m-1"]),  # a model is never a program
    ],
)
def test_the_repositorys_own_hooks_are_off_unless_it_is_trusted(
    argv: tuple[str, ...], trusted: bool, arguments: list[str]
) -> None:
    asked = request(*argv, trusted=trusted)
    assert asked.permit
    assert command_line.arguments(asked, asked.permit) == arguments


@pytest.mark.rule("TRN-10")
@pytest.mark.parametrize(("trusted", "said"), [(True, b"1"), (False, b"0")])
def test_a_wrapper_is_told_whether_the_repository_is_trusted(trusted: bool, said: bytes) -> None:
    done = sent(request("sh", "-c", 'printf %s "$QRSPI_TRUSTED"', trusted=trusted))
    assert done.data == said


@pytest.mark.rule("SPD-02")
@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (
            ("sh", "-c", "echo half; echo 'quota is\nused up' >&2; exit 7"),
            "transport-failed",
            "sh exited 7: quota is used up",
        ),
        (("sh", "-c", "exit 1"), "transport-failed", "sh exited 1"),
        (("sh", "-c", "kill -9 $$"), "transport-failed", "sh was ended by signal 9"),
        (
            ("sh", "-c", "echo 'bad key sk-abcdef0123456789abcd' >&2; exit 1"),
            "transport-failed",
            "sh exited 1: bad key [redacted]",
        ),
        (
            ("no-such-agent-here",),
            "transport-no-program",
            "no-such-agent-here cannot be started: No such file or directory",
        ),
        (("/",), "transport-no-program", "/ cannot be started: Permission denied"),
    ],
)
def test_a_program_that_fails_is_one_line(argv: tuple[str, ...], code: str, message: str) -> None:
    assert failed(sent(request(*argv))) == (code, message)


@pytest.mark.rule("SEC-05", "TRN-06")
def test_a_key_of_the_environment_is_taken_out_of_what_a_failing_program_says() -> None:
    world = {"PATH": os.environ["PATH"], "SHOP_TOKEN": "correct horse battery"}
    done = sent(request("sh", "-c", 'echo "no: $SHOP_TOKEN" >&2; exit 2'), world)
    assert failed(done) == ("transport-failed", "sh exited 2: no: [redacted]")


@pytest.mark.rule("TRN-10")
def test_a_program_that_hangs_is_ended() -> None:
    done = sent(request("sleep", "1000", timeout=0.05))
    assert failed(done) == ("transport-timeout", "sleep did not answer within 0.05 s")


@pytest.mark.rule("TRN-10", "SEC-02")
def test_a_program_that_prints_forever_is_ended_and_not_remembered() -> None:
    done = sent(request("yes", limit=50_000))
    assert failed(done) == (
        "transport-too-large",
        "yes printed more than 50000 bytes and was stopped",
    )
    assert len(done.data) == 50_001


AWAY = "setsid sh -c 'echo $$ > pid; exec sleep 1000' & wait"
DEAF = "trap '' TERM; echo $$ > pid; sleep 1000 & echo $! >> pid; while :; do sleep 1000; done"


@pytest.mark.rule("TRN-10")
def test_a_program_that_does_not_listen_is_ended_with_all_it_started(tmp_path: Path) -> None:
    done = sent(request("sh", "-c", DEAF, directory=str(tmp_path), timeout=1))
    assert failed(done)[0] == "transport-timeout"
    pids = [int(line) for line in (tmp_path / "pid").read_text().split()]
    assert len(pids) == 2
    until(lambda: not any(map(is_there, pids)))


@pytest.mark.rule("TRN-10")
def test_what_a_finished_program_leaves_running_is_ended_too(tmp_path: Path) -> None:
    script = "sleep 1000 & echo $! > pid; echo done"
    done = sent(request("sh", "-c", script, directory=str(tmp_path)))
    assert (done.data, done.problem) == (b"done\n", None)
    until(lambda: not is_there(int((tmp_path / "pid").read_text())))


@pytest.mark.rule("TRN-10")
def test_a_program_that_never_reads_its_prompt_does_not_block_us() -> None:
    done = sent(request("sh", "-c", "exec 0<&-; echo done", prompt=b"x" * 10**6))
    assert (done.data, done.problem) == (b"done\n", None)


@pytest.mark.rule("TRN-08", "TRN-10")
def test_stopping_ends_every_program_that_is_under_way(tmp_path: Path) -> None:
    answers: list[Answer] = []
    with DispatchContext({"PATH": os.environ["PATH"]}) as wire:
        wire.children.grace = 0.2
        asked = request("sh", "-c", "echo $$ > pid-$$; exec sleep 1000", directory=str(tmp_path))
        threads = [
            threading.Thread(target=lambda: answers.append(command_line.send(asked, wire)))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        until(lambda: len(list(tmp_path.glob("pid-*"))) == 3)
    for thread in threads:
        thread.join(10)
    said = [failed(one) for one in answers]
    assert said == [("transport-interrupted", "sh was stopped with the command")] * 3
    pids = [int(file.name[4:]) for file in tmp_path.glob("pid-*")]
    assert not any(map(is_there, pids))


@pytest.mark.rule("TRN-10")
def test_nothing_is_started_once_the_command_ends() -> None:
    with DispatchContext({"PATH": os.environ["PATH"]}) as wire:
        wire.children.end_all()
        assert failed(command_line.send(request("cat"), wire))[0] == "transport-interrupted"


PARENT = """
import sys
from qrspi.world.agents import command_line, thread_pool
from qrspi.world.agents.dispatch_context import DispatchContext
from tests.world.agents.test_command_line import DEAF, request
with DispatchContext() as wire:
    wire.children.grace = 0.2
    asked = request("sh", "-c", DEAF, directory=sys.argv[1])
    for _ in thread_pool.run([asked], lambda one: command_line.send(one, wire), 1):
        pass
"""


@contextmanager
def running(code: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as parent:
        try:
            yield parent
        finally:
            parent.kill()


@pytest.mark.rule("TRN-10")
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_programs_die_with_a_command_that_is_killed(tmp_path: Path, sign: signal.Signals) -> None:
    pid = tmp_path / "pid"
    with running(PARENT, tmp_path) as parent:
        until(lambda: pid.exists() and len(pid.read_text().split()) == 2)
        parent.send_signal(sign)
        parent.wait(60)
    pids = [int(line) for line in pid.read_text().split()]
    until(lambda: not any(map(is_there, pids)))


@pytest.mark.rule("TRN-10")
def test_a_program_in_a_session_of_its_own_dies_with_a_killed_command_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with running(PARENT.replace("DEAF", "AWAY"), tmp_path):
        until(lambda: pid.exists() and bool(pid.read_text()))
    until(lambda: not is_there(int(pid.read_text())))


@pytest.mark.rule("OUT-07")
def test_where_a_program_cannot_be_started_the_setting_or_the_folder_is_named() -> None:
    problem = sent(request("no-such-agent-here")).problem
    assert problem
    assert (problem.file, problem.field[:9]) == ("config.md", "commands.")
    lost = sent(request("sh", directory="/nowhere/at/all")).problem
    assert lost
    assert (lost.file, lost.message) == (
        "",
        "sh cannot be started in /nowhere/at/all: that folder is not there",
    )
