"""Several files in one printed reply: the artifact, then others, each after a line that names it.
Without such a line the whole reply is the artifact."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple

DISPOSITIONS = "dispositions"  # stands for the round's own file, whose path is the engine's
_BOUNDARY = re.compile(r"^<<<FILE ([^<>\r\n]+)>>>[ \t]*\n", re.MULTILINE)
_LIKE_ONE = re.compile(r"^[ \t]*<<<FILE\b.*$", re.MULTILINE)
_FENCED = re.compile(r"```[a-z]*[ \t]*\n(.*)\n```", re.DOTALL)


class Printed(NamedTuple):
    path: str  # run-relative
    text: str  # ends in one newline


def files(reply: str, artifact: str, allowed: Iterable[str]) -> tuple[Printed, ...] | Problem:
    """The artifact first, then what follows it. `allowed` are patterns such as `tasks/*.md`."""
    before, *rest = _BOUNDARY.split(unfenced(reply.replace("\r\n", "\n")))
    pairs = list(zip(rest[::2], rest[1::2], strict=True))
    if before.strip() or not pairs or pairs[0][0].strip() != artifact:
        pairs.insert(0, (artifact, before))  # else it has a line of its own, too
    printed = tuple(Printed(path.strip(), f"{text.strip()}\n") for path, text in pairs)
    names = (re.escape(pattern).replace(r"\*", "[A-Za-z0-9._-]+") for pattern in allowed)
    return _fault(printed, re.compile("|".join(names))) or printed


def unfenced(reply: str, start: str = "---") -> str:
    """Models often put a fence around everything, even when told not to."""
    fenced = _FENCED.fullmatch(reply.strip())
    return fenced[1] if fenced and fenced[1].startswith(start) else reply


def _fault(printed: tuple[Printed, ...], allowed: re.Pattern[str]) -> Problem | None:
    seen = {printed[0].path}
    for path, _ in printed[1:]:
        if not allowed.fullmatch(path):
            return malformed(f"a file {path!r}", "only the files of this step")
        if path in seen:
            return malformed(f"a file {path!r} twice", "each file once")
        seen.add(path)
    for path, text in printed:
        if not text.strip():
            return malformed(f"nothing for {path!r}", "its whole text")
        if odd := _LIKE_ONE.search(text):
            return malformed(f"a line {odd[0].strip()!r}", "lines '<<<FILE path>>>' between files")
    return None


def malformed(found: str, expected: str) -> Problem:
    message = f"reply: found {found}, expected {expected}"
    return Problem("reply-malformed", message, found=found, expected=expected)
