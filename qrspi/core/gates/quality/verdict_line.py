"""The line in a task's frontmatter that remembers a verdict about its text; one that cannot be
read counts as none.

    NEEDS_REFINEMENT hash=1a2b3c4d @2026-05-17T09:30:00Z v1 axes=goal,boundary"""

from __future__ import annotations

import re

from qrspi.core.hints import Literal, cast
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import timestamps

Verdict = Literal["PASS", "NEEDS_REFINEMENT", "REJECT"]

AXES = ("goal", "boundary", "verifiability", "reproducibility", "hidden_context")
SUPPRESSED_DAYS = 7
_SHAPE = re.compile(
    r"(PASS|NEEDS_REFINEMENT|REJECT) hash=([0-9a-f]{8}) @(\S{1,40}) v1"
    r"((?: [a-z][a-z_-]{0,39}=\S{1,400})*)"
)


class Line(NamedTuple):
    verdict: Verdict
    hash: str
    when: str
    failing: tuple[str, ...] = ()  # axes; of a rubric's REJECT the ids of its rules
    suppressed_until: str = ""

    def says(self, other: Line) -> bool:
        """The same verdict about the same text, whatever its time."""
        mine = self.verdict, self.hash, self.failing
        return mine == (other.verdict, other.hash, other.failing)

    @property
    def failing_axes(self) -> frozenset[str]:
        return frozenset(self.failing) & frozenset(AXES)


def render(line: Line) -> str:
    text = f"{line.verdict} hash={line.hash} @{line.when} v1"
    text += f" axes={','.join(line.failing)}" if line.failing else ""
    return text + (f" suppressed-until={line.suppressed_until}" if line.suppressed_until else "")


def read(text: str) -> Line | None:
    match = _SHAPE.fullmatch(text)
    if not match or timestamps.seconds(match[3]) is None:
        return None
    more = dict(part.split("=", 1) for part in match[4].split())
    axes = tuple(axis for axis in more.get("axes", "").split(",") if axis)
    until = more.get("suppressed-until", "")
    line = Line(cast(Verdict, match[1]), match[2], match[3], axes, until)
    return line if not until or _is_possible(line) else None


def _is_possible(line: Line) -> bool:
    """A PASS is never frozen, and nothing is frozen for longer than the engine does it."""
    until, since = timestamps.seconds(line.suppressed_until), timestamps.seconds(line.when)
    if until is None or since is None or line.verdict == "PASS":
        return False
    return until - since <= SUPPRESSED_DAYS * timestamps.DAY


def is_suppressed(line: Line, now: str) -> bool:
    """Whether the verdict holds for a while, even if the text has changed."""
    until, moment = timestamps.seconds(line.suppressed_until), timestamps.seconds(now)
    return until is not None and moment is not None and moment < until


def suppression(before: Line | None, after: Line) -> str:
    """Until when a verdict is frozen that fails for the second time in a row on the same axis."""
    if before is None or "PASS" in (before.verdict, after.verdict):
        return ""
    again = before.failing_axes & after.failing_axes
    return timestamps.later(after.when, SUPPRESSED_DAYS) if again else ""
