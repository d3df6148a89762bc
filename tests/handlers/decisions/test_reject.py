"""A person's no: the feedback, byte for byte, and a loop that starts again."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.errors import Halt
from qrspi.core.records import feedback
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import reject
from qrspi.handlers.jobs.job import Job
from tests import runs
from tests.handlers.decisions.test_approve import PLAN
from tests.handlers.gates import DRAFT, NOW, TEXT, USER, WHO, Gate, left, made_good, reviewed_clean
from tests.handlers.refusals import refusal
from tests.runs import artifact

pytestmark = pytest.mark.usefixtures("fixed_time")

CHANGED = artifact(body="# Text\n\n## Approach\n\nOther words.\n")


def no(job: Job, words: bytes = b"Say for whom.") -> ChangeSet:
    return reject.plan(job, job.facts.step, words)


@pytest.mark.rule("REJ-01", "APV-01", "CMT-06")
def test_a_no_is_feedback_a_record_and_a_commit(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | reviewed_clean("goals", TEXT))
    gate.write("design.md", TEXT)
    before = gate.files()
    gate.make(no)
    path = "feedback/goals-round-01.md"
    [record] = gate.records()
    assert [one["section"] for one in record.pop("parts")] == ["", "Approach"]
    assert [record] == [
        {
            "event": "reject",
            "step": "goals",
            "body_hash": runs.text_hash(TEXT),
            "round": 1,
            "who": WHO,
            "when": NOW,
            "surface": "cli",
            "feedback": path,
            "user": USER,
            "route": runs.ON_FULL,
        }
    ]
    after = gate.files()
    del after["approvals.jsonl"]
    assert after == before | {path: feedback.render("goals", 1, b"Say for whom.", TEXT)}
    assert gate.subjects() == ["docs(qrspi): reject goals for user-auth", "start"]
    assert gate.committed() == ["approvals.jsonl", path]


@pytest.mark.rule("REJ-01", "ST-10", "CAP-03")
def test_the_author_gets_the_words_and_a_new_text_starts_a_new_loop(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | reviewed_clean("goals", TEXT))
    gate.make(no)
    answer = gate.job().next
    assert (answer.action, answer.step) == ("author", "goals")
    assert answer.inputs == ("goals.md", "feedback/goals-round-01.md")
    gate.write("goals.md", CHANGED)
    answer = gate.job().next
    assert (answer.action, answer.round) == ("prepare-round", 2)


@pytest.mark.rule("REJ-01")
def test_rejections_are_counted(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    for number, text in enumerate((TEXT, CHANGED), 1):
        gate.write("goals.md", text)
        move, _ = gate.make(no)
        assert move.concerns == (f"feedback/goals-round-{number:02d}.md",)
    gate.make(lambda job: no(job, b"And why."))
    assert [record["feedback"][-5:] for record in gate.records()] == ["01.md", "02.md", "03.md"]


@pytest.mark.rule("LIV-04")
def test_feedback_has_the_number_of_the_round_it_answers(tmp_path: Path) -> None:
    rounds = reviewed_clean("goals", TEXT) | reviewed_clean("goals", TEXT, 3)
    gate = Gate(tmp_path / "shop", DRAFT | rounds)
    gate.make(no)
    gate.make(lambda job: no(job, b"And why."))
    assert [record["feedback"] for record in gate.records()] == [
        "feedback/goals-round-03.md",
        "feedback/goals-round-04.md",
    ]


@pytest.mark.rule("REJ-01")
def test_the_same_words_about_the_same_text_are_said_once(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.make(no)
    before = left(gate)
    refused = refusal(gate.make, no)
    line = "goals.md is rejected with these very words already: feedback/goals-round-01.md"
    assert str(refused) == line
    assert left(gate) == before


@pytest.mark.rule("APR-04", "REJ-01")
def test_the_tasks_of_a_plan_go_back_with_it(tmp_path: Path) -> None:
    task = artifact("approved", "# Task 01: One\n")
    gate = Gate(tmp_path / "shop", PLAN | {"tasks/task-01.md": task})
    gate.make(no)
    assert gate.files()["tasks/task-01.md"] == task.replace(b"approved", b"draft")
    assert gate.committed() == ["approvals.jsonl", "feedback/plan-round-01.md", "tasks/task-01.md"]


@pytest.mark.rule("REJ-01")
@pytest.mark.parametrize("words", [b"", b" \n\t"])
def test_words_are_needed(tmp_path: Path, words: bytes) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    assert str(refusal(gate.make, lambda job: no(job, words))) == (
        "the feedback is empty: say what is wrong with goals.md"
    )
    assert gate.files() == DRAFT


@pytest.mark.rule("REJ-01", "SEC-02")
def test_a_book_is_no_feedback(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    assert (
        str(refusal(gate.make, lambda job: no(job, b"x" * (feedback.LIMIT + 1))))
        == "the feedback has 1048577 bytes, the most is 1048576"
    )
    assert gate.files() == DRAFT


@pytest.mark.rule("ENG-05", "REJ-01")
@pytest.mark.parametrize(
    ("obstacle", "line"),
    [
        ("file", "cannot write feedback/goals-round-01.md: Not a directory"),
        (
            "link",
            "feedback/goals-round-01.md is a symlink or lies below one: the engine never writes "
            "through a symlink",
        ),
    ],
)
def test_words_that_cannot_be_kept_change_nothing(tmp_path: Path, obstacle: str, line: str) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    if obstacle == "file":
        gate.write("feedback", "in the way")
    else:
        (gate.run / "feedback").symlink_to(tmp_path)
    before = gate.files()
    refused = refusal(gate.make, no)
    assert str(refused) == line
    assert isinstance(refused, Halt) is (obstacle == "file")
    assert gate.files() == before


@pytest.mark.rule("ENG-04", "REJ-01")
@pytest.mark.parametrize("name", ["goals", "plan"])
def test_the_same_command_finishes_after_a_kill(tmp_path: Path, name: str) -> None:
    files = DRAFT if name == "goals" else PLAN | {"tasks/task-01.md": artifact("approved")}
    gates = made_good(Gate(tmp_path / "shop", files), no)
    assert [len(gate.records()) for gate in gates] == [1] * (3 if name == "goals" else 4)


@pytest.mark.rule("ENG-04")
def test_other_words_after_a_kill_are_another_rejection(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.make_first(no, 1)
    gate.make(lambda job: no(job, b"Something else."))
    assert sorted(path for path in gate.files() if path.startswith("feedback")) == [
        "feedback/goals-round-01.md",
        "feedback/goals-round-02.md",
    ]
    assert [record["feedback"] for record in gate.records()] == ["feedback/goals-round-02.md"]
