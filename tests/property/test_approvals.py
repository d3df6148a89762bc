"""The quick ways through the record of decisions answer as the plain ones do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from qrspi.core.model import Problem
from qrspi.core.records import approvals, decision_line
from qrspi.core.records.approvals import (
    ABOUT_STEPS,
    CASCADE,
    RESETTING,
    MadeFrom,
    Mark,
    Part,
    Record,
)
from qrspi.core.records.decision_line import BadLine, LongRecord

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
    made=st.lists(st.builds(MadeFrom, TEXTS, TEXTS, TEXTS), max_size=1).map(tuple),
    parts=st.lists(st.builds(Part, TEXTS, TEXTS, TEXTS), max_size=2).map(tuple),
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


ODD_LINES = st.sampled_from(
    [
        b"",
        b"  ",
        b'{"step":"goals","event":"approve","body_hash":"x","round":1}',
        b'{"event": "reject", "step": "go\\u0061ls", "body_hash": "", "round": 2, "made": []}',
        b'{"event": "decide", "step": "plan", "body_hash": "", "round": 01}',
        b'{"event": "decide", "step": "plan", "body_hash": "", "round": -1}',
        b'{"event": "decide", "step": "plan", "body_hash": "\xff", "round": 1}',
        b'{"event": "decide", "step": "plan", "body_hash": "\t", "round": 1}',
        b'{"event": "decide", "step": "plan", "body_hash": "", "round": 1, "note": 5}',
        b"\xef\xbb\xbf" + b'{"event": "decide", "step": "plan", "body_hash": "", "round": 1}',
        b"[]",
    ]
)
LINES = st.one_of(RECORDS.map(lambda one: approvals.render(one).removesuffix(b"\n")), ODD_LINES)
ENDS = st.sampled_from([b"", b"\n", b'\n{"event": "app', b"\n{"])


def as_long(content: bytes) -> Sequence[Record] | Problem:
    """As a record of any length is read that is called long."""
    found = decision_line.read_long(approvals._untorn(content), approvals.parsed)
    found = approvals._read_short(approvals._untorn(content)) if found is None else found
    return approvals._bad_line(found) if isinstance(found, BadLine) else found


@given(st.lists(LINES, max_size=8), ENDS)
def test_a_long_record_is_read_as_a_short_one_is(lines: list[bytes], end: bytes) -> None:
    content = b"\n".join(lines) + end
    short, long = approvals.read(content), as_long(content)
    if isinstance(short, Problem) or isinstance(long, Problem):
        assert short == long
        return
    assert len(long) == len(short)
    assert tuple(long) == tuple(short)
    assert tuple(reversed(long)) == tuple(reversed(short))


@given(st.lists(LINES, max_size=8), STEPS, st.sampled_from([*ABOUT_STEPS, "decide"]))
def test_a_long_record_leaves_out_nothing_that_is_meant(
    lines: list[bytes], step: str, event: str
) -> None:
    content = b"".join(line + b"\n" for line in lines)
    short, long = approvals.read(content), as_long(content)
    if isinstance(short, Problem) or isinstance(long, Problem):
        return
    found = list(approvals.newest_first(long, approvals.naming(step)))
    assert [one for one in found if one.mark(step)] == [
        one for one in short[::-1] if one.mark(step)
    ]
    found = list(approvals.newest_first(long, approvals.told_of(event, step)))
    meant = [one for one in short[::-1] if (one.event, one.step) == (event, step)]
    assert [one for one in found if (one.event, one.step) == (event, step)] == meant


def test_of_a_long_record_hardly_a_line_is_parsed() -> None:
    record = Record("approve", "goals", "v2:ab", 1, "Ada", "2026-01-01T00:00:00Z", "cli")
    others = [approvals.render(record._replace(step="plan"))] * 1000
    content = b"".join([approvals.render(record), *others])
    found = approvals.read(content)
    assert isinstance(found, LongRecord)
    assert approvals.newest(found, "goals") == approvals.newest((record,), "goals")
    assert approvals.newest(found, "test") is None
    assert len(found._parsed) == 1
