"""kill -9 at every change that verdicts and audits make to the disk: no verdict counts without its
record, no record is there twice, nobody is asked twice, and the same command finishes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qrspi.core.gates.quality import quality_gate
from qrspi.core.gates.quality.quality_gate import QualityGate
from qrspi.core.gates.quality.quality_records import FILE
from qrspi.world.files.run_tree import DiskTree
from tests.faults.strace import CHANGING, error_points, kill_points, needs_strace
from tests.faults.test_kill_gates import NOW, Case, Stage, leftovers
from tests.handlers.gates import Gate
from tests.runs import approved, artifact, config
from tests.task_texts import reply, spec, task

pytestmark = [needs_strace, pytest.mark.slow]

ONE = "tasks/task-01.md"
PASS = f"PASS hash={spec().hash} @{NOW} v1"
ANSWER = reply()
COMMANDS = "{claude: {argv: [sh, ../agent.sh], reply: text, timeout: 20}}"


BOTH = "{quality: live-cache-aware, audit: on}"


def run(status: str = "draft", gates: str = BOTH, **tasks: bytes) -> dict[str, bytes]:
    """A run at its plan, or behind it. It is in no repository itself: its code is elsewhere."""
    fields = {"gates": gates, "review_depth": "quick", "review_mode": "loop", "code_path": "."}
    return {
        "config.md": config("quick", commands=COMMANDS, **fields),
        **approved("goals", "questions", "research"),
        "plan.md": artifact(status, "# Plan\n"),
        ONE: task(status=status),
        **{f"tasks/{name.replace('_', '-')}.md": data for name, data in tasks.items()},
    }


TESTED = "{quality: cache-only, test_command: sh test.sh}"
REJECTED = task(working_directory="", number=2)
RECORDED = json.dumps(
    {"event": "verdict", "task": "task-01", "when": NOW, "line": PASS, "evidence": "dispatched"}
)
CLEARABLE = run() | {ONE: task(quality_verdict=PASS), FILE: f"{RECORDED}\n".encode()}

CASES = {
    "rubric": Case(run(task_02=REJECTED), "quality batch --mode cache-only"),
    "reviewer": Case(run(), "quality check 01"),
    "clear": Case(CLEARABLE, "quality clear 01"),
    "audit": Case(run(), "audit"),
    "approve": Case(
        run(gates="{quality: cache-only}", task_02=REJECTED), "approve plan --unreviewed"
    ),
    "proceed": Case(run("approved", TESTED), "resolve proceed"),
}


class Reviewed(Stage):
    """Beside the project stands a reviewer that is killed for nothing, and counts its calls."""

    def __init__(self, folder: Path, case: Case) -> None:
        super().__init__(folder, case)
        agent = folder / "agent.sh"
        agent.write_text(f"cat > /dev/null; echo x >> ../calls; cat <<'END'\n{ANSWER}END\n")


def whole(gate: Gate) -> None:
    """What a reader relies on: lines of the record are whole, and a PASS that counts is there."""
    record = gate.run / FILE
    lines = record.read_text().splitlines() if record.exists() else []
    assert len(lines) == len(set(lines))
    for line in lines:
        json.loads(line)
    tree = DiskTree(gate.run)
    for key in ("task-01", "task-02"):
        if (gate.run / "tasks" / f"{key}.md").exists():
            assert not isinstance(quality_gate.read_spec(tree, key), str)
            standing = QualityGate(tree).standing(key)
            assert standing.passes is False or any(key in line for line in lines)


@pytest.mark.rule("ENG-04", "MAN-02", "QV-13", "QV-15", "GTD-06")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_same_command_finishes(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QRSPI_NOW", NOW)
    stage = Reviewed(tmp_path, case)
    done = stage.run()
    assert done.returncode == 0, done.stderr
    expected = stage.left()
    calls = tmp_path / "calls"
    killed = 0
    for point in kill_points(stage.argv, stage.fresh, CHANGING, stage.gate.root):
        whole(stage.gate)
        answered = (stage.gate.run / ".qrspi/dispatch/quality/task-01.reply").exists()
        calls.write_text("")
        stage.finish()
        assert stage.left() == expected, point
        assert leftovers(stage.gate.run) == [], point
        assert not (answered and calls.read_text()), "an answer that came is not asked for again"
        killed += point.code == -9
    assert killed


@pytest.mark.rule("ENG-05")
@pytest.mark.parametrize("name", ["rubric", "audit", "approve"])
def test_a_full_disk_harms_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QRSPI_NOW", NOW)
    stage = Reviewed(tmp_path, CASES[name])
    assert stage.run().returncode == 0
    expected = stage.left()
    failing = ("write", "renameat", "linkat", "mkdirat")
    for point in error_points(stage.argv, stage.fresh, "ENOSPC", failing, stage.gate.root):
        assert point.code in (0, 4), point
        whole(stage.gate)
        stage.finish()
        assert stage.left() == expected, point
        assert leftovers(stage.gate.run) == [], point
