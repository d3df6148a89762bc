"""A line of the record of decisions, before it is one: of the shape that most commands write, or
cut off."""

from __future__ import annotations

from qrspi.core import patterns

_TEXT = r'"([ !#-\[\]-~]*)"'  # without a character that JSON escapes
_LINE = (
    r'\{"event": %s, "step": %s, "body_hash": %s, "round": (0|[1-9][0-9]{0,8}), "who": %s'
    r', "when": %s, "surface": %s(?:, "feedback": %s)?(?:, "user": %s)?(?:, "route": %s)?\}'
) % ((_TEXT,) * 9)


def texts(line: bytes) -> tuple[str, ...] | None:
    """The values of a line of exactly that shape in their order, '' for one that is left out; None
    for any other line. This takes a fifth of the time of JSON: thousands of old decisions cost
    little."""
    found = patterns.fullmatch(_LINE, line.decode("ascii")) if line.isascii() else None
    return found.groups("") if found else None


def is_torn(tail: bytes) -> bool:
    """Whether a write that was cut off can have left this after the last newline. A complete object
    cannot be that."""
    if not tail or not (tail.startswith(_BEGINNING) or _BEGINNING.startswith(tail)):
        return False
    import json

    try:
        json.loads(tail)
    except (ValueError, RecursionError):
        return True
    return False


_BEGINNING = b'{"event": "'  # of every line that `render` makes
