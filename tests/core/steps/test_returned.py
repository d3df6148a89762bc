"""What the next action says after a text was sent back, or is gone."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.tree import MemoryTree
from tests import runs
from tests.runs import artifact

GOALS = artifact()
FEEDBACK = "feedback/goals-round-01.md"
BY = "by Nell Example on 2026-05-17"
BASE = {"config.md": runs.config("full")}


def log(event: str, **more: str) -> dict[str, bytes]:
    who, when = "Nell Example <nell@example.org>", "2026-05-17T09:30:00Z"
    record = Record(event, "goals", runs.body_hash(GOALS), 0, who=who, when=when, **more)
    return {"approvals.jsonl": approvals.render(record)}


RETURNED = {
    "rejected": (
        {"goals.md": GOALS, FEEDBACK: b"\n## Previous Artifact\n\n" + GOALS}
        | log("reject", feedback=FEEDBACK),
        f"goals.md was rejected {BY}: read {FEEDBACK}. Write goals.md, then ",
    ),
    "rewound with a reason, as `fix` does after tests that failed": (
        {"goals.md": GOALS, FEEDBACK: b"\n## Previous Artifact\n\n" + GOALS} | log("rewind"),
        f"goals.md was returned to draft {BY}: read {FEEDBACK}. Write goals.md, then ",
    ),
    "deleted": (
        log("approve"),
        f"goals.md, which was approved {BY}, is gone: write it anew, then ",
    ),
    "rejected and deleted": (
        log("reject", feedback=FEEDBACK),
        f"goals.md, which was rejected {BY}, is gone: write it anew, then ",
    ),
    "deleted after a review": (
        {"reviews/goals/round-02/scope-claude.clean.md": runs.clean("scope-claude")},
        "goals.md, which was reviewed in round 2, is gone: write it anew, then ",
    ),
    "put away with its phase": (log("phase"), "Write goals.md, then "),
    "never there": ({}, "Write goals.md, then "),
}

TOLD = f"`qrspi prompt {runs.RUN} author` prints what to tell an agent."


@pytest.mark.rule("LIV-04")
def test_a_new_round_after_an_approval_was_taken_back_says_so() -> None:
    answer = derive(runs.tree(BASE, {"goals.md": GOALS} | log("unapprove"))).next
    assert (answer.action, answer.summary) == (
        "prepare-round",
        f"goals.md was taken back {BY}. Prepare round 1 of goals: run `qrspi next {runs.RUN}`.",
    )


@pytest.mark.rule("LIV-04")
def test_git_is_asked_only_for_a_text_that_was_there() -> None:
    class Committed(MemoryTree):
        def to_restore(self, path: str) -> str:
            return f"git checkout HEAD -- {path}"

    said = [
        derive(Committed(BASE | files, runs.RUN)).next.summary for files in ({}, log("approve"))
    ]
    then = f"then run `qrspi next {runs.RUN}`. {TOLD}"
    assert said == [
        f"Write goals.md, {then}",
        f"goals.md, which was approved {BY}, is gone: bring it back with `git checkout HEAD -- "
        f"goals.md`, or write it anew, {then}",
    ]


@pytest.mark.rule("LIV-04", "LIV-02")
def test_a_text_that_was_returned_without_a_word_may_be_reviewed_as_it_is() -> None:
    returned = {"goals.md": GOALS} | log("rewind")
    assert derive(runs.tree(BASE, returned)).next.summary == (
        f"goals.md was returned to draft {BY}. Write goals.md, then run `qrspi next {runs.RUN}`. "
        f"{TOLD} `qrspi next {runs.RUN} --anyway` has goals.md reviewed as it is."
    )
    opened = {"reviews/goals/round-01/.dispatch-manifest.json": runs.manifest(body=GOALS)}
    assert derive(runs.tree(BASE, returned, opened)).next.kind == "review"


@pytest.mark.rule("LIV-04")
@pytest.mark.parametrize(("files", "said"), RETURNED.values(), ids=RETURNED.keys())
def test_the_next_action_says_who_sent_a_text_back(files: dict[str, bytes], said: str) -> None:
    answer = derive(runs.tree(BASE, files)).next
    assert (answer.action, answer.summary) == (
        "author",
        f"{said}run `qrspi next {runs.RUN}`. {TOLD}",
    )


@pytest.mark.rule("LIV-04")
@pytest.mark.parametrize("event", ["reject", "rewind"])
def test_a_change_in_a_task_alone_answers_what_was_said_of_the_plan(event: str) -> None:
    path = "feedback/plan-round-01.md"
    feedback = {path: b"\n## Previous Artifact\n\n" + GOALS}
    steps = ("goals", "questions", "research")
    run = {"config.md": runs.config("quick"), **runs.approved(*steps), **feedback, "plan.md": GOALS}
    before = run | {"tasks/task-01.md": GOALS}
    digest = step_text.body_hash(runs.tree(before), subject_of("plan"))
    sent_back = {
        "approvals.jsonl": approvals.render(Record(event, "plan", digest, 0, feedback=path))
    }
    changed = {"tasks/task-01.md": GOALS + b"\nMore.\n"}
    asked = [derive(runs.tree(before, sent_back, more)).next.action for more in ({}, changed)]
    assert asked == ["author", "prepare-round"]
