"""Laws of the logs: what was added is read back, and no harm to the end reaches the rest."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.model import Problem
from qrspi.world.files import json_log
from qrspi.world.files.json_log import LogLine
from qrspi.world.files.run_tree import DiskTree, opened

NAME = "log.jsonl"
# Syncing to a disk costs a millisecond each time, and these laws are not about the disk.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None

values = st.none() | st.integers() | st.text(max_size=20) | st.lists(st.booleans(), max_size=2)
record_lists = st.lists(st.dictionaries(st.text(max_size=5), values, max_size=2), max_size=5)


def add(folder: str, lines: bytes) -> tuple[Problem, ...]:
    with opened(folder) as directory:
        return json_log.append(directory, NAME, lines, NAME)


def entries(folder: str) -> list[object]:
    found = json_log.read(DiskTree(folder), NAME)
    return [item.record for item in found if isinstance(item, LogLine)]


@given(record_lists)
def test_what_is_added_is_read_back(records: list[dict[str, object]]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for record in records:
            assert add(folder, json_log.encode(record)) == ()
        tree = DiskTree(folder)
        every = list(json_log.read(tree, NAME))
        assert [item.record for item in every if isinstance(item, LogLine)] == records
        for count in range(len(records) + 2):
            last = json_log.tail(tree, NAME, count)
            assert [item[1:] for item in last] == [
                item[1:] for item in every[max(0, len(every) - count) :]
            ]


@given(record_lists, st.integers(0, 10_000))
def test_a_cut_at_any_byte_loses_no_earlier_entry(
    records: list[dict[str, object]], at: int
) -> None:
    data = b"".join(map(json_log.encode, records))
    cut = at % (len(data) + 1)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        Path(folder, NAME).write_bytes(data[:cut])
        add(folder, b'{"last": 1}\n')
        lacks_only_its_end = data[cut : cut + 1] == b"\n"
        whole = data[:cut].count(b"\n") + lacks_only_its_end
        assert entries(folder) == [*records[:whole], {"last": 1}]


@given(st.binary(max_size=400), st.integers(0, 5))
def test_any_bytes_are_read_and_none_are_lost(data: bytes, count: int) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        Path(folder, NAME).write_bytes(data)
        json_log.tail(DiskTree(folder), NAME, count)
        before = entries(folder)
        problems = add(folder, b'{"last": 1}\n')
        assert entries(folder) == [*before, {"last": 1}]
        aside = [Path(folder, problem.found).read_bytes() for problem in problems]
        log = Path(folder, NAME).read_bytes().removesuffix(b'{"last": 1}\n')
        assert log + b"".join(aside) in (data, data + b"\n")
