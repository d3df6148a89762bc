"""Comments of people, as documents and as lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qrspi.core.hints import Any
from qrspi.core.records.comments import Placed
from qrspi.render.terminal import one_line


def document(run: str, found: Iterable[Placed]) -> dict[str, Any]:
    comments = [comment_document(one) for one in found]
    return {"schema": "qrspi/comment-list/v1", "run": run, "comments": comments}


def comment_document(one: Placed) -> dict[str, Any]:
    comment = one.comment
    return {
        **comment._asdict(),
        "start": one.start,
        "end": one.end,
        "place": one.place,
        "resolved": comment.resolved or None,
        "resolved_by": comment.resolved_by or None,
    }


def lines(run: str, found: Sequence[Placed]) -> list[str]:
    if not found:
        return [f"{run} has no open comment."]
    return [line for one in found for line in comment_lines(one)]


def comment_lines(one: Placed) -> list[str]:
    said = one.comment
    by = f", {one_line(said.person)}" if said.person else ""
    done = f", resolved on {one_line(said.resolved[:10])}" if said.resolved else ""
    quoted = one_line(said.lines.partition("\n")[0])
    return [
        f"{said.id} {one_line(one.cited)}{one.remark}{by}{done}",
        f"  > {quoted}",
        *(f"  {one_line(line)}" for line in said.message.split("\n")),
    ]
