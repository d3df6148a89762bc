"""The quick ways through the record of decisions answer as the plain ones do."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from qrspi.core.model import Problem
from qrspi.core.records import approvals
from qrspi.core.records.approvals import ABOUT_STEPS, CASCADE, RESETTING, Mark, Record

EVENTS = st.sampled_from([*ABOUT_STEPS, "decide", "task"])
STEPS = st.sampled_from(["goals", "plan", "test"])
TEXTS = st.one_of(
    st.just(""), st.sampled_from(['a"b', "a\\b", "ä", "\x7f", "feedback/a.md"]), st.text()
)
MARKS = st.builds(Mark, STEPS, TEXTS, st.integers(-1, 10**10))
RECORDS = st.builds(
    Record,
    event=EVENTS,
    step=STEPS,
    body_hash=TEXTS,
    round=st.integers(-1, 10**10),
    who=TEXTS,
    when=TEXTS,
    surface=st.sampled_from(["cli", CASCADE]),
    resets=st.lists(MARKS, max_size=2).map(tuple),
    note=st.just("") | TEXTS,
    feedback=TEXTS,
    user=TEXTS,
    named=st.just("") | TEXTS,
    route=TEXTS,
    made=st.just(()),
)
LOGS = st.lists(RECORDS, max_size=8)


def by_json(line: bytes) -> Any:
    return approvals._line(line)


@given(st.lists(RECORDS | st.builds(lambda one: one._replace(note="", resets=()), RECORDS)))
def test_a_plain_line_is_read_as_json_is(records: list[Record]) -> None:
    for line in (approvals.render(one).removesuffix(b"\n") for one in records):
        assert approvals._plain(line) in (None, by_json(line))


PIECES = st.sampled_from(
    [
        b"{",
        b"}",
        b'"',
        b"\\",
        b"0",
        b"01",
        b"-1",
        b"1.5",
        b", ",
        b",",
        b"\x00",
        b"\t",
        b"\xff",
        b"\r",
    ]
)


@given(RECORDS, PIECES, st.data())
def test_a_damaged_line_is_never_taken_for_a_good_one(
    record: Record, piece: bytes, data: st.DataObject
) -> None:
    plain = record._replace(note="", resets=(), named="", who="Ada", body_hash="ab", round=12)
    line = approvals.render(plain).removesuffix(b"\n")
    at = data.draw(st.integers(0, len(line)))
    upto = data.draw(st.integers(at, min(len(line), at + 3)))
    damaged = line[:at] + piece + line[upto:]
    assert approvals._plain(damaged) in (None, by_json(damaged))
    log = damaged + b"\n" + line + b"\n"
    assert isinstance(approvals.read(log), Problem) == isinstance(by_json(damaged), str)


@given(LOGS, STEPS)
def test_from_its_end_a_log_says_what_it_says_from_its_beginning(
    records: list[Record], step: str
) -> None:
    about = [one for one in records if one.mark(step)]
    newest = approvals.newest(records, step)
    assert (newest and newest.event) == (about[-1].event if about else None)
    bases = [mark.round for one in about if one.event in RESETTING and (mark := one.mark(step))]
    assert approvals.loop_base(records, step) == [0, *bases][-1]
    objected = False
    for one in about:
        if one.event in ("reject", "unapprove", "rewind"):
            objected = True
        elif one.event == "approve" and one.surface != CASCADE:
            objected = False
    assert approvals.is_objected_to(records, step) == objected


def test_what_commands_write_is_plain() -> None:
    """Otherwise the quick way would be of no use."""
    record = Record("reject", "goals", "ab", 1, "Ada <a@b>", "2026-01-01", "cli", user="ada")
    for one in (record, record._replace(feedback="feedback/a.md", route="full: goals plan")):
        assert approvals._plain(approvals.render(one).removesuffix(b"\n")) == one
