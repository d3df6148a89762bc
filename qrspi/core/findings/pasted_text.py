"""Findings in a text that was not written as files: a chat, or one file with many of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qrspi.core.filenames import finding_file
from qrspi.core.findings import split_reply as splitter
from qrspi.core.findings.split_reply import Split
from qrspi.core.findings.submission import finished
from qrspi.core.model import Problem
from qrspi.core.tree import ROUND_FILES_LIMIT

_MARK = re.compile(r"([ \t]*)---[ \t]*")
_ID = re.compile(r"[ \t]*(?:finding_id|finding|id)[ \t]*:")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^`]*")
_LONGEST_HEAD = 200  # lines: no finding has as many fields


class _Block(NamedTuple):
    start: int  # of its first line, which is ---
    indent: str
    fence: str  # what opened the code block that it stands in, or ''


def read(data: bytes, tag: str, number: int) -> Split | Problem:
    """As a reviewer's reply when it is one; else every frontmatter with a finding's id opens
    a finding, which goes on to the next one or to the end of its code block."""
    reply = splitter.split(data, tag, number)
    if isinstance(reply, Split) or len(data) > splitter.REPLY_LIMIT:
        return reply
    try:
        lines = data.decode().removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        found = f"bytes that are not UTF-8, first at {error.start + 1}"
        return splitter.refused(tag, found, "text")
    blocks = tuple(_blocks(lines))
    if not blocks:
        return splitter.refused(tag, "no finding", f"{splitter.EXPECTED}, or their frontmatter")
    if len(blocks) > ROUND_FILES_LIMIT:
        return splitter.refused(tag, f"{len(blocks)} findings", f"at most {ROUND_FILES_LIMIT}")
    limits = [*(block.start - bool(block.fence) for block in blocks[1:]), len(lines)]
    spans = [
        (block, _end(lines, block, limit)) for block, limit in zip(blocks, limits, strict=True)
    ]
    texts = (_text(lines[block.start : end], block) for block, end in spans)
    files = tuple((finding_file(tag, at), finished(text)) for at, text in enumerate(texts, 1))
    return Split(files, warnings=_discarded(lines, spans, tag))


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    at = 0
    while at < len(lines):
        mark = _MARK.fullmatch(lines[at])
        end = _end_of_head(lines, at) if mark else None
        if mark and end:
            before = _FENCE.fullmatch(lines[at - 1]) if at else None
            yield _Block(at, mark[1], before[1] if before else "")
            at = end
        at += 1


def _end_of_head(lines: Sequence[str], start: int) -> int | None:
    """The line that closes a frontmatter opened at `start`, if it is that of a finding."""
    named = False
    for at in range(start + 1, min(start + _LONGEST_HEAD, len(lines))):
        if _MARK.fullmatch(lines[at]):
            return at if named else None
        named = named or _ID.match(lines[at]) is not None
    return None


def _end(lines: Sequence[str], block: _Block, limit: int) -> int:
    inside = range(block.start, limit) if block.fence else ()
    return next((at for at in inside if _closes(lines[at], block.fence)), limit)


def _closes(line: str, fence: str) -> bool:
    text = line.strip()
    return text.startswith(fence) and not text.strip(fence[0])


def _text(lines: Sequence[str], block: _Block) -> bytes:
    return "\n".join(line.removeprefix(block.indent) for line in lines).rstrip().encode()


def _discarded(
    lines: Sequence[str], spans: Sequence[tuple[_Block, int]], tag: str
) -> tuple[Problem, ...]:
    taken = {at for block, end in spans for at in range(block.start, end)}
    outside = (line for at, line in enumerate(lines) if at not in taken)
    count = sum(1 for line in outside if line.strip() and not _FENCE.fullmatch(line))
    if not count:
        return ()
    found = f"{count} line{'s' if count > 1 else ''}"
    text = f"the text of {tag} has {found} outside its findings; only the kept original has them"
    return (Problem("text_discarded", text, found=found, expected="nothing but findings"),)
