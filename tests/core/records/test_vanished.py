"""What vanishes is missed."""

from __future__ import annotations

import sys

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import subject_of
from qrspi.core.records import audit_trail, vanished
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.core.rounds import loop as loops
from qrspi.core.tree import MemoryTree
from qrspi.world.files import json_log
from tests import runs

ROUND = "reviews/goals/round-01"
A, B = f"{ROUND}/quality-claude.finding-F01.md", f"{ROUND}/scope-claude.clean.md"
NOW, HASH = "2026-05-17T09:30:00Z", "a" * 64


def line(event: str, *files: Touched) -> Line:
    return Line(NOW, "cli", event, files=files)


CAME = line("dispatch-review", Touched(A, None, HASH), Touched(B, None, HASH))


@pytest.mark.rule("SEC-22")
@pytest.mark.parametrize(
    ("lines", "there"),
    [
        ((), ()),
        ((CAME,), (A, B)),
        ((CAME, line("retry", Touched(A, HASH, None))), (B,)),
        ((CAME, line("phase", Touched("reviews/goals", moved_to="phases/1"))), ()),
        ((CAME, line("phase", Touched("reviews/go", moved_to="phases/1"))), (A, B)),
        ((line("approve", Touched("goals.md", None, HASH)),), ()),
    ],
    ids=["nothing", "two", "one made again", "put away", "another put away", "no review"],
)
def test_the_trail_says_what_is_there(lines: tuple[Line, ...], there: tuple[str, ...]) -> None:
    assert vanished.written(lines) == there


def trail(*lines: Line) -> dict[str, bytes]:
    return {audit_trail.FILE: b"".join(json_log.encode(audit_trail.render(one)) for one in lines)}


@pytest.mark.rule("SEC-22")
def test_what_was_written_and_not_taken_away_is_missed() -> None:
    files = {
        "config.md": runs.config(),
        "goals.md": runs.artifact(),
        f"{ROUND}/.dispatch-manifest.json": runs.manifest(body=runs.artifact()),
        B: runs.clean("scope-claude"),
        f"{ROUND}/quality-claude.clean.md": runs.clean(),
        **trail(CAME),
    }
    gone = f"{A} is gone: qrspi wrote it, and no command took it away"
    tree = MemoryTree(files)
    assert [one.message for one in vanished.from_run(tree)] == [gone]
    assert [one.message for one in derive(tree).warnings] == [gone]
    # Whoever looks at the round alone is told too: `next`, and whoever looks at many runs.
    config = configs.read(files["config.md"])
    loop = loops.evaluate(tree, subject_of("goals"), config)
    assert [one.message for one in loop.warnings if one.code == "vanished"] == [gone]
    whole = MemoryTree(files | {A: runs.finding()})
    assert vanished.from_run(whole) == ()
    assert [one for one in derive(whole).warnings if one.code == "vanished"] == []


@pytest.mark.rule("SPE-01", "SEC-22")
def test_status_misses_what_went_lately_and_doctor_whatever_ever_went() -> None:
    """However long the run is, `status` looks back equally far."""
    later = line("assemble", Touched("reviews/goals/round-02-verified.md", HASH, HASH))
    many = json_log.encode(audit_trail.render(later)) * 2000
    assert len(many) > audit_trail.NEAR
    files = {
        "config.md": runs.config(),
        "goals.md": runs.artifact(),
        "reviews/goals/round-02-verified.md": b"",
        audit_trail.FILE: trail(CAME)[audit_trail.FILE] + many,
    }
    tree = MemoryTree(files)
    assert [one.file for one in vanished.from_run(tree)] == [A, B]
    assert [one.file for one in derive(tree).warnings if one.code == "vanished"] == []
    lately = MemoryTree(files | {audit_trail.FILE: many + trail(CAME)[audit_trail.FILE]})
    assert [one.file for one in derive(lately).warnings if one.code == "vanished"] == [A, B]


