"""Each sentence about what people did, and the record that it rests on.

The table has the files of a run at its gate, the record, the sentence with it, and what is said
without it: what is there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.records import approvals, decisions, task_records
from qrspi.core.records.approvals import Record
from qrspi.core.records.task_records import TaskOutcome
from qrspi.core.rounds import dispositions
from tests import runs
from tests.runs import artifact, clean, finding, manifest, score
from tests.sources import TOGETHER, modules, nodes

Files = dict[str, bytes]

ROUND = "reviews/goals/round-01"
PAUSE = "reviews/goals-loop-pause-round-01.md"
FINDING = "scope-claude.R1-F01"
GOALS = artifact()
OPEN: Files = {
    "config.md": runs.config("full"),
    "goals.md": GOALS,
    f"{ROUND}/.dispatch-manifest.json": manifest("goals", body=GOALS),
}
CLOSED: Files = {
    f"{ROUND}-dispositions.md": b"Nothing was applied.\n",
    f"{ROUND}-commit.txt": b"a" * 40 + b"\n",
}
RAISED: Files = {
    f"{ROUND}/quality-claude.clean.md": clean(),
    f"{ROUND}/scope-claude.finding-F01.md": finding("scope-claude", kind="scope"),
    f"{ROUND}/scope-claude.finding-F01.score.yml": score(90),
}
SKIPPED: Files = {PAUSE: f"---\ndecisions:\n  {FINDING}: skip\n---\n".encode()}
MARKER: Files = {f"{ROUND}-verifier-disabled.md": b"---\nreason: x\n---\n"}


class Sentence(NamedTuple):
    files: Files
    record: Record
    said: str
    otherwise: str


def decided(event: str, option: str, finding: str = "") -> Record:
    who = "Nell Example <nell@example.org>"
    return Record(event, "goals", "", 1, who=who, finding=finding, option=option)


SENTENCES = {
    "a person skipped the findings": Sentence(
        OPEN | RAISED | SKIPPED | CLOSED,
        decided("decide", "skip", FINDING),
        "Reviews found issues in round 1 which were skipped by a person",
        "Reviews found issues in round 1, closed by a pause file; no decision is on record",
    ),
    "a person skipped the round": Sentence(
        OPEN | MARKER | CLOSED,
        decided("resolve", "skip"),
        "Round 1 was skipped by a person",
        f"Round 1 was skipped by {ROUND}-verifier-disabled.md; no decision is on record",
    ),
}
OTHERS = {
    "of another round": {"round": 2},
    "of another step": {"step": "design"},
    "of another choice": {"option": "apply"},
    "of another finding": {"finding": "scope-claude.R1-F02"},
}


def review(files: Files, record: Record | None = None) -> str:
    log = {"approvals.jsonl": approvals.render(record)} if record else {}
    return derive(runs.tree(files, log)).next.because[0]


@pytest.mark.rule("LIV-01", "SEC-20")
@pytest.mark.parametrize("row", SENTENCES.values(), ids=SENTENCES.keys())
def test_a_sentence_about_the_past_rests_on_its_record(row: Sentence) -> None:
    assert review(row.files, row.record) == row.said
    assert review(row.files) == row.otherwise


@pytest.mark.rule("LIV-01", "SEC-20")
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_no_other_record_stands_in_for_it(other: dict[str, object]) -> None:
    row = SENTENCES["a person skipped the findings"]
    assert review(row.files, row.record._replace(**other)) == row.otherwise


@pytest.mark.rule("LIV-01", "SEC-20")
def test_a_round_that_only_a_dispositions_file_closes_was_skipped_by_nobody() -> None:
    said = "Round 1 was closed by a dispositions file; no decision is on record"
    assert review(OPEN | CLOSED) == said


@pytest.mark.rule("LIV-01", "LIV-02")
def test_the_command_at_the_gate_is_not_refused_there() -> None:
    """Each kept finding was decided by a person, or another review is the way on."""
    row = SENTENCES["a person skipped the findings"]
    log = {"approvals.jsonl": approvals.render(row.record)}
    approve = f"qrspi approve {runs.RUN} goals"
    assert derive(runs.tree(row.files, log)).next.command == approve
    assert derive(runs.tree(row.files)).next.command == f"qrspi resolve {runs.RUN} loop"


@pytest.mark.rule("LIV-01", "SEC-20")
def test_a_task_was_ended_by_whoever_is_on_record_for_it() -> None:
    outcome = TaskOutcome("accepted-with-issues", "Good enough.", "Ada")
    record = decided("task", "accepted-with-issues")._replace(step="task-01", when="2026-05-17T09")
    found = decisions.of_task((record,), "task-01")
    assert decisions.ended(outcome, found) == "Nell Example decided so on 2026-05-17: Good enough."
    assert decisions.of_task((record,), "task-02") is None
    phase = Record("phase", "replan", "", 0, phase=1)
    assert decisions.of_task((record, phase), "task-01") is None
    assert decisions.ended(outcome, None) == (
        "outcome.md says accepted-with-issues; no decision is on record: Good enough."
    )
    skipped = record._replace(option="skipped-by-user")
    assert decisions.ended(outcome, skipped) == (
        "outcome.md says accepted-with-issues, and Nell Example decided on 2026-05-17: "
        "skipped-by-user, which counts"
    )
    assert task_records.ENDINGS == ("accepted-with-issues", "skipped-by-user")


@pytest.mark.rule("LIV-01")
def test_dispositions_name_who_skipped() -> None:
    record = decided("decide", "skip", FINDING)
    assert dispositions.nothing_applied(1, {FINDING: record, "x.R1-F02": None}).decode() == (
        "# Round 01 dispositions\n\nNothing was applied.\n\n"
        f"- {FINDING}: skipped by Nell Example\n"
        "- x.R1-F02: skip, says the pause file; no decision is on record\n"
    )


_DONE = (
    "skipped|approved|rejected|merged|applied|committed|reviewed|shipped|decided|accepted|rewound|"
    "unapproved|reset|closed|ran|run by|answered|sent|started|passed|failed|fixed|chosen|chose|"
    "reported|removed"
)
PAST = re.compile(
    rf"\b(?:was|were|has been|have been|had been)\s+(?:not\s+)?(?:{_DONE})\b"
    rf"|\b(?:{_DONE})\s+(?:by|on|in round|into|with)\b"
    rf"|\b(?:[Rr]eviews|[Tt]ests|[Nn]obody|somebody|person)\s+(?:{_DONE}|found)\b"
)
# Where the engine says what happened, and what it goes by when it says so.
RESTS_ON = {
    "approvals.jsonl: who decided what about which text, and when": (
        "{} decided on {}",
        "which were skipped by a person",
        "was skipped by a person",
        "- {}: skipped by {}",
        "has not changed since it was approved in",
        "which was approved with the plan",
        "which {} approved with {}",
        "changed after it was approved",
        "was approved before {} changed",
        "was approved with another text",
        "nobody approved it",
        "was rejected: put right",
        "was rejected{}{}, see {}",
        "is rejected with these very words already",
        "a person chose so, and it is not finished",
        "that was chosen already",
        "no task was accepted with issues",
        "approved by the engine",
        ", shipped with findings that are not settled",
        "the approval of {} was not committed yet",
        "the plan was approved on the default branch",
        "is another text than the one that {} approved on {}",
        "what {} approved on {} is on record without its frontmatter",
        "it was approved after round {}, which is gone",
        "the question has changed since {} was answered",
    ),
    "a file whose name is given, where no decision is on record": (
        "skipped by {}",
        "closed by a dispositions file",
        "{}, closed by {}; {}",
        "closed by {}",
    ),
    "the answers in a round and its closing files": (
        "Reviews found issues in round",
        "Reviews passed clean in round",
        "which were fixed but not re-verified",
        "was reviewed in round",
        "rounds ran on their own",
        "its text has changed since it was reviewed",
        "a task was reviewed too often",
        "This text was reviewed before",
        "with what became of it",
        "closed by a later round",
        "it was reviewed here",
    ),
    "no manifest, or none that qrspi has on record": ("nobody knows who was sent",),
    "the commits that git has": (
        "lacks lines that it has on {}: what was decided there",
        "it is a branch that tasks are merged into",
        "it is not merged into {}",
    ),
    "the exit status of a command that was run": (
        "failed with exit",
        "the tests passed and no finding is open",
    ),
    "what a task's own records say": (
        "what was reported is the commit it started from",
        "it was sent back and nothing new is reported",
        "but {} was reported; check that commit out",
        "what was reported",
        "was reported BLOCKED before",
        "its agent was sent again and has reported",
        "as reported",
    ),
    "what the command itself does, in the moment in which it writes the line": (
        "A person chose",
        "Nothing was applied",
        "nothing was applied",
        "was rejected as well; the words are in",
        "was edited while it was reviewed",
        "chosen with --present",
        "answered by a person",
        "nobody was sent",
        "Nobody was sent.",
        "the agents it waited for were sent",
        "answered with {}: expected",
        "are being sent by",
        "no run was started yet",
    ),
    "a worker's own message that it has begun, kept with the dispatch": ("started on {}",),
    "nothing: it says what is asked for, or what would be": (
        "The texts that agents are sent with.",
        "each approved by a person",
        "and tasks are approved with it again",
        "the axes it failed on before",
        "Who was sent: reviewer-quality",
        "Have them reviewed with",
        "approved is only what a person",
        "is approved by a person, not through",
        "each is decided by its own name",
        "Prove that nothing was skipped",
        "Which branch {} {} merged into?",
        "tasks are merged into {}, the default branch, only when",
        "say which branch the tasks are merged into",
    ),
}


def sentences() -> Iterator[tuple[str, str]]:
    """Every text in the package that speaks of the past, with its place; what is filled in is {}.
    The demonstration tells its own story, and docstrings are for who reads the code."""
    for path, tree in modules():
        parts = {part for node in nodes(tree) for part in _inside(node)}
        for node in nodes(tree):
            text = "" if node in parts else _text(node)
            if PAST.search(text) and not path.startswith("demo/"):
                yield f"{path}:{getattr(node, 'lineno', 0)}", text


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What is not text of its own: parts of one, and docstrings."""
    match node:
        case ast.JoinedStr():
            yield from (part for part in ast.walk(node) if part is not node)
        case ast.Expr(value=ast.Constant()):
            yield node.value


def _text(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values
            )
    return ""


@TOGETHER
@pytest.mark.rule("LIV-01")
def test_every_sentence_about_the_past_is_in_the_table() -> None:
    known = [fragment for row in RESTS_ON.values() for fragment in row]
    said = list(sentences())
    new = [one for one in said if not any(fragment in one[1] for fragment in known)]
    assert new == [], "say above which record it rests on, and test it with and without"
    unused = [one for one in known if not any(one in text for _, text in said)]
    assert unused == []
