"""Colours, where the terminal takes them."""

from __future__ import annotations

from collections.abc import Callable

Paint = Callable[[str, str], str]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def painter(on: bool) -> Paint:
    """A function of a text and a style; without colours it leaves the text as it is."""
    return _painted if on else plain


def plain(text: str, style: str) -> str:
    return text


def _painted(text: str, style: str) -> str:
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and text else text
