"""Whatever an agent prints: a Problem, or files of its own step that are drafts."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front
from qrspi.handlers.agents import answer_files
from qrspi.handlers.agents.answer_files import Draft
from tests import runs

PIECES = (
    "---\n",
    "status: draft\n",
    "status: approved\n",
    "'status': approved\n",
    "status: [approved\n",
    "<<<FILE tasks/task-01.md>>>\n",
    "<<<FILE ../../etc/passwd>>>\n",
    "<<<FILE config.md>>>\n",
    "<<<FILE plan.md>>>\n",
    "<<<FILE dispositions>>>\n",
    "```\n",
    "# Text\n",
    "\n",
    "\ufeff",
    "\r\n",
    "<<: *x\n",
)
replies = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=14).map("".join)
TREE = runs.tree({"plan.md": b"---\nstatus: approved\nphase_start_commit: abc\n---\n# Old\n"})


@pytest.mark.rule("PRM-07", "SEC-01")
@given(replies)
def test_an_author_writes_drafts_of_its_own_step_or_nothing(text: str) -> None:
    found = answer_files.drafted(TREE, "plan", "plan.md", text)
    if isinstance(found, Problem):
        assert found.message
        return
    assert isinstance(found, Draft)
    allowed = ("plan.md", *STEP["plan"].companions)
    assert found.files[-1].path == "plan.md"
    for file in found.files:
        assert any(fnmatch.fnmatchcase(file.path, pattern) for pattern in allowed)
        assert ".." not in file.path
        assert frontmatter.status(file.text.encode(), file.path) == ("draft", None)
    front = frontmatter.read(found.files[-1].text.encode())
    assert isinstance(front, Front)
    assert frontmatter.text(front.fields, "phase_start_commit") == "abc"
