"""Beside whom we run, who else could review, and whom the user trusts."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.config import reader as configs
from qrspi.world.machine import hosts
from qrspi.world.machine.hosts import Availability
from tests import runs
from tests.project import trap

MODEL = "{vendor: second, model: m}"
PROVIDER = (
    "{second: {base_url: 'https://a.example', api_key_env: SECOND_KEY, "
    "transport_type: openai-chat-completions}}"
)
COMMAND = "{second: {argv: [second-agent, -p]}}"


@pytest.mark.rule("TRN-05")
@pytest.mark.parametrize(
    ("environment", "host"),
    [
        ({"COPILOT_CLI": "1"}, "copilot"),
        ({"COPILOT_CLI": "1", "CLAUDECODE": "1"}, "copilot"),
        ({"COPILOT_CLI": "0", "CLAUDECODE": "1"}, "claude-code"),
        ({"CLAUDECODE": "yes"}, "claude-code"),
        ({"CLAUDECODE": ""}, "plain"),
        ({}, "plain"),
    ],
)
def test_the_host_is_seen_by_its_variable(environment: dict[str, str], host: str) -> None:
    assert hosts.detect(environment) == host


@pytest.mark.rule("TRN-05", "CFG-19")
@pytest.mark.parametrize(
    ("fields", "environment", "found"),
    [
        (
            {"second_reviewer_model": MODEL, "providers": PROVIDER},
            {"SECOND_KEY": "x"},
            Availability("plain", True, "the variable SECOND_KEY is set"),
        ),
        (
            {"second_reviewer_model": MODEL, "providers": PROVIDER},
            {"COPILOT_CLI": "1"},
            Availability("copilot", False, "the variable SECOND_KEY is not set"),
        ),
        (
            {"second_reviewer_model": MODEL, "commands": COMMAND},
            {"PATH": "{bin}"},
            Availability("plain", True, "second-agent is on the PATH"),
        ),
        (
            {"second_reviewer_model": MODEL, "commands": COMMAND},
            {"PATH": "/nowhere", "CLAUDECODE": "1"},
            Availability("claude-code", False, "second-agent is not on the PATH"),
        ),
        ({}, {"PATH": "/nowhere"}, Availability("plain", False, "codex is not on the PATH")),
        (
            {},
            {"PATH": "/nowhere", "COPILOT_CLI": "1"},
            Availability("copilot", True, "the host reaches it by itself"),
        ),
    ],
)
def test_a_second_vendor_is_there_when_its_key_or_its_program_is(
    tmp_path: Path, fields: dict[str, str], environment: dict[str, str], found: Availability
) -> None:
    trap(tmp_path / "second-agent", "")
    world = {key: value.format(bin=tmp_path) for key, value in environment.items()}
    assert hosts.second_vendor(configs.read(runs.config(**fields)), world) == found
