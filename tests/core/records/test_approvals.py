"""The record of what people decided: what is read of it, and what is never taken for nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qrspi.core.derivation.derive import derive, survey
from qrspi.core.model import Problem
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.steps import cascade
from qrspi.core.tree import Fault
from tests.runs import RUN, approved, artifact, body_hash, config, text_hash, tree

TEXT = artifact("approved")
APPROVE = Record("approve", "goals", "ab", 1, "Ada", "2026-01-01T00:00:00Z", "cli")
REWIND = Record("rewind", "goals", "äö", 2, resets=(Mark("plan", "cd", 3),), note="why")
FIRST, SECOND = approvals.render(APPROVE), approvals.render(REWIND)
GOOD: dict[str, Any] = {"event": "approve", "step": "goals", "body_hash": "ab", "round": 1}


@pytest.mark.rule("APV-01")
@pytest.mark.parametrize(
    ("content", "records"),
    [
        (Fault("absent"), ()),
        (b"", ()),
        (b"\n \n\t\r\n", ()),
        (FIRST + b"\n" + SECOND, (APPROVE, REWIND)),
        (FIRST.replace(b"\n", b"\r\n"), (APPROVE,)),
        (FIRST + SECOND[:-1], (APPROVE, REWIND)),
    ],
)
def test_what_was_decided(content: bytes | Fault, records: tuple[Record, ...]) -> None:
    assert approvals.read(content) == records


@pytest.mark.rule("APV-01")
def test_a_name_is_written_as_people_write_it() -> None:
    """The log is read in an editor and in diffs, too."""
    assert "Zoë Åberg".encode() in approvals.render(APPROVE._replace(who="Zoë Åberg"))


@pytest.mark.rule("APV-01", "LIV-08")
@pytest.mark.parametrize(
    ("hashed", "alone"),
    [(body_hash(TEXT), True), (text_hash(TEXT), False), ("0" * 64, False)],
    ids=["of the body", "of all", "of another"],
)
def test_an_early_record_is_known_to_be_of_the_body_alone(hashed: str, alone: bool) -> None:
    goals = tree({"goals.md": TEXT})
    assert step_text.only_body_is_known(goals, subject_of("goals"), hashed) is alone


@pytest.mark.rule("APV-01")
@pytest.mark.parametrize(
    "record",
    [
        Record("reject", "goals", "ab", 1, feedback="feedback/goals-round-01.md"),
        Record("rewind", "goals", "ab", 1, finding="quality-claude.R1-F01"),
        Record("rewind", "goals", "ab", 1, replan="major"),
        Record("replan", "plan", "ab", 0, replan="minor"),
        Record("phase", "replan", "ab", 0, phase=2),
    ],
)
def test_what_steers_has_a_field_of_its_own(record: Record) -> None:
    assert approvals.read(approvals.render(record)) == (record,)


@pytest.mark.rule("APV-01")
@pytest.mark.parametrize(
    ("event", "note", "fields"),
    [
        ("reject", "feedback/goals-round-01.md", {"feedback": "feedback/goals-round-01.md"}),
        ("rewind", "loop back for quality-claude.R1-F01", {"finding": "quality-claude.R1-F01"}),
        ("rewind", "replan major", {"replan": "major"}),
        ("rewind", "why", {}),
        ("phase", "phase 2", {"phase": 2}),
        ("phase", "phase two", {}),
        ("approve", "phase 2", {}),
    ],
)
def test_older_records_say_it_in_their_note(event: str, note: str, fields: dict[str, Any]) -> None:
    found = approvals.read(line(event=event, note=note))
    assert found == (Record(event, "goals", "ab", 1, note=note)._replace(**fields),)


@pytest.mark.rule("APV-01", "ENG-04")
@pytest.mark.parametrize("cut", range(1, len(SECOND) - 1))
def test_the_beginning_of_a_last_line_is_left_by_a_kill(cut: int) -> None:
    assert approvals.read(FIRST + SECOND[:cut]) == (APPROVE,)


@pytest.mark.rule("APV-01", "ENG-05")
@pytest.mark.parametrize(
    ("fault", "found", "expected"),
    [
        (Fault("not-a-file", "symlink"), "a symlink", "a regular file"),
        (Fault("not-a-file", "directory"), "a directory", "a regular file"),
        (
            Fault("unreadable", "Permission denied"),
            "unreadable (Permission denied)",
            "a readable file",
        ),
        (Fault("too-large", "99999999"), "of 99,999,999 bytes", "at most 67,108,864 bytes"),
    ],
)
def test_a_record_that_cannot_be_read_is_no_empty_one(
    fault: Fault, found: str, expected: str
) -> None:
    said = f"is {found}, expected {expected}: put it right"
    assert approvals.read(fault) == Problem(
        "unreadable",
        f"approvals.jsonl: the record of decisions {said}",
        "approvals.jsonl",
        found=found,
        expected=expected,
    )
    assert cascade.read(fault) == Problem(
        "unreadable",
        f"cascade-audit.log: the log of approvals without a person {said}",
        "cascade-audit.log",
        found=found,
        expected=expected,
    )


def line(**changes: Any) -> bytes:
    return json.dumps(GOOD | changes).encode()


BAD_LINES = [
    (b"\xff", "text that is not JSON"),
    (FIRST[:40], "text that is not JSON"),
    (b"<<<<<<< HEAD", "text that is not JSON"),
    (b"[" * 100_000, "text that is not JSON"),
    (b"[]", "a JSON list"),
    (b"{}", "without a proper 'event'"),
    (line(event=None), "without a proper 'event'"),
    (line(step=1), "without a proper 'step'"),
    (line(body_hash=None), "without a proper 'body_hash'"),
    (line(round="1"), "without a proper 'round'"),
    (line(round=True), "without a proper 'round'"),
    (line(who=1), "without a proper 'who'"),
    (line(note=[]), "without a proper 'note'"),
    (line(finding=1), "without a proper 'finding'"),
    (line(phase="1"), "without a proper 'phase'"),
    (line(made={}), "without a proper 'made'"),
    (line(made=["x"]), "without a proper 'made'"),
    (line(made=[{"file": "x", "file_hash": "y"}]), "without a proper 'made'"),
    (line(phase=True), "without a proper 'phase'"),
    (line(resets={}), "without a proper 'resets'"),
    (line(resets=[{"step": "plan"}]), "without a proper 'resets'"),
    (line(resets=["plan"]), "without a proper 'resets'"),
]


@pytest.mark.rule("APV-01")
@pytest.mark.parametrize(("bad", "found"), BAD_LINES, ids=range(len(BAD_LINES)))
@pytest.mark.parametrize("behind", [b"\n", b"\n" + SECOND], ids=["last", "before another"])
def test_a_line_that_is_no_record_is_named(bad: bytes, found: str, behind: bytes) -> None:
    assert approvals.read(FIRST + b"\n" + bad + behind) == Problem(
        "bad-record",
        f"approvals.jsonl line 3 is {found}, expected a record of a decision: correct it or "
        "restore the file",
        "approvals.jsonl",
        "line 3",
        found,
        "a record of a decision",
    )


@pytest.mark.rule("APV-01")
@pytest.mark.parametrize(
    "tail", [b"garbled", b"<<<<<<< HEAD", b"\0\0", b'{"other": 1', b'{"event": "approve"}']
)
def test_a_last_line_without_its_end_that_no_kill_leaves(tail: bytes) -> None:
    found = approvals.read(FIRST + tail)
    assert isinstance(found, Problem)
    assert (found.code, found.field) == ("bad-record", "line 2")


@pytest.mark.rule("APV-01", "ST-01")
@pytest.mark.parametrize("done", [("goals",), ("goals", "questions", "research", "plan")])
@pytest.mark.parametrize("settings", [config("quick"), config("quick", second_reviewer="maybe")])
def test_a_run_whose_decisions_nobody_knows_is_blocked(
    done: tuple[str, ...], settings: bytes
) -> None:
    files = {"config.md": settings, "approvals.jsonl": FIRST + b"garbled\n"}
    found = survey(tree(files, approved(*done)))
    message = (
        "approvals.jsonl line 2 is text that is not JSON, expected a record of a decision: "
        "correct it or restore the file"
    )
    state = found.state
    assert (found.facts, found.loop) == (None, None)
    assert (state.errors[0].message, state.errors[0].hint) == (message, f"qrspi status {RUN}")
    assert (state.next.action, state.next.who, state.next.kind) == ("blocked", "human", "records")
    assert state.next.summary == f"{message}, then run `qrspi status {RUN}`."
    assert state.steps[0].status == "approved"


@pytest.mark.rule("APV-01", "ST-02")
def test_nobody_says_of_such_a_run_that_it_is_complete() -> None:
    route = ("goals", "questions", "research", "plan", "implement", "test")
    files = {"config.md": config("quick"), "approvals.jsonl": b"garbled\n"}
    state = derive(tree(files, approved(*route)))
    assert (state.current_step, state.complete, state.next.action) == (None, False, "blocked")
