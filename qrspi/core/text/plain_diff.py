"""A diff in which a reviewer sees every byte. git shows everything as text, whatever attributes
say. Bytes that are no text, and very long lines, are spelt out here; of binary files size and hash
are shown, and what no prompt has room for is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from qrspi.core.digest import sha256
from qrspi.core.model import Unseen
from qrspi.core.named_tuple import NamedTuple

LONGEST = 2000  # bytes of a line
ROOM = 1024 * 1024  # bytes of a diff for which a prompt has room
MOST_NAMED = 500
_SAMPLE = 1024 * 1024
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
_HUNK = re.compile(rb"^@@ ", re.MULTILINE)
_PLACE = re.compile(rb"^(?:\+\+\+|---) (\"?)[ab]/(.*?)\"?\t?$", re.MULTILINE)
# Git's own words about what a path holds: a commit of another repository.
_LINK = re.compile(rb"^(?:index \S+|(?:new file|deleted file|new|old) mode) 160000$", re.MULTILINE)
_COMMIT = re.compile(rb"^\+Subproject commit (\S+)$", re.MULTILINE)
_ODD = bytes(code for code in range(256) if code < 32 and code not in b"\t\n\r\f\x1b")

Contents = Callable[[str], bytes | None]  # of a file, as it is now


class Plain(NamedTuple):
    text: bytes
    unseen: tuple[Unseen, ...] = ()


class Shown(NamedTuple):
    text: bytes
    left_out: tuple[Unseen, ...] = ()


def is_plain(block: bytes) -> bool:
    """Whether a piece of a diff, in whole lines, can stay as it is."""
    if b"\0" in block or not _is_text(block) or _LINK.search(block):
        return False
    return all(len(line) <= LONGEST for line in block.split(b"\n"))


def _is_text(data: bytes) -> bool:
    return data.isascii() or len(data.decode("utf-8", "ignore").encode()) == len(data)


def rewrite(diff: bytes, contents: Contents) -> Plain:
    parts = [_rewritten(section, contents) for section in _sections(diff)]
    unseen = tuple(one for part in parts for one in part.unseen)
    return Plain(b"".join(part.text for part in parts), unseen)


def named(unseen: Iterable[Unseen]) -> tuple[Unseen, ...]:
    """For a record that must stay readable: of very many files, the others are counted."""
    listed = tuple(unseen)
    rest = len(listed) - MOST_NAMED
    return listed if rest <= 0 else (*listed[:MOST_NAMED], Unseen("", rest, ""))


def shown(diff: bytes, room: int = ROOM) -> Shown:
    """As much as there is room for, small changes first: a great one keeps none of them out."""
    if len(diff) <= room:
        return Shown(diff)
    parts = tuple(_sections(diff))
    given = [0] * len(parts)
    for at in sorted(range(len(parts)), key=lambda at: len(parts[at])):
        given[at] = min(len(parts[at]), room)
        room -= given[at]
    cut = [_cut(part, size) for part, size in zip(parts, given, strict=True)]
    left = tuple(one for part in cut for one in part.left_out)
    return Shown(b"".join(part.text for part in cut), left)


def _cut(section: bytes, room: int) -> Shown:
    """Its name is always shown."""
    if room == len(section):
        return Shown(section)
    hunk = _HUNK.search(section)
    head = hunk.start() if hunk else len(section)
    kept = max(head, section.rfind(b"\n", 0, room) + 1)
    rest = len(section) - kept
    if not rest:
        return Shown(section)
    note = b"qrspi: the other %d bytes of this change are not shown\n" % rest
    return Shown(section[:kept] + note, (Unseen(as_text(_path(section[:head])), 0, "", cut=rest),))


def as_text(name: str) -> str:
    """A name of git's on one line: what is no text, or cannot be seen, is spelt out."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    seen = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return "".join(seen)


def whole_file(data: bytes) -> bytes | None:
    """A file as text; None for a binary one."""
    if b"\0" not in data and _is_text(data):
        return data
    return None if _is_binary(data) else _flags(data) + _spelt_out(data)


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
    if _LINK.search(head):
        return Plain(section, (_submodule(path, body),))
    if _is_binary(body):
        return _listed(head, path, contents(path))
    lines = [tuple(_pieces(line)) for line in _spelt_out(body).split(b"\n")]
    long = sum(len(pieces) > 1 for pieces in lines)
    return Plain(head + _flags(body, long) + b"\n".join(b"\n".join(line) for line in lines))


def _path(head: bytes) -> str:
    quoted, name = _PLACE.findall(head)[-1]
    if quoted:
        name = name.decode("unicode_escape").encode("latin-1")
    return str(name.decode("utf-8", "surrogateescape"))


def _submodule(path: str, body: bytes) -> Unseen:
    """All that a diff has of its code is a commit's name."""
    now = _COMMIT.search(body)
    return Unseen(as_text(path), 0, "", commit=now[1].decode("ascii", "replace") if now else "")


def _is_binary(body: bytes) -> bool:
    """A few odd bytes do not make a text binary; a tenth of all bytes does."""
    sample = body[:_SAMPLE]
    strange = len(sample) - len(sample.translate(None, _ODD))
    readable = sample.decode("utf-8", "ignore")
    strange += len(sample) - len(readable.encode())
    return b"\0" in body and strange * 10 > len(sample)


def _listed(head: bytes, path: str, data: bytes | None) -> Plain:
    found, words = Unseen(as_text(path), 0, ""), "it is deleted"
    if data is not None:
        found = found._replace(size=len(data), sha256=sha256(data).hexdigest())
        words = f"{found.size} bytes, sha256 {found.sha256}"
    return Plain(head + b"qrspi: binary, not shown: " + words.encode() + b"\n", (found,))


def _flags(body: bytes, long: int = 0) -> bytes:
    nuls = body.count(b"\0")
    odd = len(body) - len(body.decode("utf-8", "ignore").encode())
    said = [f"{nuls} NUL bytes, each shown as \\x00"] if nuls else []
    said += [f"{odd} bytes that are not UTF-8, each shown like \\xe9"] if odd else []
    said += [f"{long} lines of more than {LONGEST} bytes, broken up with a '\\' at each end"][:long]
    return f"qrspi: below there are {' and '.join(said)}\n".encode()


def _spelt_out(body: bytes) -> bytes:
    text = body if _is_text(body) else body.decode("utf-8", "backslashreplace").encode()
    return text.replace(b"\0", rb"\x00")


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
