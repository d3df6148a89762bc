"""What is long, made short: a text between two words where it can be, a list after its first."""

from __future__ import annotations

from collections.abc import Sequence

_LINE = 200  # characters


def in_short(text: str) -> str:
    """On one line."""
    return at_words(" ".join(text.split()), _LINE)


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def few(words: Sequence[str], most: int = 1) -> str:
    """`a and 2 more`, with as many named as may be."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def at_words(text: str, most: int) -> str:
    """With a mark where it is cut. Half of the room is never given up for a whole word."""
    if len(text) <= most:
        return text
    kept = text[: most + 1].rpartition(" ")[0]
    if len(kept) < most // 2:
        kept = text[:most]
    return f"{kept.rstrip(_LOOSE)}…"


def remark(text: str, most: int) -> str:
    """Somebody's words within a sentence of the engine: on one line, nothing that is not seen, and
    without the marks around its own commands and quotations."""
    seen = "".join(char if char.isprintable() else " " for char in text)
    return at_words(" ".join(seen.split()).replace("`", "'").replace('"', "'"), most)


_LOOSE = " .,;:(–-"  # what would stand alone before the mark
