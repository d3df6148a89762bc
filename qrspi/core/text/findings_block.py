"""The block of findings that a quality review leaves in a task's Context section. Every byte
outside it stays as it was. A torn block ends at the first line that is not its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import headings
from qrspi.core.text.headings import Span

LIMIT = 1500  # characters, markers included
_MARK = b"--- Quality Review Findings "
_BEGIN = re.compile(_MARK + rb"hash=([0-9a-f]{8}) @([0-9TZ:.+-]{1,40}) ---[ \t\r]*")
_END = "--- End Quality Review Findings ---"
_GAPS, _FIXES = "Gaps:", "Suggested fixes:"
_OWN = re.compile(rb"(?:Gaps:|Suggested fixes:|- .*)\r?")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")


class Block(NamedTuple):
    hash: str
    when: str
    gaps: tuple[str, ...]
    fixes: tuple[str, ...] = ()


def render(block: Block) -> str:
    """What does not fit is left out: the last fixes, the last gaps, the end of the only gap."""
    gaps, fixes = _lines(block.gaps), _lines(block.fixes)
    while len(_text(block, gaps, fixes)) > LIMIT:
        if fixes:
            fixes.pop()
        elif len(gaps) > 1:
            gaps.pop()
        else:
            over = len(_text(block, gaps, fixes)) - LIMIT
            gaps = [gaps[0][: -over - 1] + "…"]
    return _text(block, gaps, fixes)


def _lines(texts: Iterable[str]) -> list[str]:
    """A `-` with nothing after it would turn the line above into a heading."""
    return [line for text in texts if (line := " ".join(text.split()))]


def _text(block: Block, gaps: Sequence[str], fixes: Sequence[str]) -> str:
    lines = [f"--- Quality Review Findings hash={block.hash} @{block.when} ---", _GAPS]
    lines += [f"- {gap}" for gap in gaps]
    lines += [_FIXES, *(f"- {fix}" for fix in fixes)] if fixes else []
    return "\n".join([*lines, _END])


def read(data: bytes) -> Block | None:
    if _MARK not in data:
        return None
    lines = data.split(b"\n")
    for place in _places(data, lines):
        return _block(lines[place.start : place.stop])
    return None


def _block(lines: Sequence[bytes]) -> Block:
    match = _BEGIN.fullmatch(lines[0])
    assert match is not None
    parts: dict[str, list[str]] = {_GAPS: [], _FIXES: []}
    part = parts[_GAPS]
    for line in (line.decode(errors="replace").rstrip("\r") for line in lines[1:]):
        if line in parts:
            part = parts[line]
        elif line.startswith("- "):
            part.append(line[2:])
    return Block(match[1].decode(), match[2].decode(), tuple(parts[_GAPS]), tuple(parts[_FIXES]))


def texts(data: bytes) -> tuple[str, ...]:
    if _MARK not in data:
        return ()
    lines = data.split(b"\n")
    shown = [line.decode(errors="backslashreplace").removesuffix("\r") for line in lines]
    return tuple("\n".join(shown[place.start : place.stop]) for place in _places(data, lines))


def without(data: bytes) -> bytes:
    """The file with no block in its Context section."""
    return put(data, "") if _MARK in data else data


def put(data: bytes, text: str) -> bytes:
    """The file with this block as its only one: in the place of the first block, else at the end of
    the Context section. Without such a section the file stays as it is. '' removes the block."""
    lines = data.split(b"\n")
    context = section(data)
    if context is None:
        return data
    places = list(_places(data, lines)) if _MARK in data else []
    at = places[0].start if places else _behind_text(lines, context)
    end = b"\r" if lines[context.start - 1].endswith(b"\r") else b""
    own = [line.encode() + end for line in text.split("\n")] if text else []
    for place in reversed(places):
        del lines[place.start : place.stop]
    lines[at:at] = own
    return b"\n".join(lines)


def section(data: bytes) -> Span | None:
    return headings.read(data).named("context")


def _behind_text(lines: Sequence[bytes], context: Span) -> int:
    at = context.end
    while at > context.start and not lines[at - 1].strip():
        at -= 1
    return at


def _places(data: bytes, lines: Sequence[bytes]) -> Iterator[range]:
    context = section(data)
    if context is None:
        return
    at, fenced = context.start, _fenced(lines, context)
    while at < context.end:
        if at not in fenced and _BEGIN.fullmatch(lines[at]):
            stop = _stop(lines, at, context.end)
            yield range(at, stop)
            at = stop
        else:
            at += 1


def _stop(lines: Sequence[bytes], at: int, end: int) -> int:
    stop = at + 1
    while stop < end and _OWN.fullmatch(lines[stop]):
        stop += 1
    closed = stop < end and lines[stop].rstrip(b" \t\r") == _END.encode()
    return stop + 1 if closed else stop


def _fenced(lines: Sequence[bytes], context: Span) -> frozenset[int]:
    """Lines of examples. An unclosed fence hides nothing."""
    hidden: list[int] = []
    opened, fence = 0, b""
    for at in range(context.start, context.end):
        text = lines[at].strip()
        if not fence and (match := _FENCE.match(lines[at])):
            opened, fence = at, match[1]
        elif fence and text.startswith(fence) and not text.strip(fence[:1]):
            hidden += range(opened, at)
            fence = b""
    return frozenset(hidden)
