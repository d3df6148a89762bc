"""A log is followed: every line once, none before it has its end, also behind a new beginning."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrspi.core.model import Problem
from qrspi.world.files import log_follow
from qrspi.world.files.json_log import LINE_LIMIT, LogLine
from qrspi.world.files.log_follow import LogPosition
from qrspi.world.files.run_tree import DiskTree

LOG = "log.jsonl"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = tmp_path / "2026-05-17-user-auth"
    run.mkdir()
    return run


def add(run: Path, data: bytes) -> None:
    with (run / LOG).open("ab") as log:
        log.write(data)


def numbers(items: tuple[LogLine | Problem, ...]) -> list[object]:
    return [item.record["n"] if isinstance(item, LogLine) else item.code for item in items]


@pytest.mark.rule("AUD-01")
def test_each_line_comes_once_and_whole(run: Path) -> None:
    tree = DiskTree(run)
    add(run, b'{"n": 1}\n{"n": 2}\nbad\n{"n"')
    begun = log_follow.last(tree, LOG, 2)
    assert numbers(begun.items) == [2, "malformed-line"]
    assert log_follow.news(tree, LOG, begun.place) == ((), begun.place)
    add(run, b': 3}\n{"n": 4}\nworse\n{"n": 5')
    found = log_follow.news(tree, LOG, begun.place)
    assert numbers(found.items) == [3, 4, "malformed-line"]
    assert log_follow.news(tree, LOG, found.place).items == ()
    add(run, b"}\n")
    assert numbers(log_follow.news(tree, LOG, found.place).items) == [5]


def test_nothing_of_the_past(run: Path) -> None:
    add(run, b'{"n": 1}\n')
    assert log_follow.last(DiskTree(run), LOG, 0) == ((), LogPosition((run / LOG).stat().st_ino, 9))


def test_a_log_that_comes_later_is_shown_from_its_start(run: Path) -> None:
    tree = DiskTree(run)
    begun = log_follow.last(tree, LOG, 5)
    assert begun == ((), LogPosition())
    add(run, b'{"n": 1}\n')
    assert numbers(log_follow.news(tree, LOG, begun.place).items) == [1]


@pytest.mark.parametrize("how", ["cut", "replaced"])
def test_another_log_of_the_same_name_is_shown_from_its_start(run: Path, how: str) -> None:
    tree = DiskTree(run)
    add(run, b'{"n": 1}\n{"n": 2}\n')
    place = log_follow.last(tree, LOG, 5).place
    if how == "replaced":
        (run / LOG).rename(run / "old")
        add(run, b'{"n": 3}\n{"n": 4}\n{"n": 5}\n')
    else:
        os.truncate(run / LOG, 9)
    told = log_follow.news(tree, LOG, place)
    assert told.items == (
        Problem(
            "log-replaced",
            f"{LOG} was cut or replaced: what it holds now is shown from its first line",
            file=LOG,
        ),
    )
    shown = log_follow.news(tree, LOG, told.place)
    assert numbers(shown.items) == ([1] if how == "cut" else [3, 4, 5])


def test_a_line_without_end_is_not_waited_for_for_ever(run: Path) -> None:
    with (run / LOG).open("wb") as log:
        log.truncate(LINE_LIMIT + 5)
        log.seek(LINE_LIMIT + 5)
        log.write(b'\n{"n": 1}\n')
    tree = DiskTree(run)
    first = log_follow.news(tree, LOG, LogPosition())
    assert numbers(first.items) == ["malformed-line"]
    assert numbers(log_follow.news(tree, LOG, first.place).items) == ["malformed-line", 1]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(writer)


def test_it_ends_when_nobody_reads(run: Path, pipe: tuple[int, int]) -> None:
    add(run, b'{"n": 1}\n')
    reader, writer = pipe
    lines = log_follow.following(DiskTree(run), LOG, LogPosition(), writer)
    assert next(lines) == LogLine(-1, {"n": 1})
    os.close(reader)
    assert list(lines) == []


def test_a_log_that_cannot_be_read_is_told_once(run: Path, pipe: tuple[int, int]) -> None:
    (run / LOG).mkdir()
    reader, writer = pipe
    lines = log_follow.following(DiskTree(run), LOG, LogPosition(), writer)
    assert next(lines) == Problem(
        "unreadable",
        f"cannot read {LOG}: it is a directory, expected a regular file",
        file=LOG,
        found="a directory",
        expected="a regular file",
    )
    (run / LOG).rmdir()
    add(run, b'{"n": 1}\n')
    assert next(lines) == LogLine(-1, {"n": 1})
    os.close(reader)
    assert list(lines) == []
