"""What a reviewer printed becomes the files that it could not write itself: a reply in the required
form, or findings in any other text, such as a chat or one file with many of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qrspi.core.filenames import EngineName, clean_file, finding_file, parse_round_file
from qrspi.core.findings import clean as sentinels
from qrspi.core.findings.round_files import tag_of
from qrspi.core.findings.submission import finished
from qrspi.core.model import Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import ROUND_FILES_LIMIT, Entry
from qrspi.core.yaml import frontmatter

REPLY_LIMIT = 8 * 1024 * 1024
BOUNDARY = "<<<FINDING-BOUNDARY>>>"
NOTHING = "NO_FINDINGS"
_BOUNDARY_LINE = re.compile(rb"^%b(?:\r?\n|\r?\Z)" % BOUNDARY.encode(), re.MULTILINE)
_NOTHING = re.compile(rb"%b(?:\r?\n)?" % NOTHING.encode())
_BLANK_LINES = re.compile(rb"(?:[ \t\r]*\n)*")
EXPECTED = f"{NOTHING}, or findings that each begin with a line {BOUNDARY}"


class Split(NamedTuple):
    files: tuple[tuple[str, bytes], ...]  # names inside the round directory
    clean: bool = False
    warnings: tuple[Problem, ...] = ()


def split(reply: bytes, tag: str, number: int) -> Split | Problem:
    if len(reply) > REPLY_LIMIT:
        return refused(tag, f"{len(reply)} bytes", f"at most {REPLY_LIMIT} bytes")
    reply = reply.removeprefix(frontmatter.BOM)
    if _NOTHING.fullmatch(reply):
        return Split(((clean_file(tag), sentinels.render(tag, number)),), clean=True)
    before, *segments = _BOUNDARY_LINE.split(reply)
    texts = [_BLANK_LINES.sub(b"", segment, count=1) for segment in segments if segment.strip()]
    if not texts:
        return refused(tag, "no finding" if reply.strip() else "nothing", EXPECTED)
    if len(texts) > ROUND_FILES_LIMIT:
        return refused(tag, f"{len(texts)} findings", f"at most {ROUND_FILES_LIMIT}")
    files = ((finding_file(tag, at), finished(text)) for at, text in enumerate(texts, 1))
    return Split(tuple(files), warnings=_discarded(before, tag))


def joined(parts: Split) -> bytes:
    """A reply that splits into the same files."""
    if parts.clean:
        return f"{NOTHING}\n".encode()
    return b"".join(f"{BOUNDARY}\n".encode() + data for _, data in parts.files)


def refused(tag: str, found: str, expected: str) -> Problem:
    text, hint = f"the reply of {tag} has {found}; expected {expected}", "send the reviewer again"
    return Problem("unsplittable", text, found=found, expected=expected, hint=hint)


def _discarded(before: bytes, tag: str) -> tuple[Problem, ...]:
    if not before.strip():
        return ()
    found = f"{len(before)} bytes"
    text = f"the reply of {tag} has {found} before the first {BOUNDARY}; they are discarded"
    return (Problem("text_discarded", text, found=found, expected=f"a line {BOUNDARY} first"),)


def files_of(entries: Iterable[Entry], tag: str) -> tuple[str, ...]:
    """One reviewer's files, scores included. They are removed after a split that was cut short, and
    must not exist before one."""
    named = ((entry.name, parse_round_file(entry.name)) for entry in entries)
    return tuple(
        name for name, file in named if tag_of(file) == tag and not isinstance(file, EngineName)
    )


def refusal(entries: Iterable[Entry], tag: str, directory: str) -> Problem | None:
    present = files_of(entries, tag)
    if not present:
        return None
    return Problem(
        "already-there",
        f"{directory} already has {counted(len(present), 'file')} of {tag}, first {present[0]}; "
        "expected none before a split",
        file=f"{directory}/{present[0]}",
        found=present[0],
        expected=f"no file of {tag}",
        hint="send the reviewer again, which removes them first",
    )


_MARK = re.compile(r"([ \t]*)---[ \t]*")
_ID = re.compile(r"[ \t]*(?:finding_id|finding|id)[ \t]*:")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^`]*")
_LONGEST_HEAD = 200  # lines: no finding has as many fields


class _Block(NamedTuple):
    start: int  # of its first line, which is ---
    indent: str
    fence: str  # what opened the code block that it stands in, or ''


def split_any(data: bytes, tag: str, number: int) -> Split | Problem:
    """The reply is read in the required form if it has it. Otherwise every frontmatter with a
    finding's id opens a finding, which ends at the next one or at the end of its code block."""
    reply = split(data, tag, number)
    if isinstance(reply, Split) or len(data) > REPLY_LIMIT:
        return reply
    try:
        lines = data.decode().removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        found = f"bytes that are not UTF-8, first at {error.start + 1}"
        return refused(tag, found, "text")
    blocks = tuple(_blocks(lines))
    if not blocks:
        return refused(tag, "no finding", f"{EXPECTED}, or their frontmatter")
    if len(blocks) > ROUND_FILES_LIMIT:
        return refused(tag, f"{len(blocks)} findings", f"at most {ROUND_FILES_LIMIT}")
    limits = [*(block.start - bool(block.fence) for block in blocks[1:]), len(lines)]
    spans = [
        (block, _end(lines, block, limit)) for block, limit in zip(blocks, limits, strict=True)
    ]
    texts = (_text(lines[block.start : end], block) for block, end in spans)
    files = tuple((finding_file(tag, at), finished(text)) for at, text in enumerate(texts, 1))
    return Split(files, warnings=_lines_discarded(lines, spans, tag))


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
    """The line that closes the frontmatter opened at `start`, if it belongs to a finding."""
    named = False
    for at in range(start + 1, min(start + _LONGEST_HEAD, len(lines))):
        if _MARK.fullmatch(lines[at]):
            return at if named else None
        named = named or _ID.match(lines[at]) is not None
    return None


def _end(lines: Sequence[str], block: _Block, limit: int) -> int:
    for at in range(block.start, limit) if block.fence else ():
        text = lines[at].strip()
        if text.startswith(block.fence) and not text.strip(block.fence[0]):
            return at
    return limit


def _text(lines: Sequence[str], block: _Block) -> bytes:
    return "\n".join(line.removeprefix(block.indent) for line in lines).rstrip().encode()


def _lines_discarded(
    lines: Sequence[str], spans: Sequence[tuple[_Block, int]], tag: str
) -> tuple[Problem, ...]:
    taken = {at for block, end in spans for at in range(block.start, end)}
    outside = (line for at, line in enumerate(lines) if at not in taken)
    count = sum(1 for line in outside if line.strip() and not _FENCE.fullmatch(line))
    if not count:
        return ()
    found = counted(count, "line")
    text = f"the text of {tag} has {found} outside its findings; only the kept original has them"
    return (Problem("text_discarded", text, found=found, expected="nothing but findings"),)
