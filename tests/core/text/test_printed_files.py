"""Printed replies that hold several files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.model import Problem
from qrspi.core.text.printed_files import DISPOSITIONS, Printed, files

ALLOWED = ("tasks/task-*.md", "roadmap.md", DISPOSITIONS)


@pytest.mark.rule("PRM-07")
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("---\nstatus: draft\n---\n# Plan", [("plan.md", "---\nstatus: draft\n---\n# Plan\n")]),
        ("\n# Plan\n\n\n", [("plan.md", "# Plan\n")]),
        (
            "# Plan\n<<<FILE tasks/task-01.md>>>\n\none\n<<<FILE tasks/task-02a.md>>>\r\ntwo",
            [
                ("plan.md", "# Plan\n"),
                ("tasks/task-01.md", "one\n"),
                ("tasks/task-02a.md", "two\n"),
            ],
        ),
        ("<<<FILE plan.md>>>\n# Plan\n", [("plan.md", "# Plan\n")]),
        (
            "# Plan\n<<<FILE dispositions>>>\n- a.R1-F01: applied.\n",
            [("plan.md", "# Plan\n"), ("dispositions", "- a.R1-F01: applied.\n")],
        ),
        (
            "```markdown\n---\nstatus: draft\n---\n# Plan\n```sh\nls\n```\nend\n```\n",
            [("plan.md", "---\nstatus: draft\n---\n# Plan\n```sh\nls\n```\nend\n")],
        ),
        ("```\nonly code\n```\n", [("plan.md", "```\nonly code\n```\n")]),
        ("a\r\nb\r\n", [("plan.md", "a\nb\n")]),
        ("text `<<<FILE x>>>` inline", [("plan.md", "text `<<<FILE x>>>` inline\n")]),
    ],
)
def test_files_come_apart(reply, expected):
    assert files(reply, "plan.md", ALLOWED) == tuple(Printed(*pair) for pair in expected)


@pytest.mark.rule("PRM-07", "SEC-01")
@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (
            "x\n<<<FILE ../../etc/cron.md>>>\nx",
            "a file '../../etc/cron.md', expected only the files of this step",
        ),
        (
            "x\n<<<FILE tasks/task-/../../x.md>>>\nx",
            "a file 'tasks/task-/../../x.md', expected only the files of this step",
        ),
        ("x\n<<<FILE plan.md>>>\nx", "a file 'plan.md', expected only the files of this step"),
        (
            "x\n<<<FILE roadmap.md>>>\nx\n<<<FILE roadmap.md>>>\ny",
            "a file 'roadmap.md' twice, expected each file once",
        ),
        ("x\n<<<FILE roadmap.md>>>\n \n", "nothing for 'roadmap.md', expected its whole text"),
        ("<<<FILE roadmap.md>>>\nx\n", "nothing for 'plan.md', expected its whole text"),
        (
            "x\n<<<FILE roadmap.md\nx\n",
            "a line '<<<FILE roadmap.md', expected lines '<<<FILE path>>>' between files",
        ),
        (
            "x\n  <<<FILE roadmap.md>>>\nx\n",
            "a line '<<<FILE roadmap.md>>>', expected lines '<<<FILE path>>>' between files",
        ),
        (
            "x\n<<<FILE roadmap.md>>>",
            "a line '<<<FILE roadmap.md>>>', expected lines '<<<FILE path>>>' between files",
        ),
    ],
)
def test_a_reply_that_does_not_come_apart_is_a_problem(reply, found):
    problem = files(reply, "plan.md", ALLOWED)
    assert isinstance(problem, Problem)
    assert problem.message == f"reply: found {found}"


@pytest.mark.rule("PRM-07")
@given(st.text(max_size=100), st.lists(st.sampled_from(["\n<<<FILE roadmap.md>>>\n", "x", "```"])))
def test_only_allowed_files_come_out(text: str, pieces: list[str]) -> None:
    answer = files(text + "".join(pieces), "plan.md", ALLOWED)
    if not isinstance(answer, Problem):
        assert {printed.path for printed in answer} <= {"plan.md", "roadmap.md"}
        assert all(printed.text.endswith("\n") and printed.text.strip() for printed in answer)
