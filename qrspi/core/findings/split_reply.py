"""What a reviewer printed becomes the files it could not write itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from qrspi.core.filenames import EngineName, clean_file, finding_file, parse_round_file
from qrspi.core.findings import clean as sentinels
from qrspi.core.findings.round_files import tag_of
from qrspi.core.findings.submission import finished
from qrspi.core.model import Problem
from qrspi.core.tree import ROUND_FILES_LIMIT, Entry

REPLY_LIMIT = 8 * 1024 * 1024
BOUNDARY = "<<<FINDING-BOUNDARY>>>"
NOTHING = "NO_FINDINGS"
_BOM = b"\xef\xbb\xbf"
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
    reply = reply.removeprefix(_BOM)
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


def joined(found: Split) -> bytes:
    """A reply that splits into the same files."""
    if found.clean:
        return f"{NOTHING}\n".encode()
    return b"".join(f"{BOUNDARY}\n".encode() + data for _, data in found.files)


def refused(tag: str, found: str, expected: str) -> Problem:
    return Problem(
        "unsplittable",
        f"the reply of {tag} has {found}; expected {expected}",
        found=found,
        expected=expected,
        hint="send the reviewer again with `qrspi resolve retry`",
    )


def _discarded(before: bytes, tag: str) -> tuple[Problem, ...]:
    if not before.strip():
        return ()
    found = f"{len(before)} bytes"
    text = f"the reply of {tag} has {found} before the first {BOUNDARY}; they are discarded"
    return (Problem("text_discarded", text, found=found, expected=f"a line {BOUNDARY} first"),)


def files_of(entries: Iterable[Entry], tag: str) -> tuple[str, ...]:
    """What a round directory holds of one reviewer, scores included, the engine's own records
    not: after a split that was cut short, what has to go; before one, what must not be there."""
    named = ((entry.name, parse_round_file(entry.name)) for entry in entries)
    return tuple(
        name for name, file in named if tag_of(file) == tag and not isinstance(file, EngineName)
    )


def refusal(entries: Iterable[Entry], tag: str, directory: str) -> Problem | None:
    """Why nothing can be split into this directory."""
    present = files_of(entries, tag)
    if not present:
        return None
    return Problem(
        "already-there",
        f"{directory} already has {len(present)} file(s) of {tag}, first {present[0]}; "
        "expected none before a split",
        file=f"{directory}/{present[0]}",
        found=present[0],
        expected=f"no file of {tag}",
        hint="send the reviewer again with `qrspi resolve retry`, which removes them first",
    )
