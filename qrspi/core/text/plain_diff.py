"""A diff in which a reviewer sees every byte. git shows everything as text, whatever attributes
say; NUL bytes and very long lines are spelt out here, and of binary files size and hash shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qrspi.core.digest import sha256
from qrspi.core.model import Unseen
from qrspi.core.named_tuple import NamedTuple

LONGEST = 2000  # bytes of a line
_SAMPLE = 1024 * 1024
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
_HUNK = re.compile(rb"^@@ ", re.MULTILINE)
_PLACE = re.compile(rb"^(?:\+\+\+|---) (\"?)[ab]/(.*?)\"?\t?$", re.MULTILINE)
_ODD = bytes(code for code in range(256) if code < 32 and code not in b"\t\n\r\f\x1b")

Contents = Callable[[str], bytes | None]  # of a file, as it is now


class Plain(NamedTuple):
    text: bytes
    unseen: tuple[Unseen, ...] = ()


def is_plain(block: bytes) -> bool:
    """Whether a piece of a diff, in whole lines, can stay as it is."""
    return b"\0" not in block and all(len(line) <= LONGEST for line in block.split(b"\n"))


def rewrite(diff: bytes, contents: Contents) -> Plain:
    parts = [_rewritten(section, contents) for section in _sections(diff)]
    unseen = tuple(one for part in parts for one in part.unseen)
    return Plain(b"".join(part.text for part in parts), unseen)


def _sections(diff: bytes) -> Iterator[bytes]:
    """One for each file. A line of content never begins like a header."""
    starts = [match.start() for match in _HEADER.finditer(diff)] or [0]
    for at, end in zip(starts, [*starts[1:], len(diff)], strict=True):
        yield diff[at:end]


def _rewritten(section: bytes, contents: Contents) -> Plain:
    hunk = _HUNK.search(section)
    if hunk is None or is_plain(section):
        return Plain(section)
    head, body = section[: hunk.start()], section[hunk.start() :]
    path = _path(head)
    if _is_binary(body):
        return _listed(head, path, contents(path))
    return Plain(head + _flags(body) + _spelt_out(body))


def _path(head: bytes) -> str:
    quoted, name = _PLACE.findall(head)[-1]
    if quoted:
        name = name.decode("unicode_escape").encode("latin-1")
    return str(name.decode("utf-8", "surrogateescape"))


def _is_binary(body: bytes) -> bool:
    """A few odd bytes do not make a text binary; a tenth of all bytes does."""
    sample = body[:_SAMPLE]
    strange = len(sample) - len(sample.translate(None, _ODD))
    readable = sample.decode("utf-8", "ignore")
    strange += len(sample) - len(readable.encode())
    return b"\0" in body and strange * 10 > len(sample)


def _listed(head: bytes, path: str, data: bytes | None) -> Plain:
    found, words = Unseen(path, 0, ""), "it is deleted"
    if data is not None:
        found = Unseen(path, len(data), sha256(data).hexdigest())
        words = f"{found.size} bytes, sha256 {found.sha256}"
    return Plain(head + b"qrspi: binary, not shown: " + words.encode() + b"\n", (found,))


def _flags(body: bytes) -> bytes:
    nuls = body.count(b"\0")
    long = sum(len(line) > LONGEST for line in body.split(b"\n"))
    said = [f"{nuls} NUL bytes, each shown as \\x00"] if nuls else []
    said += [f"{long} lines of more than {LONGEST} bytes, broken up with a '\\' at each end"][:long]
    return f"qrspi: below there are {' and '.join(said)}\n".encode()


def _spelt_out(body: bytes) -> bytes:
    lines = body.replace(b"\0", rb"\x00").split(b"\n")
    return b"\n".join(b"\n".join(_pieces(line)) for line in lines)


def _pieces(line: bytes) -> Iterator[bytes]:
    """Each begins with the sign of its line."""
    sign, rest = line[:1], line[1:]
    while len(rest) > LONGEST:
        at = _break(rest)
        yield sign + rest[:at] + b"\\"
        rest = rest[at:]
    yield sign + rest


def _break(rest: bytes) -> int:
    """Not in the middle of a character."""
    at = LONGEST
    while at > LONGEST - 4 and rest[at] & 0xC0 == 0x80:
        at -= 1
    return at
