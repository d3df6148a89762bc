"""A broker as a real program: launch, await, a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qrspi.core.agents.transports import Means
from qrspi.core.config.vendors import Provider
from qrspi.world.agents import codex_broker
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from tests.project import trap

KEY = "sk-test-0123456789abcdef"
BROKER = """
echo "$*" >> {log}
case $1 in
launch) cat > {log}.prompt; test "$CODEX_KEY" = {key} && echo job-7;;
await) echo "reply to $2" > "$4";;
esac
"""


def request(folder: Path, launched: list[str], job: str = "") -> Request:
    provider = Provider("https://api.example.com/v1", "CODEX_KEY", "codex-broker", {})
    return Request(
        "quality-codex",
        "goals",
        1,
        b"Review it.",
        Means("codex-broker", "text", provider=provider),
        "m-1",
        str(folder),
        result_file=str(folder / "quality-codex.result"),
        broker_job=job,
        launched=lambda job, ticket: launched.append(job),
    )


def sent(folder: Path, script: str, job: str = "") -> tuple[Answer, list[str]]:
    program = trap(folder / "broker", script.format(log=folder / "log", key=KEY))
    launched: list[str] = []
    world = {"PATH": os.environ["PATH"], "QRSPI_BROKER": str(program), "CODEX_KEY": KEY}
    with DispatchContext(world) as wire:
        return codex_broker.send(request(folder, launched, job), wire), launched


@pytest.mark.rule("TRN-03")
def test_a_job_is_launched_awaited_and_read_from_its_file(tmp_path: Path) -> None:
    done, launched = sent(tmp_path, BROKER)
    assert (done.data, done.problem, launched) == (b"reply to job-7\n", None, ["job-7"])
    assert (tmp_path / "log.prompt").read_bytes() == b"Review it."
    result = tmp_path / "quality-codex.result"
    assert (tmp_path / "log").read_text().splitlines() == [
        "launch --model m-1 --base-url https://api.example.com/v1 --api-key-env CODEX_KEY",
        f"await job-7 --output-file {result}",
    ]


@pytest.mark.rule("TRN-03", "MAN-02")
def test_a_job_that_was_launched_before_is_only_awaited(tmp_path: Path) -> None:
    done, launched = sent(tmp_path, BROKER, job="job-5")
    assert (done.data, launched) == (b"reply to job-5\n", [])
    assert (tmp_path / "log").read_text().startswith("await job-5 ")


@pytest.mark.rule("TRN-03", "SPD-02")
@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("exit 3", "transport-failed", "{broker} exited 3"),
        (
            "echo two words",
            "transport-bad-response",
            "{broker} launch did not print a job's id: expected one line of letters, digits, . _ -",
        ),
        (
            "echo job-1",
            "transport-bad-response",
            "{folder}/quality-codex.result was not left by the broker (it is not there)",
        ),
        (
            "test $1 = launch && echo job-1 && exit 0; echo no such job >&2; exit 4",
            "transport-failed",
            "{broker} exited 4: no such job",
        ),
    ],
)
def test_a_broker_that_fails_is_one_line(
    tmp_path: Path, script: str, code: str, message: str
) -> None:
    done, _ = sent(tmp_path, script)
    assert done.problem
    told = message.format(broker=tmp_path / "broker", folder=tmp_path)
    assert (done.data, done.problem.code, done.problem.message) == (b"", code, told)
