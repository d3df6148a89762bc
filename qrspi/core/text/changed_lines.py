"""The lines that a git diff without context changes, and which of them no other diff has: whether
somebody who was given one diff has seen every line of the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

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


def as_renamed(changes: Changes, between: Changes) -> Changes:
    """The same under every name that a file has had, where git says that it was renamed: within
    these changes, or until the others begin."""
    now = dict(_renames(between))
    found: dict[bytes, Counter[bytes]] = {}
    for heading, lines in changes.items():
        own = dict(_renames({heading: lines})) or {heading: heading}
        names = {heading, *(now.get(one, one) for pair in own.items() for one in pair)}
        for name in names:
            found[name] = found.get(name, Counter()) + lines
    return found


def _renames(changes: Changes) -> Iterator[tuple[bytes, bytes]]:
    """A line of text has a sign in front."""
    for lines in changes.values():
        old, new = (
            next((line[len(words) :] for line in lines if line.startswith(words)), b"")
            for words in (b"rename from ", b"rename to ")
        )
        if old and new:
            yield _heading(old), _heading(new)


def _heading(name: bytes) -> bytes:
    """Of a file that keeps its name; git may have put that in quotes."""
    if name.startswith(b'"'):
        return b'diff --git "a/%b "b/%b' % (name[1:], name[1:])
    return b"diff --git a/%b b/%b" % (name, name)


def unseen(change: Changes, seen: Iterable[Changes]) -> tuple[str, ...]:
    """The files with a line in `change` that none of `seen` has."""
    known: dict[bytes, Counter[bytes]] = {}
    for changes in seen:
        for name, lines in changes.items():
            known[name] = known.get(name, Counter()) + lines
    nothing: Counter[bytes] = Counter()
    return tuple(
        _file(name) for name, lines in change.items() if not lines <= known.get(name, nothing)
    )


def _file(heading: bytes) -> str:
    match = _NAME.match(heading)
    name = (match[1] or match[2]) if match else heading
    return name.decode("utf-8", "replace")
