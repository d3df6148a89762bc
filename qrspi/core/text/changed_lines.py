"""The lines that a git diff without context changes, and which of them no other diff has: whether
somebody who was given one diff has seen every line of the other."""

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
    """A file that turns into a link has two sections under one name."""
    sections: dict[bytes, Counter[bytes]] = {}
    for part in filter(None, _SECTION.split(diff)):
        heading, *lines = part.split(b"\n")
        sections.setdefault(heading, Counter()).update(_lines(lines))
    return sections


def _lines(section: list[bytes]) -> Iterable[bytes]:
    """Modes and new names count as lines: they are changes too."""
    in_text = False
    for line in section:
        if line.startswith(b"@@"):
            in_text = True
        elif line and not line.startswith(b"\\") and (in_text or not _ASIDE.match(line)):
            yield line


def unseen(change: Changes, seen: Iterable[Changes]) -> tuple[str, ...]:
    """The files with a line in `change` that none of `seen` has."""
    known: dict[bytes, Counter[bytes]] = {}
    for changes in seen:
        for name, lines in changes.items():
            known[name] = known.get(name, Counter()) + lines
    moved = {name: lines for name, lines in known.items() if name not in change}
    return tuple(
        _file(name) for name, lines in change.items() if not _is_seen(name, lines, known, moved)
    )


def _is_seen(
    name: bytes, lines: Counter[bytes], known: Changes, moved: dict[bytes, Counter[bytes]]
) -> bool:
    """A file that was renamed on the other side and only edited here has another name in `known`:
    one that `change` does not name. Each such name stands for one file."""
    if name in known:
        return lines <= known[name]
    if not all(line.startswith((b"+", b"-")) for line in lines):
        return False
    source = next((other for other, there in moved.items() if lines <= there), None)
    return source is not None and moved.pop(source) is not None


def _file(heading: bytes) -> str:
    match = _NAME.match(heading)
    name = (match[1] or match[2]) if match else heading
    return name.decode("utf-8", "replace")
