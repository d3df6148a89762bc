"""How well a research text is sourced: inline references over words."""

from __future__ import annotations

import re
from itertools import count
from typing import NamedTuple

from qrspi.core.text.tables import Line, shown
from qrspi.core.yaml import frontmatter

DEFAULT_FLOOR = 0.05


class Density(NamedTuple):
    references: int
    words: int

    @property
    def value(self) -> float:
        return self.references / self.words if self.words else 0.0


# The list at the end that `[3]` points to: where references lead, not references.
_DEFINITION = re.compile(r" {0,3}\[\^?[^\]]{1,80}\]:")
_LINK = re.compile(r"\[[^\[\]\n]{0,500}\]\([^()\s]{1,2000}(?:[ \t]\"[^\"\n]{0,200}\")?\)")
_URL = re.compile(r"https?://[^\s<>()\[\]`]+")
_NUMBER = re.compile(r"\[\^?\d{1,4}\]")
_LINES = re.compile(r":(L?)\d{1,7}(?:-L?\d{1,7})?(?!\w)")
# A path is sought backwards from its lines, and not far: searching forwards from every
# character of a long run of names takes the square of its length.
_NAME = re.compile(r"[\w./@+-]{1,200}\Z")
_A_FILES = re.compile(r"/|\.[A-Za-z]\w{0,9}\Z")


def measure(data: bytes) -> Density:
    """Code in fences and the list of sources count neither way."""
    text = frontmatter.body(data).decode(errors="replace")
    lines = (line.text for line in shown(map(Line, count(1), text.splitlines())))
    prose = "\n".join(line for line in lines if not _DEFINITION.match(line))
    words = sum(1 for word in prose.split() if any(map(str.isalnum, word)))
    return Density(_references(prose), words)


def is_sparse(data: bytes, floor: float) -> bool:
    return measure(data).value < floor


def _references(prose: str) -> int:
    total = 0
    for pattern in (_LINK, _URL, _NUMBER):
        prose, found = pattern.subn(" ", prose)
        total += found
    return total + sum(_is_path(prose, match) for match in _LINES.finditer(prose))


def _is_path(prose: str, lines: re.Match[str]) -> bool:
    name = _NAME.search(prose, max(0, lines.start() - 200), lines.start())
    return name is not None and bool(lines[1] or _A_FILES.search(name[0]))
