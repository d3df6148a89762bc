"""How alike two messages are, by the words that carry their meaning."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")
_LINE_NUMBERS = re.compile(
    r"\blines?\s+[0-9]+(?:\s*(?:-|–|to)\s*[0-9]+)?|\bl[0-9]+(?:-l?[0-9]+)?\b|(?<=\w):[0-9]+(?:-[0-9]+)?"
)
_STEM = 5  # `contradicts` and `contradiction` are one word

_FILLERS = """a about after again all also although an and any are as at be been being both but by
can could did do does each for from had has have he how however if in into is it its just may more
most must never no nor not now of on one only or other our out over per same should so some still
such than that the their them then there these they this those to too two under until up use used
uses very via was were what when where which while who whose why will with without would yet you
your"""
# What reviewers say of everything.
_SPEECH = """add artifact claim claims clear currently define defined defines describe described
describes design document documented ensure lack lacks list listed lists mention mentions missing
need needs omit omits omitted remain remains require required requires say says section specified
specifies specify state stated states unclear undefined unspecified"""
_SAYS_LITTLE = frozenset((_FILLERS + " " + _SPEECH).split())


def words_of(message: str) -> frozenset[str]:
    text = _LINE_NUMBERS.sub(" ", message.lower())
    words = _WORD.findall(text)
    telling = frozenset(word[:_STEM] for word in words if word not in _SAYS_LITTLE)
    return telling or frozenset(words)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Dice's coefficient: 1.0 for the same words, 0.0 for none in common."""
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 1.0


def sketch(words: frozenset[str], size: int = 4) -> tuple[str, ...]:
    """A few words that two sets with most words in common are all but sure to share."""
    return tuple(sorted(words)[-size:])
