"""Logs of one JSON object a line: added to in one piece, read past every harm."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.world.files import json_log
from qrspi.world.files.json_log import LINE_LIMIT, LogLine
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace

LOG = "cascade-audit.log"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = tmp_path / "2026-05-17-user-auth"
    run.mkdir()
    return run


@pytest.fixture
def space(run: Path) -> Iterator[Workspace]:
    with Workspace(run).locked() as space:
        yield space


def records(run: Path) -> list[object]:
    return [item.record for item in json_log.read(DiskTree(run), LOG) if isinstance(item, LogLine)]


def messages(run: Path) -> list[str]:
    return [item.message for item in json_log.read(DiskTree(run), LOG) if isinstance(item, Problem)]


@pytest.mark.rule("AUD-01", "ENG-01")
def test_a_line_is_added_behind_the_others(run: Path, space: Workspace) -> None:
    for number in range(3):
        assert space.append(LOG, json_log.encode({"n": number})) == ()
    assert (run / LOG).read_bytes() == b'{"n": 0}\n{"n": 1}\n{"n": 2}\n'
    assert records(run) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert len(space.changes) == 3


def test_a_line_is_one_line_whatever_it_says() -> None:
    text = "a\nb\u2028\x1b[31m \u202e \udcff \U0001f600"
    line = json_log.encode({"text": text})
    assert (line.count(b"\n"), line.isascii(), json.loads(line)) == (1, True, {"text": text})


def test_half_a_line_is_a_bug(space: Workspace) -> None:
    with pytest.raises(RuntimeError, match=r"^a log takes whole lines$"):
        space.append(LOG, b'{"n": 1}')


@pytest.mark.rule("CSC-07")
@pytest.mark.parametrize("cut", range(1, 9))
def test_a_torn_last_line_is_kept_aside_and_reported(run: Path, space: Workspace, cut: int) -> None:
    line = b'{"n": 2}\n'
    torn = line[:-cut]
    (run / LOG).write_bytes(b'{"n": 1}\n' + torn)
    reported = space.append(LOG, b'{"n": 3}\n')
    if cut == 1:
        assert (reported, records(run)) == ((), [{"n": 1}, {"n": 2}, {"n": 3}])
        assert sorted(os.listdir(run)) == [".qrspi", LOG]
        return
    assert [problem.message for problem in reported] == [
        f"{LOG}: its last line was cut off by a command that was killed; the piece is kept in "
        f"{LOG}.torn-1, the lines before it are whole"
    ]
    assert (run / LOG).read_bytes() == b'{"n": 1}\n{"n": 3}\n'
    assert (run / f"{LOG}.torn-1").read_bytes() == torn


@pytest.mark.rule("CSC-07", "ENG-01")
@pytest.mark.parametrize(
    ("found", "settled"),
    [
        (b'{"n": 1}', b'{"n": 1}\n'),
        (b'{"n": 1}\n', b'{"n": 1}\n'),
        (b'{"n": 1}\n{"n', b'{"n": 1}\n{"n'),
        (b"", b""),
    ],
)
def test_the_entry_of_a_killed_command_gets_its_end(
    run: Path, space: Workspace, found: bytes, settled: bytes
) -> None:
    (run / LOG).write_bytes(found)
    space.settle(LOG)
    assert (run / LOG).read_bytes() == settled
    assert [change.path for change in space.changes] == ([LOG] if found != settled else [])


@pytest.mark.rule("CSC-07")
def test_every_torn_line_is_kept_and_none_twice(run: Path, space: Workspace) -> None:
    for torn in (b'{"a', b'{"b', b'{"a'):
        with (run / LOG).open("ab") as log:
            log.write(torn)
        assert len(space.append(LOG, b"{}\n")) == 1
    assert {path.name: path.read_bytes() for path in run.glob("*.torn-*")} == {
        f"{LOG}.torn-1": b'{"a',
        f"{LOG}.torn-2": b'{"b',
    }
    assert (run / LOG).read_bytes() == b"{}\n" * 3


@pytest.mark.rule("CSC-07")
def test_harm_in_a_log_is_told_by_line_and_hides_no_entry(run: Path) -> None:
    (run / LOG).write_bytes(
        b'{"n": 1}\n'
        b"<<<<<<< HEAD\n"
        b'{"n": 2}\n'
        b"=======\n"
        b'{"n": 3}\r\n'
        b">>>>>>> other\n"
        b"\n"
        b"not json\n"
        b"[1, 2]\n"
        b"null\n"
        b'{"n": "\xff"}\n' + b"[" * 100_000 + b"\n" + b'{"n": 4}\n'
        b'{"n": '
    )
    mark = "is the conflict mark of a merge: keep the entries of both sides and delete the mark"
    bad = "is not a JSON object: it does not count, the other lines do"
    assert messages(run) == [
        f"{LOG} line 2 {mark}",
        f"{LOG} line 4 {mark}",
        f"{LOG} line 6 {mark}",
        f"{LOG} line 8 {bad}",
        f"{LOG} line 9 {bad}",
        f"{LOG} line 10 {bad}",
        f"{LOG} line 11 {bad}",
        f"{LOG} line 12 {bad}",
        f"{LOG} line 14 was cut off by a command that was killed: it does not count, and is kept "
        "aside when the next line is added",
    ]
    assert records(run) == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]


def test_a_log_that_is_absent_is_empty_and_one_that_is_none_says_so(run: Path) -> None:
    assert json_log.tail(DiskTree(run), LOG, 5) == ()
    assert list(json_log.read(DiskTree(run), LOG)) == []
    (run / LOG).mkdir()
    expected = Problem(
        "unreadable",
        f"cannot read {LOG}: it is a directory, expected a regular file",
        file=LOG,
        found="a directory",
        expected="a regular file",
    )
    assert json_log.tail(DiskTree(run), LOG, 5) == (expected,)
    assert list(json_log.read(DiskTree(run), LOG)) == [expected]


def test_a_tail_counts_from_the_end(run: Path) -> None:
    (run / LOG).write_bytes(b'{"n": 1}\nbad\n{"n": 3}\n{"n')
    assert json_log.tail(DiskTree(run), LOG, 3) == (
        Problem(
            "malformed-line",
            f"{LOG} line 3 from the end is not a JSON object: it does not count, the other lines "
            "do",
            file=LOG,
            expected="a JSON object",
        ),
        LogLine(-2, {"n": 3}),
        Problem(
            "torn-line",
            f"{LOG} line 1 from the end was cut off by a command that was killed: it does not "
            "count, and is kept aside when the next line is added",
            file=LOG,
        ),
    )


def test_a_long_log_is_read_and_added_to_at_its_end_only(run: Path) -> None:
    """A sparse terabyte: whatever reads it from the start never comes back."""
    (run / ".qrspi").mkdir()
    with (run / ".qrspi" / "audit.jsonl").open("wb") as log:
        log.truncate(1 << 40)
        log.seek(1 << 40)
        log.write(b'\n{"n": 1}\n{"n": 2}\n')
    with Workspace(run).locked() as space:
        space.append(".qrspi/audit.jsonl", b'{"n": 3}\n')
        last = json_log.tail(space, ".qrspi/audit.jsonl", 2)
    assert [item.record for item in last if isinstance(item, LogLine)] == [{"n": 2}, {"n": 3}]


def test_what_is_no_log_is_not_added_to(run: Path, space: Workspace) -> None:
    with (run / LOG).open("wb") as log:
        log.truncate(LINE_LIMIT + 100_000)
    size = (run / LOG).stat().st_size
    with pytest.raises(Halt) as halted:
        space.append(LOG, b"{}\n")
    assert str(halted.value) == (
        f"cannot write {LOG}: its last line is longer than {LINE_LIMIT} bytes"
    )
    assert (run / LOG).stat().st_size == size


@pytest.mark.rule("SEC-02")
def test_a_log_with_a_second_name_is_left_alone(
    run: Path, space: Workspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b'{"n": 0}\n')
    (run / LOG).parent.mkdir(exist_ok=True)
    os.link(outside, run / LOG)
    with pytest.raises(Halt) as stopped:
        space.append(LOG, json_log.encode({"n": 1}))
    assert "it has a second name elsewhere (a hard link)" in stopped.value.problem.message
    assert outside.read_bytes() == b'{"n": 0}\n'
