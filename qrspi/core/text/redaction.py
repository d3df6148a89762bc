"""Secret keys: whatever looks like one is removed from a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

GONE = "[redacted]"
SHORTEST = 12  # a shorter value may just as well be an ordinary word

_LIKELY = re.compile(
    r"""(?x)
    \b(?:sk|pk|rk|gsk|hf|r8|npm|pypi|glpat|xox[abeprs]|gh[opsur]|github_pat)[-_][A-Za-z0-9_-]{12,}
  | \bAIza[A-Za-z0-9_-]{30,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{12,}
  | \bya29\.[A-Za-z0-9_.-]{20,}
  | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?
    """
)
_NAMED = re.compile(
    r"(?i)((?:authorization|bearer|api[-_ ]?key|token|secret|password)\s*[:=]?\s+|"
    r"(?:api[-_]?key|token|secret|password)\s*[:=]\s*)(\"?)([A-Za-z0-9_+/=.~-]{16,})"
)
_NAMES = re.compile(r"(?i)(?:key|token|secret|password|credentials?)$")


def known(environment: Mapping[str, str], names: Iterable[str] = ()) -> tuple[str, ...]:
    """The values of variables that hold keys, longest first: variables that were named, and those
    whose name says so."""
    wanted = set(names)
    values = {
        value
        for name, value in environment.items()
        if (name in wanted and value) or (_NAMES.search(name) and len(value) >= SHORTEST)
    }
    return tuple(sorted(values, key=len, reverse=True))


def without(data: bytes, values: Iterable[str]) -> bytes:
    for value in values:
        data = data.replace(value.encode("utf-8", "surrogateescape"), GONE.encode())
        if b"\\" in data:
            data = re.sub(_in_json(value), GONE.encode(), data)
    return data


@cache
def _in_json(value: str) -> bytes:
    """Any character of a JSON text may be spelt as an escape."""
    return b"".join(map(_spelt, value))


def _spelt(char: str) -> bytes:
    units = char.encode("utf-16-be", "surrogatepass")
    escape = "".join(rf"\\u(?i:{units[at : at + 2].hex()})" for at in range(0, len(units), 2))
    plain = re.escape(char.encode("utf-8", "surrogateescape"))
    slashed = rb"|\\" + plain if char in '"\\/' else b""
    return b"(?:" + plain + slashed + b"|" + escape.encode() + b")"


def redacted(text: str, values: Iterable[str] = ()) -> str:
    """For messages and logs: known values, and whatever looks like a key."""
    for value in values:
        text = text.replace(value, GONE)
    return _NAMED.sub(rf"\1\2{GONE}", _LIKELY.sub(GONE, text))
