"""A long text made short: between two words where it can be, with a mark where it was cut."""

from __future__ import annotations

_LINE = 200  # characters


def in_short(text: str) -> str:
    """On one line."""
    return at_words(" ".join(text.split()), _LINE)


def at_words(text: str, most: int) -> str:
    """Half of the room is never given up for the sake of a whole word."""
    if len(text) <= most:
        return text
    kept = text[: most + 1].rpartition(" ")[0]
    if len(kept) < most // 2:
        kept = text[:most]
    return f"{kept.rstrip(_LOOSE)}…"


def remark(text: str, most: int) -> str:
    """Somebody's words within a sentence of the engine: on one line, and without the marks around
    its own commands and quotations."""
    return at_words(" ".join(text.split()).replace("`", "'").replace('"', "'"), most)


_LOOSE = " .,;:(–-"  # what would stand alone before the mark
