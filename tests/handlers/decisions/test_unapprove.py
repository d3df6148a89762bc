"""Taking the yes to one step back: that artifact, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import rewind
from qrspi.handlers.jobs.job import Job
from tests import runs
from tests.handlers.gates import NOW, USER, WHO, Gate, made_good
from tests.handlers.refusals import refusal
from tests.runs import approved, artifact, config

pytestmark = pytest.mark.usefixtures("fixed_time")

STEPS = ("goals", "questions", "research", "design", "phasing", "structure", "plan")
FILES = {
    "config.md": config(),
    **approved(*STEPS),
    "plan.md": b"---\nstatus: approved\nphase_start_commit: " + b"a" * 40 + b"\n---\n\n# Plan\n",
    "tasks/task-01.md": artifact("approved"),
    "tasks/task-02.md": artifact("approved"),
    "parallelization.md": artifact(),
}


@pytest.mark.rule("APR-05", "APV-01", "CMT-06")
def test_one_artifact_returns_to_draft(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    gate.make(lambda job: rewind.unapprove(job, "design"))
    record = {
        "event": "unapprove",
        "step": "design",
        "body_hash": runs.text_hash(FILES["design.md"], "design.md"),
        "round": 0,
        "who": WHO,
        "when": NOW,
        "surface": "cli",
        "user": USER,
        "route": runs.ON_FULL,
    }
    [found] = gate.records()
    assert {one["file"] for one in found.pop("parts")} == {"design.md"}
    assert found == record
    after = gate.files()
    del after["approvals.jsonl"]
    assert after == FILES | {"design.md": FILES["design.md"].replace(b"approved", b"draft")}
    assert gate.subjects()[0] == "docs(qrspi): unapprove design for user-auth"
    assert gate.committed() == ["approvals.jsonl", "design.md"]
    assert gate.job().facts.step == "design"


@pytest.mark.rule("APR-04", "APR-05", "RP-01")
def test_a_plan_takes_its_tasks_along_and_keeps_its_start(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    move, _ = gate.make(lambda job: rewind.unapprove(job, "plan"))
    assert [edit.path for edit in move.edits] == [
        "approvals.jsonl",
        "plan.md",
        "tasks/task-01.md",
        "tasks/task-02.md",
    ]
    files = gate.files()
    assert files["plan.md"] == FILES["plan.md"].replace(b"approved", b"draft")
    assert files["tasks/task-02.md"] == artifact("draft")


@pytest.mark.rule("APR-05")
@pytest.mark.parametrize(
    ("step", "line"),
    [
        (
            "parallelize",
            "parallelization.md is draft, not approved; approved steps: " + ", ".join(STEPS),
        ),
        (
            "implement",
            "implementation.md is missing, not approved; approved steps: " + ", ".join(STEPS),
        ),
    ],
)
def test_what_is_not_approved_is_refused(tmp_path: Path, step: str, line: str) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    assert str(refusal(gate.make, lambda job: rewind.unapprove(job, step))) == line
    assert gate.files() == FILES


@pytest.mark.rule("ENG-04", "APR-05")
def test_the_same_command_finishes_after_a_kill(tmp_path: Path) -> None:
    def build(job: Job) -> ChangeSet:
        return rewind.unapprove(job, "plan")

    gates = made_good(Gate(tmp_path / "shop", FILES), build)
    assert [len(gate.records()) for gate in gates] == [1] * 5
    refusal(gates[-1].make, build)
