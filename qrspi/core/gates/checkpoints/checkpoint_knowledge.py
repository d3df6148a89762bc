"""Proposals for the knowledge of a run: does an entry already say the same?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml import frontmatter

FOLDER = "knowledge"
PROPOSALS = f"{FOLDER}/proposals"
TYPE = "rag-addition"
LIMIT = 256 * 1024

_WORD = re.compile(r"\w+")
_SHORT = 3  # letters; words that are no longer tell little about the subject of a text


class Overlap(NamedTuple):
    kind: Literal["duplicate", "partial", "unique"]
    entry: str = ""  # the one that it overlaps with most


def is_proposal(data: bytes) -> bool:
    front = frontmatter.read(data)
    if front is None or isinstance(front, Problem):
        return False
    return frontmatter.text(front.fields, "type") == TYPE


def is_empty(data: bytes) -> bool:
    return not _lines(frontmatter.body(data))


def overlap(proposal: bytes, entries: Mapping[str, bytes]) -> Overlap:
    """Case, punctuation and white space do not count. An entry is compared with its
    frontmatter, so that no added line can hide there."""
    text = frontmatter.body(proposal)
    lines, words = _lines(text), _words(text)
    best, most = "", 0
    for name in sorted(entries):
        if lines <= _lines(entries[name]):
            return Overlap("duplicate", name)
        shared = len(words & _words(entries[name]))
        if shared > most:
            best, most = name, shared
    return Overlap("partial", best) if most and 2 * most >= len(words) else Overlap("unique")


def merged(entry: bytes, proposal: bytes) -> bytes:
    return entry.rstrip() + b"\n\n" + frontmatter.body(proposal).strip() + b"\n"


def free_name(name: str, taken: frozenset[str]) -> str:
    """On some disks, names that differ only in case are the same name."""
    stem = name.removesuffix(".md")
    used = {one.casefold() for one in taken}
    number, wanted = 1, name
    while wanted.casefold() in used:
        number += 1
        wanted = f"{stem}-{number}.md"
    return wanted


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").casefold()


def _lines(data: bytes) -> frozenset[str]:
    lines = (" ".join(_WORD.findall(line)) for line in _text(data).splitlines())
    return frozenset(line for line in lines if line)


def _words(data: bytes) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(_text(data)) if len(word) > _SHORT)
