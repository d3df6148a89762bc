"""The lines that a git diff changes, and which of them no other diff has.

For diffs without context: they show whether somebody who was given one diff has seen every line of
the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

_SECTION = re.compile(rb"^(?=diff --git )", re.MULTILINE)
_NAME = re.compile(rb"^diff --git .* (?:b/(.*)|\"b/(.*)\")$")
# Lines of a file's header that say nothing about its text.
_ASIDE = re.compile(rb"index |similarity |dissimilarity |--- |\+\+\+ ")

Changes = Mapping[bytes, Counter[bytes]]  # by the first line of each section


def read(diff: bytes) -> Changes:
    sections = (part.split(b"\n") for part in _SECTION.split(diff) if part)
    return {lines[0]: Counter(_lines(lines[1:])) for lines in sections}


def _lines(section: list[bytes]) -> Iterable[bytes]:
    """Modes and new names count as lines: they are changes too."""
    in_text = False
    for line in section:
        if line.startswith(b"@@"):
            in_text = True
        elif line and not line.startswith(b"\\") and (in_text or not _ASIDE.match(line)):
            yield line


def unseen(change: Changes, seen: Iterable[Changes]) -> tuple[str, ...]:
    """The files with a line in `change` that none of `seen` has. A file that was renamed on the
    other side is compared with all sections of `seen` that `change` does not name."""
    known: dict[bytes, Counter[bytes]] = {}
    for one in seen:
        for name, lines in one.items():
            known[name] = known.get(name, Counter()) + lines
    moved = sum((lines for name, lines in known.items() if name not in change), Counter[bytes]())
    return tuple(
        _file(name) for name, lines in change.items() if not lines <= known.get(name, moved)
    )


def _file(heading: bytes) -> str:
    found = _NAME.match(heading)
    name = (found[1] or found[2]) if found else heading
    return name.decode("utf-8", "replace")
