"""A failure that nobody foresaw, in one run: there is no memory for its config."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qrspi.cli import main
from qrspi.hooks import answer
from tests import runs, scenes

pytestmark = pytest.mark.rule("SEC-03", "HST-06")
BAD = "2026-01-01-bad-run"
REASON = "a bug in qrspi: MemoryError: no more"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    run = scenes.project(tmp_path.resolve(), runs.RUN, BAD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "open", _failing(os.open, f"{run.parent}/{BAD}/config.md"))
    return run.parents[2]


def _failing(real: Callable[..., int], bad: str) -> Callable[..., int]:
    def opened(path: Any, *how: Any, **more: Any) -> int:
        if path == bad:
            raise MemoryError("no more")
        return real(path, *how, **more)

    return opened


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_status_and_inbox_tell_of_it_beside_the_others(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = {state["run"]: state for state in said(capsys, "status", "--all")["runs"]}
    assert [error["message"] for error in states[BAD]["errors"]] == [REASON]
    assert states[BAD]["next"]["command"] == f"qrspi -v status {BAD}"
    assert states[runs.RUN]["errors"] == []
    waiting = {item["run"]: item["summary"] for item in said(capsys, "inbox")["items"]}
    assert waiting[BAD] == f"{REASON}. The other runs are not concerned."
    assert said(capsys, "status", BAD)["code"] == "bug"


def test_verify_and_doctor_look_through_the_others(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = [(gap["run"], gap["because"]) for gap in said(capsys, "verify")["gaps"]]
    assert gaps == [(BAD, REASON)]
    signs = {sign["about"]: sign["message"] for sign in said(capsys, "doctor")["findings"]}
    assert (signs[BAD], signs[runs.RUN]) == (REASON, "nothing is odd")


@pytest.mark.parametrize("file", ["goals.md", "approvals.jsonl"])
def test_the_hook_goes_on_protecting_it(
    project: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"printf -- '---\\nstatus: approved\\n---\\n' > docs/qrspi/{BAD}/{file}"
    call = {"cwd": str(project), "tool_name": "Bash", "tool_input": {"command": command}}
    told = answer.answer("pre-tool", "claude-code", json.dumps(call).encode())
    assert told and told["hookSpecificOutput"]["permissionDecision"] == "deny"
