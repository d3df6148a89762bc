"""Long lines for a terminal, broken between words. A command in backticks stays on one line where
it fits: who copies half of it runs half of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qrspi.render.columns import cells_of

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_PHRASE = re.compile(r" *(?:`[^`]*`|[^ ])+")
_WORD = re.compile(r" *[^ ]+")


def folded(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in lines:
        yield from _fold(line, width) if _cells(line) > width else (line,)


def _fold(line: str, width: int) -> Iterator[str]:
    margin = " " * (len(line) - len(line.lstrip(" ")) + 2)
    now = ""
    for phrase in _phrases(line, width - len(margin)):
        if now.strip() and _cells(now + phrase) > width:
            yield now
            now = margin + phrase.lstrip(" ")
        else:
            now += phrase
    yield now


def _phrases(line: str, room: int) -> Iterator[str]:
    for phrase in _PHRASE.findall(line):
        yield from (phrase,) if _cells(phrase.lstrip(" ")) <= room else _WORD.findall(phrase)


def _cells(text: str) -> int:
    return cells_of(_STYLE.sub("", text))
