"""The grammar of names: what it knows, and that it knows no name that is not safe."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import get_args

import pytest

from qrspi.core import filenames
from qrspi.core.artifacts.branch_map import parse
from qrspi.core.filenames import (
    EngineName,
    FindingName,
    FixRound,
    Rejected,
    SidecarName,
    Unknown,
    task_key,
)
from qrspi.core.model import Ask, AskKind
from qrspi.core.pipeline import subject
from tests.sources import TOGETHER, modules, nodes

FOREIGN = {"arabic": 0x660, "devanagari": 0x966, "wide": 0xFF10}  # where each has its zero


def written(name: str, script: str) -> str:
    return name.translate({ord("0") + digit: FOREIGN[script] + digit for digit in range(10)})


@pytest.mark.parametrize("script", FOREIGN)
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("quality-claude.finding-F01.md", FindingName("quality-claude", 1)),
        ("a.finding-F12.score.yml", SidecarName("a.finding-F12", "score.yml")),
        ("quality-claude.skipped-02.md", EngineName("skipped", "quality-claude", 2)),
        ("a.clean.md.rejected-1", Rejected("a.clean.md", 1)),
        ("rejected-1.jsonl", EngineName("reasons", number=1)),
    ],
)
def test_a_file_of_a_round_has_ascii_digits(name: str, known: object, script: str) -> None:
    assert filenames.parse_round_file(name) == known
    assert filenames.parse_round_file(written(name, script)) == Unknown()


@pytest.mark.parametrize("script", FOREIGN)
@pytest.mark.parametrize(
    ("read", "name", "known"),
    [
        (filenames.task_file_key, "task-01.md", "task-01"),
        (filenames.round_number, "round-03", 3),
        (filenames.round_beside, "round-03-verified.md", 3),
        (filenames.flagged_round, "round-03-backward-loop.flag", 3),
        (filenames.paused_round, "goals-loop-pause-round-03.md", ("goals", 3)),
        (filenames.phase_number, "phase-02", 2),
        (filenames.fix_round, "ci-round-01", FixRound("ci", 1)),
        (filenames.task_named, "Task 3: title", "task-03"),
        (task_key, "3", "task-03"),
        (task_key, "task-03b", "task-03b"),
    ],
)
def test_every_other_name_has_them_too(
    read: Callable[[str], object], name: str, known: object, script: str
) -> None:
    assert read(name) == known
    assert read(written(name, script)) is None


@pytest.mark.parametrize("script", FOREIGN)
def test_a_name_with_other_digits_stays_as_it_is(script: str) -> None:
    run, task, repair = (
        written(name, script) for name in ("2026-05-17-user-auth", "task-10a", "ci-round-10/a")
    )
    assert filenames.slug_of(run) == run
    assert filenames.task_order(task) == (10**9, task)
    assert (subject(task), subject(repair)) == (None, None)


@pytest.mark.parametrize("script", FOREIGN)
def test_a_branch_map_names_no_such_task(script: str) -> None:
    table = "## Branch Map\n\n| Task | Branch | Base |\n|---|---|---|\n| task-01 | a | main |\n"
    assert [branch.task for branch in parse(table.encode())[0].branches] == ["task-01"]
    assert parse(table.replace("01", written("01", script)).encode())[0].branches == ()


@pytest.mark.parametrize("script", FOREIGN)
def test_a_branch_map_names_no_such_stage(script: str) -> None:
    def problems(stage: str) -> list[str]:
        head = "## Branch Map\n\n| Task | Branch | Base |\n|---|---|---|\n"
        return [one.found for one in parse(f"{head}| task-01 | a | {stage} |\n".encode())[1]]

    other = written("stage-after-W1", script)
    assert set(problems(other)) - set(problems("stage-after-W1")) == {other}


PROMPTS = {
    Ask("review", "goals", 3, "quality-claude"): "goals/round-03/quality-claude.md",
    Ask("verify", "implement-gate", 1, "scope-claude.finding-F02"): (
        "implement-gate/round-01/verify-scope-claude.finding-F02.md"
    ),
    Ask("fix", "plan", 12): "plan/round-12/fixer.md",
    Ask("author", "research"): "research/author.md",
    Ask("research-question", "research", target="q01-web"): "research/q01-web.md",
    Ask("quality", "quality", target="task-01"): "quality/task-01.md",
    Ask("implement", "task-01", 2): "task-01/cycle-02/implementer-task-01.md",
    Ask("implement", "ci-round-01/ci-command", 1): (
        "ci-round-01/ci-command/cycle-01/implementer-ci-round-01-ci-command.md"
    ),
}


@pytest.mark.parametrize(("ask", "path"), PROMPTS.items())
def test_each_agent_has_a_prompt_of_its_own(ask: Ask, path: str) -> None:
    assert filenames.prompt_file(ask) == f".qrspi/dispatch/{path}"


@pytest.mark.parametrize(
    ("ask", "about"),
    [
        (Ask("review", "goals", 2, "scope-claude"), ("goals", 2)),
        (Ask("author", "goals"), ("goals", 0)),
        (Ask("implement", "task-01", 3), ("task-01", 0)),
        (Ask("verify", "repairs/ci", 1, "x"), ("repairs/ci", 1)),
        (Ask("implement", "repairs/ci", 1), ("repairs/ci", 0)),
    ],
)
def test_a_folder_says_whom_it_is_about(ask: Ask, about: tuple[str, int]) -> None:
    assert filenames.sent_about(filenames.dispatch_folder(ask)) == about


def test_every_kind_of_question_has_its_place() -> None:
    assert {ask.kind for ask in PROMPTS} == set(get_args(AskKind))


# Names of a document or an event, such as `task-start`, and of no file.
NO_FILES = {"cli/verbs/task.py": "task-{}", "handlers/tasks/reports.py": "task-{}"}
NAMES = re.compile(
    r"(?:round|task|phases/phase)-\{\}|\{\}(?:-round-|\.finding-|\.score\.|\.clean\.md)"  # built
    r"|(?:round|task)-(?:\(|\[0-9|\\d|\.)"  # a pattern
)


def built_in(tree: ast.Module) -> list[str]:
    """The texts that build or match a name which the grammar knows."""
    inner: set[int] = set()
    found: list[str] = []
    for node in nodes(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            inner.update(map(id, node.values))
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = "" if id(node) in inner else node.value
        if NAMES.search(text):
            found.append(text)
    return found


@pytest.mark.parametrize(
    "source",
    [
        'f"round-{n:02d}"',
        'f"{folder}/task-{n}.md"',
        'f"{tag}.finding-F01.md"',
        'f"{stem}.score.yml"',
        'f"{tag}.clean.md"',
        'f"{step}-round-01.md"',
        'r"task-([0-9]+)"',
        r'r"round-\d+"',
    ],
)
def test_a_name_that_is_built_is_noticed(source: str) -> None:
    assert built_in(ast.parse(source))


@TOGETHER
def test_no_other_module_knows_how_files_are_named() -> None:
    found = [
        (path, text)
        for path, tree in modules()
        if path != "core/filenames.py"
        for text in built_in(tree)
        if text != NO_FILES.get(path)
    ]
    assert found == []
