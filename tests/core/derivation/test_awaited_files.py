"""Which files a next action waits for."""

from __future__ import annotations

from typing import get_args

import pytest

from qrspi.core.derivation.awaited_files import AwaitedFile, awaited
from qrspi.core.model import Ask, AskKind, Next, NextKind
from qrspi.render.run_page import next_document

ROUND = "reviews/goals/round-02"
FILES: dict[Ask, tuple[AwaitedFile, ...]] = {
    Ask("author", "research"): (AwaitedFile("research/summary.md", "artifact", printed=True),),
    Ask("author", "plan"): (AwaitedFile("plan.md", "artifact"),),
    Ask("research-question", "research", target="q01-codebase"): (
        AwaitedFile("research/q01-codebase.md", "answer", printed=True),
    ),
    Ask("review", "goals", 2, "scope-claude"): (
        AwaitedFile(
            f"{ROUND}/scope-claude.finding-F01.md", "finding", f"{ROUND}/scope-claude.clean.md"
        ),
    ),
    Ask("verify", "goals", 2, "scope-claude.finding-F01"): (
        AwaitedFile(f"{ROUND}/scope-claude.finding-F01.score.yml", "score"),
    ),
    Ask("fix", "goals", 2): (AwaitedFile(f"{ROUND}-dispositions.md", "dispositions"),),
    Ask("implement", "task-01", 1): (AwaitedFile("reviews/tasks/task-01/report.md", "report"),),
    Ask("quality", "quality", target="task-01"): (AwaitedFile("tasks/task-01.md", "verdict"),),
}


def following(kind: NextKind = "", **fields: object) -> Next:
    return Next("author", "agent", "Go on.", (), "goals", 2, kind=kind)._replace(**fields)


def test_there_is_a_row_for_every_kind_of_question() -> None:
    assert {ask.kind for ask in FILES} == set(get_args(AskKind))


@pytest.mark.rule("LIV-03")
@pytest.mark.parametrize("ask", FILES, ids=lambda ask: ask.kind)
def test_every_agent_is_waited_for_by_its_files(ask: Ask) -> None:
    assert awaited(following(asks=(ask,))) == FILES[ask]


@pytest.mark.rule("LIV-03")
@pytest.mark.parametrize(
    "answer, expected",
    [
        (following(missing=("config.md",)), (AwaitedFile("config.md", "config"),)),
        (following(missing=("plan.md", "tasks/task-01.md")), ("plan.md", "tasks/task-01.md")),
        (following(missing=("replan-pending.md",)), (AwaitedFile("replan-pending.md", "record"),)),
        (following(missing=("task-01", "a git repository")), ()),
        (following("replan", asks=(Ask("author", "replan"),)), ()),
        (
            following("pause", missing=("scope-claude.R2-F01",)),
            (AwaitedFile("reviews/goals-loop-pause-round-02.md", "decisions"),),
        ),
    ],
)
def test_without_agents_the_files_it_names(
    answer: Next, expected: tuple[AwaitedFile | str, ...]
) -> None:
    rows = (AwaitedFile(one, "artifact") if isinstance(one, str) else one for one in expected)
    assert awaited(answer) == tuple(rows)


@pytest.mark.rule("LIV-03")
def test_files_to_correct_come_before_those_nobody_wrote_yet() -> None:
    wrong = tuple(f"{ROUND}/scope-claude.{name}" for name in ("finding-F01.md", "odd.md"))
    ask = Ask("verify", "goals", 2, "scope-claude.finding-F02")
    found = awaited(following("fix-files", missing=wrong, asks=(ask,)))
    assert [(one.file, one.kind) for one in found] == [
        (wrong[0], "finding"),
        (wrong[1], "record"),
        (f"{ROUND}/scope-claude.finding-F02.score.yml", "score"),
    ]


def test_only_findings_and_scores_have_a_schema() -> None:
    found = {one.kind: one.schema for files in FILES.values() for one in files}
    assert {kind: schema for kind, schema in found.items() if schema} == {
        "finding": "schemas/finding.schema.json",
        "score": "schemas/sidecar.schema.json",
    }


@pytest.mark.rule("LIV-02")
@pytest.mark.parametrize(
    ("command", "runnable"),
    [
        ("qrspi task report run task-01 --status DONE --commit HEAD", True),
        ("qrspi approve run goals", True),
        ("qrspi task accept run task-01 --reason TEXT", False),
        ("qrspi config set run gates.test_command 'CMD'", False),
        ("qrspi next run --onto BRANCH", False),
    ],
)
def test_a_program_is_given_a_command_only_where_nothing_must_be_put_in(
    command: str, runnable: bool
) -> None:
    expected = command if runnable else None
    assert next_document(following(command=command))["command"] == expected
