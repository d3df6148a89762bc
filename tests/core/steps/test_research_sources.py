"""Research after its questions were taken back: what is asked for again, and what stays valid."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.steps import research_sources
from qrspi.core.tree import MemoryTree
from tests import runs
from tests.runs import artifact

Q1, Q2 = "1. [codebase] Where are users kept?", "2. [web] Which standard holds?"
FIRST, SECOND, THIRD = (f"research/q0{n}.md" for n in ("1-codebase", "2-web", "3-web"))
SUMMARY = "research/summary.md"


def asking(*lines: str, status: str = "approved") -> bytes:
    return artifact(status, "# Questions\n\n" + "\n".join(lines) + "\n")


BEFORE = {
    "config.md": runs.config("full"),
    "goals.md": artifact("approved"),
    "questions.md": asking(Q1, Q2),
    FIRST: b"In the table.\n",
    SECOND: b"The old one.\n",
    SUMMARY: artifact("approved", "# Research\n\nA table and the old standard.\n"),
}
DRAFT = {SUMMARY: BEFORE[SUMMARY].replace(b"status: approved", b"status: draft")}
REWRITTEN = {SUMMARY: artifact("draft", "# Research\n\nAnother summary.\n")}


def rewound(files: dict[str, bytes], event: str = "rewind") -> bytes:
    tree = MemoryTree(files, runs.RUN)
    marks = [
        Mark(step, step_text.body_hash(tree, subject_of(step)), 0)
        for step in ("questions", "research")
    ]
    who, when = "Nell Example <nell@example.org>", "2026-05-17T09:30:00Z"
    record = Record(event, *marks[0], resets=tuple(marks), who=who, when=when)
    return approvals.render(record._replace(made=research_sources.made(tree)))


def after(changes: dict[str, bytes], *others: dict[str, bytes]) -> dict[str, bytes]:
    """The run after a rewind of each state, then with these changes."""
    log = b"".join(rewound(BEFORE | other) for other in ({}, *others))
    return BEFORE | DRAFT | {approvals.FILE: log} | changes


Q3 = "3. [codebase, with Q1] Who reads them?"
BOTH = b"---\nquestion_ids: [Q1, Q3]\n---\nIn the table, and the page.\n"
TOGETHER = {"questions.md": asking(Q1, Q2, Q3), FIRST: BOTH}
TOGETHER_CHANGED = {"questions.md": asking(Q1, Q2, Q3.replace("reads", "writes"))}
OTHER = {"questions.md": asking(Q1, "2. [web] Which browser is used?")}
MORE = {"questions.md": asking(Q1, Q2, "3. [web] Who else has this?")}
ANSWERED = {SECOND: b"Most use the newest.\n"}
ADDED = {THIRD: b"Everybody.\n"}
UNCHANGED = f"{SUMMARY} was returned to draft and has not changed since"
ANOTHER = "the question has changed since q02-web was answered"
OF_BEFORE = f"{SUMMARY} is from before the answers changed"

WAITS = {
    "a question that was replaced": (after(OTHER), (SECOND,), (UNCHANGED, ANOTHER)),
    "replaced, and the summary written too early": (
        after(OTHER | REWRITTEN),
        (SECOND,),
        (f"{SECOND}: the question has changed since", ANOTHER),
    ),
    "replaced, and taken back again before it was answered": (
        after(OTHER, OTHER),
        (SECOND,),
        (UNCHANGED, ANOTHER),
    ),
    "replaced and answered": (after(OTHER | ANSWERED), (), (OF_BEFORE,)),
    "a question that was added": (
        after(MORE),
        (THIRD,),
        (UNCHANGED, "1 question has no answer yet"),
    ),
    "added and answered": (after(MORE | ADDED), (), (OF_BEFORE,)),
    "added, answered, and taken back again": (after(MORE | ADDED, MORE | ADDED), (), (UNCHANGED,)),
    "one of two that were answered together": (
        after(TOGETHER_CHANGED, TOGETHER) | {FIRST: BOTH},
        (FIRST,),
        (UNCHANGED, ANOTHER.replace("q02-web", "q01-codebase")),
    ),
    "none of two that were answered together": (
        after(TOGETHER | {"questions.md": asking(Q1, Q2, Q3)}, TOGETHER),
        (),
        (UNCHANGED,),
    ),
    "other line breaks in a question": (
        after({"questions.md": asking(Q1, "2. [web] Which\n   standard holds?")}),
        (),
        (UNCHANGED,),
    ),
}


@pytest.mark.rule("LIV-01", "LIV-22")
@pytest.mark.parametrize(("files", "missing", "why"), WAITS.values(), ids=WAITS.keys())
def test_research_is_asked_for_again_where_it_was_made_from_something_else(
    files: dict[str, bytes], missing: tuple[str, ...], why: tuple[str, ...]
) -> None:
    answer = derive(runs.tree(files)).next
    assert (answer.action, answer.step) == ("author", "research")
    assert answer.missing == (missing or (SUMMARY,))
    assert answer.because == why


VALID = {
    "replaced, answered, and summed up": after(OTHER | ANSWERED | REWRITTEN),
    "added, answered, and summed up": after(MORE | ADDED | REWRITTEN),
    "no record says what they were made from": {
        name: data for name, data in after(OTHER | ANSWERED).items() if name != approvals.FILE
    },
}


@pytest.mark.rule("LIV-01")
@pytest.mark.parametrize("files", VALID.values(), ids=VALID.keys())
def test_research_that_fits_its_questions_is_reviewed(files: dict[str, bytes]) -> None:
    assert derive(runs.tree(files)).next.action == "prepare-round"
