"""Whatever bytes a run's files hold, there is an answer, and it can be shown."""

from __future__ import annotations

import json
import marshal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.derivation import state_values
from qrspi.core.derivation.brief import reasons
from qrspi.core.derivation.derive import derive, survey
from qrspi.core.model import RunState
from qrspi.core.named_tuple import bare
from qrspi.core.recording_tree import RecordingTree
from qrspi.core.tree import MemoryTree
from qrspi.render import run_page
from tests import runs

ROUND = "reviews/goals/round-01"
PATHS = (
    "config.md",
    "goals.md",
    "questions.md",
    "approvals.jsonl",
    "closed.md",
    "replan-pending.md",
    "phases/phase-01/x",
    "feedback/goals-round-01.md",
    "tasks/task-01.md",
    "reviews/goals/loop.md",
    "reviews/goals-loop-pause-round-01.md",
    f"{ROUND}/.dispatch-manifest.json",
    f"{ROUND}/quality-claude.finding-F01.md",
    f"{ROUND}/quality-claude.finding-F01.score.yml",
    f"{ROUND}/scope-claude.clean.md",
    f"{ROUND}/\x1b[2J\u202e",
    f"{ROUND}-verified.md",
    f"{ROUND}-scope-set.txt",
    f"{ROUND}-dispositions.md",
    f"{ROUND}-commit.txt",
    "reviews/goals/round-9999/x",
)
GOALS = runs.artifact()
GOOD = (
    runs.config("quick"),
    runs.config(guard="strict"),
    GOALS,
    runs.artifact("approved"),
    runs.manifest(body=GOALS),
    runs.finding(),
    runs.finding(kind="intent"),
    runs.score(95),
    runs.clean("scope-claude"),
    b"---\nmode: loop\n---\n",
    b"---\ndecisions:\n  quality-claude.R1-F01: pending\n---\n",
    b"0" * 40 + b"\n",
)
CONTENT = st.one_of(
    st.sampled_from(GOOD), st.binary(max_size=80), st.text(max_size=40).map(str.encode)
)
FILES = st.dictionaries(st.sampled_from(PATHS), CONTENT).map(
    lambda files: {"config.md": runs.config("quick"), **files}
)
FULL = st.fixed_dictionaries(
    {"config.md": st.sampled_from(GOOD[:2]), "goals.md": st.sampled_from(GOOD[2:4])},
    optional=dict.fromkeys(PATHS[2:], CONTENT),
)


def shown(state: RunState) -> str:
    look = run_page.Look(40, explain=True)
    pages = (
        run_page.run_page(state, look),
        run_page.checklist(state, look),
        run_page.board([state]),
    )
    return "\n".join(line for page in pages for line in page)


@pytest.mark.rule("ST-07", "SEC-01", "SEC-04")
@given(st.one_of(FILES, FULL), st.booleans())
def test_any_bytes_have_a_state_that_can_be_shown(files: dict[str, bytes], in_git: bool) -> None:
    tree = MemoryTree(files, runs.RUN, in_git)
    state = derive(tree)
    assert state == derive(tree) == state_values.load(marshal.loads(marshal.dumps(bare(state))))
    assert {char for char in shown(state) if not char.isprintable()} <= {"\n"}
    assert json.loads(json.dumps(run_page.run_document(state)))["run"] == runs.RUN
    if state.complete:
        assert state.next.action == "done"


@given(st.one_of(FILES, FULL), st.booleans())
def test_looking_once_and_looking_at_everything_agree(
    files: dict[str, bytes], in_git: bool
) -> None:
    tree = MemoryTree(files, runs.RUN, in_git)
    found = survey(RecordingTree(tree), thorough=True)
    assert found.state == derive(tree)
    assert found.state._replace(steps=()) == derive(tree, steps=False)
    assert all(reasons(found))
