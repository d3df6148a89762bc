"""Comments of people, as documents and as lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qrspi.core.hints import Any
from qrspi.core.records.comments import PlacedComment
from qrspi.render.terminal import one_line


def document(run: str, places: Iterable[PlacedComment]) -> dict[str, Any]:
    comments = [comment_document(placed) for placed in places]
    return {"schema": "qrspi/comment-list/v1", "run": run, "comments": comments}


def comment_document(placed: PlacedComment) -> dict[str, Any]:
    comment = placed.comment
    return {
        **comment._asdict(),
        "start": placed.start,
        "end": placed.end,
        "place": placed.place,
        "resolved": comment.resolved or None,
        "resolved_by": comment.resolved_by or None,
    }


def lines(run: str, places: Sequence[PlacedComment]) -> list[str]:
    if not places:
        return [f"{run} has no open comment."]
    return [line for placed in places for line in comment_lines(placed)]


def comment_lines(placed: PlacedComment) -> list[str]:
    comment = placed.comment
    by = f", {one_line(comment.person)}" if comment.person else ""
    resolved = f", resolved on {one_line(comment.resolved[:10])}" if comment.resolved else ""
    quoted = one_line(comment.lines.partition("\n")[0])
    return [
        f"{comment.id} {one_line(placed.cited)}{placed.remark}{by}{resolved}",
        f"  > {quoted}",
        *(f"  {one_line(line)}" for line in comment.message.split("\n")),
    ]
