"""A long text made short: between two words where it can be, with a mark where it was cut."""

from __future__ import annotations


def at_words(text: str, most: int) -> str:
    """Half of the room is never given up for the sake of a whole word."""
    if len(text) <= most:
        return text
    kept = text[: most + 1].rpartition(" ")[0]
    if len(kept) < most // 2:
        kept = text[:most]
    return f"{kept.rstrip(_LOOSE)}…"


_LOOSE = " .,;:(–-"  # what would stand alone before the mark
