"""Wherever a run says what it is for, nobody who works on its facts is told."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qrspi import engine
from qrspi.core.filenames import prompt_file
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace
from tests import runs

QUESTIONS = "1. [codebase] Where are users kept?\n2. [web] What is the standard?\n"
ANSWER = b"---\nstatus: draft\n---\n# Q\n\nUsers are in app/users.py:L3 and nowhere else [1].\n"
FIXED = b"---\nround: 1\nartifact: research\n---\n- quality-claude.R1-F01: applied. L6\n"
ROUND = "reviews/research/round-01"
STAGES: tuple[Mapping[str, bytes], ...] = (
    {},
    {f"research/{name}.md": ANSWER for name in ("q01-codebase", "q02-web", "q03-codebase")},
    {"research/summary.md": ANSWER},
    {
        f"{ROUND}/quality-claude.finding-F01.md": runs.finding(
            step="research", cites="research/summary.md:L6"
        )
    },
    {f"{ROUND}/quality-claude.finding-F01.score.yml": runs.score(95)},
    {"research/summary.md": ANSWER.replace(b"nowhere else", b"in no other place")},
    {f"{ROUND}-dispositions.md": FIXED},
)
FEEDBACK = "---\nstep: {0}\nround: 1\n---\n\n## User Feedback\n\nNot a CANARY.\n"

# Each says what is wanted, in a file of its own or in place of that of a plain run.
PLACES: dict[str, dict[str, str]] = {
    "the name of the run": {},
    "a setting": {"config.md": "feature_branch: qrspi/CANARY\n---\n"},
    "a remark of config.md": {"config.md": "# It is for a CANARY.\n---\n"},
    "what config.md says below": {"config.md": "---\n\nIt is for a CANARY.\n"},
    "the request": {"request.md": "A CANARY, please.\n"},
    "a title of the goals": {"goals.md": "---\nstatus: approved\n---\n# A CANARY\n\nWords.\n"},
    "a field of the goals": {
        "goals.md": "---\nstatus: approved\nfor: CANARY\n---\n# G\n\nWords.\n"
    },
    "a goal": {"goals.md": "---\nstatus: approved\n---\n# Goals\n\n## G1 Sell CANARY\n\nSoon.\n"},
    "a title of the questions": {
        "questions.md": f"---\nstatus: approved\n---\n# About the CANARY\n\n{QUESTIONS}"
    },
    "a field of the questions": {
        "questions.md": f"---\nstatus: approved\nfor: CANARY\n---\n# Questions\n\n{QUESTIONS}"
    },
    "words around the questions": {
        "questions.md": "---\nstatus: approved\n---\n# Questions\n\nWe want a CANARY.\n\n"
        f"{QUESTIONS}\n## Notes\n\nFor the CANARY.\n"
    },
    "words below the list": {
        "questions.md": f"---\nstatus: approved\n---\n# Questions\n\n{QUESTIONS}\nFor a CANARY.\n"
    },
    "feedback on the goals": {"feedback/goals-round-01.md": FEEDBACK.format("goals")},
    "feedback on the questions": {"feedback/questions-round-01.md": FEEDBACK.format("questions")},
    "a review of the goals": {
        "reviews/goals/round-01/scope-claude.finding-F01.md": runs.finding(
            "scope-claude", message="Why a CANARY?"
        ).decode()
    },
    "what is left for later": {"future-goals.md": "# Later\n\nA second CANARY.\n"},
}
WORD = st.text(alphabet="bcdfghjklmnpqrstvwxz", min_size=9, max_size=14)


def files_of(places: set[str], word: str) -> dict[str, bytes]:
    """One run that tells it in all these places; of several in one file, in the last."""
    told = {path: text for place in sorted(places) for path, text in PLACES[place].items()}
    files = {
        "goals.md": runs.artifact("approved"),
        "questions.md": runs.artifact("approved", f"# Questions\n\n{QUESTIONS}"),
        **{path: text.replace("CANARY", word).encode() for path, text in told.items()},
    }
    front = runs.config("full", commit="off").removesuffix(b"---\n")
    return files | {"config.md": front + files.get("config.md", b"---\n")}


def prompts(run: Path, files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Of everybody who is sent, from the first question to a second round."""
    for stage in STAGES:
        for path, data in {**(files if stage == {} else {}), **stage}.items():
            (run / path).parent.mkdir(parents=True, exist_ok=True)
            (run / path).write_bytes(data)
        for ask in engine.advance(Workspace(run), Options()).state.next.asks:
            yield (
                f"{ask.kind} {ask.round} {ask.target}".strip(),
                (run / prompt_file(ask)).read_text(),
            )


@pytest.mark.rule("DSR-01", "PRM-07")
@settings(max_examples=3, deadline=None)
@given(places=st.sets(st.sampled_from(sorted(PLACES)), min_size=3), word=WORD)
@example(places=set(PLACES), word="zeppelinzz")
@example(places={"a title of the questions", "a field of the goals"}, word="zeppelinzz")
@example(places={"a field of the questions", "a title of the goals"}, word="zeppelinzz")
@example(places={"words below the list", "a title of the goals"}, word="zeppelinzz")
def test_no_prompt_of_research_tells_what_is_wanted(places: set[str], word: str) -> None:
    name = f"2026-05-17-{word if 'the name of the run' in places else 'user-auth'}"
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "docs" / "qrspi" / name
        told = dict(prompts(run, files_of(places, word)))
    assert list(told) == [
        "research-question 0 q01-codebase",
        "research-question 0 q02-web",
        "author 0",
        "review 1 quality-claude",
        "verify 1 quality-claude.finding-F01",
        "fix 1",
        "review 2 quality-claude",
    ]
    assert [name for name, text in told.items() if word in text.lower()] == []
    assert [name for name, text in told.items() if "Where are users kept?" in text] == [
        "research-question 0 q01-codebase",
        "author 0",
        "review 1 quality-claude",
        "verify 1 quality-claude.finding-F01",
        "fix 1",
        "review 2 quality-claude",
    ]
