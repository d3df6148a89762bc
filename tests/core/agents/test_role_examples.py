"""What the role texts teach by example is what the engine reads."""

from __future__ import annotations

import re

import pytest

from qrspi.core import reviewers
from qrspi.core.agents.roles import Role, for_tag
from qrspi.core.artifacts import parallelization, questions
from qrspi.core.artifacts import task_file as task_files
from qrspi.core.artifacts.branch_map import Plan
from qrspi.core.artifacts.task_file import Task
from qrspi.core.code_steps import implementers
from qrspi.core.code_steps.batch import Item
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.config.reader import Config
from qrspi.core.findings import guard, printed_reply
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject, subject
from qrspi.core.rounds import dispositions, scope_set
from qrspi.core.tree import MemoryTree
from qrspi.world.runs import role_files

PARTS = role_files.shared_parts()
_FENCED = re.compile(r"^(`{3,})[a-z]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def _example(text: str, number: int = 0) -> str:
    return [match[2] for match in _FENCED.finditer(text)][number]


def _text(name: str) -> str:
    role = role_files.shipped(name)
    assert isinstance(role, Role)
    return role.text


def _subject(word: str) -> Subject:
    found = subject(word)
    assert found is not None
    return found


DESIGN = "# Design\n" + "## Approach\n" + "text\n" * 200
STRICT = Config(
    second_reviewer=False,
    verifier_enabled=True,
    guard="strict",
    extra_reviewers={},
)


@pytest.mark.rule("PRM-04", "FND-01", "FND-04", "FND-05")
def test_the_examples_of_finding_score_and_clean_pass_the_strict_guard():
    clean = _example(PARTS["emit-files"]).replace("<reviewer_tag>", "scope-claude")
    files = {
        "design.md": DESIGN.encode(),
        "reviews/design/round-03/quality-claude.finding-F02.md": _example(PARTS["finding-format"]),
        "reviews/design/round-03/quality-claude.finding-F02.score.yml": _example(
            PARTS["sidecar-format"]
        ),
        "reviews/design/round-03/scope-claude.clean.md": clean.replace("<round>", "3"),
    }
    tree = MemoryTree({name: _bytes(text) for name, text in files.items()})
    read = guard.read_round(tree, _subject("design"), 3, STRICT, None)
    assert (read.violations, read.warnings) == ((), ())
    assert [finding.name for finding in read.findings] == ["quality-claude.R3-F02"]
    assert read.sidecars["quality-claude.finding-F02"].score == 85
    assert [clean.tag for clean in read.cleans] == ["scope-claude"]


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


@pytest.mark.rule("PRM-04", "SPL-02")
def test_the_printed_example_splits():
    example = _example(PARTS["emit-print"])
    found = printed_reply.split(example.encode(), "quality-codex", 3)
    assert isinstance(found, printed_reply.Split)
    assert [name for name, _ in found.files] == [
        "quality-codex.finding-F01.md",
        "quality-codex.finding-F02.md",
    ]
    assert found.warnings == ()


@pytest.mark.rule("PRM-05", "IMP-11")
@pytest.mark.parametrize("part", ["task-report", "tests-report"])
def test_who_reports_is_told_of_the_command_that_it_has(part):
    command = implementers.report_command(
        "qrspi task report run", TaskState(Item("task-01", "tasks/task-01.md"), "ready")
    )
    told = PARTS[part]
    assert "`--commit HEAD`" in told and command.endswith("--status DONE --commit HEAD")
    assert "SHA" not in told


@pytest.mark.rule("PRM-05", "SCP-04")
def test_the_tagger_says_what_it_needs_to_be_told():
    text = _text("tagger")
    named = ("round", "run_dir", "shape", "artifact_path", "kept_findings", "output_path")
    assert [name for name in named if f"`{name}`" not in text.partition("For each file")[0]] == []


@pytest.mark.rule("PRM-05", "DSR-01")
def test_the_example_of_questions_is_read():
    found, warnings = questions.parse(_example(_text("author-questions")).encode())
    names = ["q01-codebase", "q02-web", "q03-hybrid", "q04-codebase"]
    assert [question.name for question in found] == names
    assert [question.joins for question in found] == [0, 0, 0, 1]
    assert warnings == ()


@pytest.mark.rule("PRM-05", "IMP-02", "IMP-03")
def test_the_example_of_tables_is_read():
    plan = parallelization.read(_example(_text("author-parallelize")).encode())
    assert isinstance(plan, Plan), plan
    assert parallelization.waves(plan) == (("task-01", "task-02"), ("task-03", "task-04"))
    assert parallelization.warnings(plan, {}) == ()


@pytest.mark.rule("PRM-05", "ST-08")
def test_the_example_of_a_task_is_read():
    task = task_files.read(_example(_text("author-plan")).encode(), "task-01")
    assert isinstance(task, Task)
    assert task.title == "Expire session records after their lifetime"
    assert task.target_files == ("src/session/store.py", "tests/session/test_store.py")
    assert task.dependencies == ()


@pytest.mark.rule("PRM-05", "DSP-01")
def test_the_examples_of_dispositions_are_accepted():
    text = _text("fixer")
    whole = _example(text) + "\n" + _example(text, 1)
    assert dispositions.problems(whole.encode(), "round-03-dispositions.md", 3) == ()


@pytest.mark.rule("PRM-05", "SCP-04")
def test_the_example_of_a_scope_set_is_accepted():
    found = scope_set.read(_example(_text("tagger")).encode())
    assert not isinstance(found, Problem)
    assert found.tags == ("## Approach", "## Trade-offs", "<full>")


@pytest.mark.rule("PRM-05", "MTX-01")
def test_every_reviewer_of_the_matrix_has_a_role():
    table = reviewers.shipped()
    rows = (*table.steps.values(), *table.task.values(), table.optional)
    stems = {stem for row in rows for stem in row}
    names = {f"reviewer-{stem}" for stem in stems} | {for_tag(table.visual)}
    shipped = {name for name in role_files.shipped_names() if name.startswith("reviewer-")}
    assert names == shipped
