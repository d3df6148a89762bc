"""Append-only logs, one JSON object a line. A kill can only leave the last line incomplete; such a
piece is put aside in `<name>.torn-<n>` before the next line is added. A last line that only lacks
its newline is a whole entry and stays one."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterable, Iterator, Mapping

from qrspi.core import plain_json
from qrspi.core.hints import Any
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.json_fields import parsed, table
from qrspi.core.tree import Fault
from qrspi.world.files import atomic_write
from qrspi.world.files.run_tree import DiskTree, closing

LINE_LIMIT = 8 * 1024 * 1024
LARGEST = 128 * 1024 * 1024  # hundreds of thousands of lines; reading more takes minutes

_BLOCK = 64 * 1024
_MARKS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")


class LogLine(NamedTuple):
    line: int  # from 1; in a tail from the end, as in a slice: -1 is the last
    record: Mapping[str, Any]


def encode(record: Mapping[str, object]) -> bytes:
    """ASCII, so that a line stays one line, and harmless, in every editor and terminal."""
    return plain_json.dumps(record, allow_nan=False).encode("ascii") + b"\n"


def append(
    directory: int, name: str, lines: bytes, file: str, *, sync: bool = True
) -> tuple[Problem, ...]:
    if not lines.endswith(b"\n"):
        raise RuntimeError("a log takes whole lines")
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    with closing(atomic_write.open_regular(directory, name, flags)) as fd:
        stat = os.fstat(fd)
        if stat.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has a second name elsewhere (a hard link)")
        size = stat.st_size
        torn = _torn(fd, size)
        if table(torn) is not None:
            _add(fd, size, b"\n" + lines, sync)
            return ()
        aside = _put_aside(directory, name, torn) if torn else ""
        _add(fd, size - len(torn), lines, sync)
    if not size:
        atomic_write.sync(directory)
    if not aside:
        return ()
    text = (
        f"{file}: its last line was cut off by a command that was killed; the piece is kept in "
        f"{aside}, the lines before it are whole"
    )
    return (Problem("torn-line", text, file, found=aside),)


def settle(directory: int, name: str) -> None:
    """Complete an entry that a killed command added: it gets its newline and is synced."""
    with closing(atomic_write.open_regular(directory, name, os.O_RDWR | os.O_APPEND)) as fd:
        torn = _torn(fd, os.fstat(fd).st_size)
        if table(torn) is not None:
            atomic_write.write_all(fd, b"\n")
        os.fsync(fd)
    atomic_write.sync(directory)


def read(tree: DiskTree, path: str) -> Iterator[LogLine | Problem]:
    fd = tree.descriptor(path)
    if isinstance(fd, Fault):
        yield from unreadable(path, fd)
        return
    with os.fdopen(fd, "rb") as file:
        if (size := os.fstat(fd).st_size) > LARGEST:
            yield from unreadable(path, Fault("too-large", str(size), LARGEST))
            return
        yield from entries(_lines(file), 1, path)


def _lines(file: io.BufferedReader) -> Iterator[bytes]:
    """Of a line that is too long only the beginning: it is one line all the same."""
    while line := file.readline(LINE_LIMIT):
        yield line
        while len(line) == LINE_LIMIT and not line.endswith(b"\n"):
            line = file.readline(LINE_LIMIT)


def tail(tree: DiskTree, path: str, count: int) -> tuple[LogLine | Problem, ...]:
    """The last lines, at a cost that does not depend on the length of the log."""
    fd = tree.descriptor(path)
    if isinstance(fd, Fault):
        return unreadable(path, fd)
    with closing(fd):
        lines = last_lines(fd, count)
    return tuple(entries(lines, -len(lines), path))


def _torn(fd: int, size: int) -> bytes:
    if not size or os.pread(fd, 1, size - 1) == b"\n":
        return b""
    last = last_lines(fd, 1)[0]
    if len(last) >= LINE_LIMIT:
        raise OSError(errno.EFBIG, f"its last line is longer than {LINE_LIMIT} bytes")
    return last


def _put_aside(directory: int, name: str, torn: bytes) -> str:
    """A kill after this leaves the piece in both places; the next try finds it here."""
    number = 1
    while True:
        aside = f"{name}.torn-{number}"
        now = atomic_write.present(directory, aside)
        if now is None:
            with atomic_write.temporary(directory, aside, torn) as temp:
                atomic_write.put_new(directory, temp, aside)
            return aside
        if now.sha == atomic_write.sha256(torn):
            return aside
        number += 1


def _add(fd: int, size: int, lines: bytes, sync: bool) -> None:
    if os.fstat(fd).st_size != size:
        os.ftruncate(fd, size)
    try:
        atomic_write.write_all(fd, lines)
        if sync:
            os.fsync(fd)
    except OSError:
        os.ftruncate(fd, size)
        raise


def last_lines(fd: int, count: int, end: int | None = None) -> list[bytes]:
    """The last `count` lines before the byte `end`."""
    at = os.fstat(fd).st_size if end is None else end
    data, block = b"", _BLOCK
    while at and data.count(b"\n", 0, -1) < count and _first_line(data) < LINE_LIMIT:
        at, upto = max(0, at - block), at
        data = os.pread(fd, upto - at, at) + data
        block *= 2
    lines = io.BytesIO(data).readlines()
    return lines[-count:] if count > 0 else []


def _first_line(data: bytes) -> int:
    end = data.find(b"\n", 0, -1)
    return len(data) if end < 0 else end


def entries(lines: Iterable[bytes], first: int, file: str) -> Iterator[LogLine | Problem]:
    for number, line in enumerate(lines, first):
        record = _plain(line)
        if record is None:
            record = _record(line)
        if record is None:
            yield from _wrong(line, number, file)
        else:
            yield LogLine(number, record)


def _plain(line: bytes) -> Any:
    """A line as `encode` writes it, which is nearly every line."""
    if not (line.startswith(b"{") and line.endswith(b"}\n") and line.isascii()):
        return None
    return parsed(line)


def _record(line: bytes) -> dict[str, Any] | None:
    # Imported here: it brings attrs along, which costs more than a whole `status`.
    from jsonlines import InvalidLineError, Reader

    try:
        return Reader([line], loads=_loads).read(type=dict)
    except InvalidLineError:
        return None


def _loads(text: str | bytes) -> Any:
    try:
        return plain_json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _wrong(line: bytes, number: int, file: str) -> Iterator[Problem]:
    where = f"{file} line {number}" if number > 0 else f"{file} line {-number} from the end"
    expected = "a JSON object"
    if line.startswith(_MARKS):
        text = f"{where} is the conflict mark of a merge: "
        text += "keep the entries of both sides and delete the mark"
        yield Problem("merge-conflict", text, file, "", line[:7].decode("ascii"), expected)
    elif not line.endswith(b"\n") and len(line) < LINE_LIMIT:
        text = f"{where} was cut off by a command that was killed: "
        text += "it does not count, and is kept aside when the next line is added"
        yield Problem("torn-line", text, file)
    elif len(line) == LINE_LIMIT and not line.endswith(b"\n"):
        expected = f"at most {LINE_LIMIT:,} bytes"
        text = f"{where} is too long: it does not count, the other lines do; expected {expected}"
        yield Problem("malformed-line", text, file, expected=expected)
    elif line.strip():
        text = f"{where} is not a JSON object: it does not count, the other lines do"
        yield Problem("malformed-line", text, file, expected=expected)


def move_aside(run: str, file: str) -> str:
    # Imported here: only who is told of it pays for it.
    from qrspi.core.text.shell_words import command

    return command("mv", f"{run}/{file}", f"{run}/{file}.unreadable")


def unreadable(path: str, fault: Fault) -> tuple[Problem, ...]:
    if fault.kind == "absent":
        return ()
    text = f"cannot read {path}: {fault.reason}"
    text += ", expected a regular file" if fault.kind == "not-a-file" else ""
    return (Problem("unreadable", text, path, found=fault.found, expected=fault.expected),)