@pytest.mark.rule("SEC-22")
def test_a_trail_that_is_gone_is_missed_where_the_engine_was() -> None:
    text = ".qrspi/audit.jsonl is gone: nothing tells any more what qrspi did in this run"
    prompt = {".qrspi/dispatch/goals/author.md": b""}
    was = {B: b"", f"{ROUND}/.dispatch-manifest.json": runs.manifest(), **prompt}
    assert [one.message for one in vanished.from_run(MemoryTree(was))] == [text]
    made_elsewhere = {B: b"", **prompt}
    assert vanished.from_run(MemoryTree(made_elsewhere)) == ()
    assert vanished.from_run(MemoryTree({B: b"", ".qrspi/.gitignore": b"*\n"})) == ()
    assert vanished.from_run(MemoryTree({B: b"", ".qrspi/agents/reviewer-style.md": b""})) == ()
    assert vanished.from_run(MemoryTree({B: b""})) == ()


VERIFIED, GONE = f"{ROUND}-verified.md", "is gone: qrspi wrote it, and no command took it away"
MANIFEST = f"{ROUND}/.dispatch-manifest.json"
OPENED = line("prepare-round", Touched(MANIFEST, None, HASH))
MADE = line("assemble", Touched(VERIFIED, None, HASH))
AGAIN = line("assemble", Touched(VERIFIED, HASH, "b" * 64))
ANEW = line("assemble", Touched(VERIFIED, None, "b" * 64))
OTHER = f"{VERIFIED} was gone, and what it is made from now is not what it was made from then"
ODD = f"{ROUND}/Prüfer.clean.md"


@pytest.mark.rule("SEC-22")
@pytest.mark.parametrize(
    ("lines", "files", "told"),
    [
        ((OPENED, CAME), (A, B), ()),
        ((OPENED, CAME), (A,), (f"{B} {GONE}",)),
        ((OPENED, CAME, line("retry", Touched(B, HASH, None))), (A,), ()),
        ((OPENED, CAME, line("phase", Touched(ROUND, moved_to="phases/1"))), (), ()),
        ((CAME, OPENED), (), ()),
        ((OPENED, line("dispatch-review", Touched(ODD, None, HASH))), (), (f"{ODD} {GONE}",)),
        ((OPENED, line("dispatch-review", Touched(ODD, None, HASH))), (ODD,), ()),
        ((OPENED, MADE, AGAIN), (), ()),
        ((OPENED, AGAIN, ANEW), (), ()),
        ((OPENED, MADE, ANEW), (), (OTHER,)),
        ((OPENED, AGAIN, MADE, AGAIN), (), (OTHER,)),
        ((MADE, OPENED, ANEW), (), ()),
    ],
    ids=[
        "all there",
        "one gone",
        "one taken away",
        "put away",
        "of an earlier opening",
        "an odd name gone",
        "an odd name there",
        "made again",
        "the same text came back",
        "made anew",
        "made anew, then again",
        "made anew after a new opening",
    ],
)
def test_what_a_round_lost(
    lines: tuple[Line, ...], files: tuple[str, ...], told: tuple[str, ...]
) -> None:
    tree = MemoryTree({MANIFEST: b"{}", **dict.fromkeys(files, b""), **trail(*lines)})
    assert tuple(one.message for one in vanished.from_round(tree, ROUND)) == told


def calls(*lines: Line) -> int:
    """How many functions are called to look at a round with this trail."""
    tree, count = MemoryTree({MANIFEST: b"{}", **trail(*lines)}), 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        vanished.from_round(tree, ROUND)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.rule("SPE-01")
def test_a_round_that_was_assembled_often_costs_no_more() -> None:
    """The daemon asks three times for each answer that comes in."""
    assert calls(OPENED, MADE, *[AGAIN] * 500) == calls(OPENED, MADE, AGAIN)


@pytest.mark.rule("SEC-22")
def test_an_answer_is_missed_in_a_clone_too_which_has_no_trail() -> None:
    """The round is closed, and the run is past it: nobody else looks at that round."""
    named = b"<!-- @@FINDING: quality-claude.finding-F01 @@ -->\n"
    later = {"config.md": runs.config(), **runs.approved("goals"), VERIFIED: named, B: b""}
    whole = later | {A: runs.finding()}
    for files, gone in ((later, [A]), (whole, [])):
        told = derive(MemoryTree(files)).warnings
        assert [one.file for one in told if one.code == "vanished"] == gone
