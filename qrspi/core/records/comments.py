"""Comments of people on lines of an artifact: feedback/comments.jsonl, one object a line.

A comment remembers the lines it is about and moves with them: whenever it is shown, their present
place is searched for. Open comments of a step are also written as a page for its author.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qrspi.core.hints import Any, Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEPS
from qrspi.core.records import approvals, step_text
from qrspi.core.records.json_fields import table
from qrspi.core.tree import Fault, Tree

FILE = approvals.COMMENTS
LIMIT = 16 * 1024 * 1024
QUOTED = 4000  # characters of the lines that are remembered
KEPT_FREE = 1024 * 1024  # for the words that resolve comments
MOST = 2000  # comments in one run
_ALIKE = 0.75
# Similarity is slow to compute. These limit how far around its old place a line is searched for,
# and how much of it is compared.
_NEAR = 20
_COMPARED = 160
_ID = r"c[1-9][0-9]{0,5}"
_LINE = r"[^\x00-\x1f\x7f]*"

# changed: the lines no longer exist; the place is where they were.
Place = Literal["same", "moved", "changed", "gone"]


class Comment(NamedTuple):
    id: str
    file: str  # run-relative
    start: int
    end: int
    lines: str  # as they were
    message: str
    who: str = ""
    when: str = ""
    resolved: str = ""  # when
    resolved_by: str = ""

    @property
    def open(self) -> bool:
        return not self.resolved

    @property
    def person(self) -> str:
        return self.who.partition(" <")[0]


class PlacedComment(NamedTuple):
    comment: Comment
    place: Place
    start: int
    end: int

    @property
    def cited(self) -> str:
        file, last = self.comment.file, f"-L{self.end}" if self.end > self.start else ""
        return f"{file}:L{self.start}{last}"

    @property
    def remark(self) -> str:
        match self.place:
            case "changed":
                return " (the lines have changed since)"
            case "gone":
                return " (the file is gone)"
            case _:
                return ""


def page_file(step: str) -> str:
    return f"feedback/{step}-comments.md"


def step_of(path: str) -> str:
    named = (step.name for step in STEPS if step.artifact == path)
    beside = (one.name for one in STEPS if step_text.is_companion(one.name, path))
    return next(named, "") or next(beside, "")


def render(comment: Comment) -> bytes:
    fields = {key: value for key, value in comment._asdict().items() if value != ""}
    return _line({"event": "comment", **fields})


def render_resolved(id: str, who: str, when: str) -> bytes:
    return _line({"event": "resolve", "id": id, "who": who, "when": when})


def _line(document: dict[str, Any]) -> bytes:
    import json

    return (json.dumps(document, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def read(tree: Tree) -> tuple[Comment, ...] | Problem:
    data = tree.read(FILE, LIMIT)
    if isinstance(data, Fault):
        if data.kind == "absent":
            return ()
        text = f"{FILE} cannot be read ({data.reason}): put it right"
        return Problem("unreadable", text, FILE, found=data.kind)
    comments: dict[str, Comment] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip() and not _take(line, comments):
            text = f"{FILE} line {number} is not a comment: correct it or restore the file"
            return Problem("bad-record", text, FILE, f"line {number}", expected="a comment")
        if len(comments) > MOST:
            text = f"{FILE} has more than {MOST} comments: restore the file"
            return Problem("too-large", text, FILE, expected=f"at most {MOST} comments")
    return tuple(comments.values())


def _take(line: bytes, comments: dict[str, Comment]) -> bool:
    document = table(line)
    if document is None or not isinstance(document.get("id"), str):
        return False
    if not all(_is_line(document.get(key, "")) for key in ("who", "when")):
        return False
    if document.get("event") == "resolve" and document["id"] in comments:
        known, when = comments[document["id"]], document.get("when") or "then"
        comments[known.id] = known._replace(resolved=when, resolved_by=document.get("who", ""))
        return True
    return _comment(document, comments)


def _is_line(value: object) -> bool:
    """These stand in the head of a comment, where a second line would look like a field of its
    own."""
    return isinstance(value, str) and re.fullmatch(_LINE, value) is not None


def _comment(document: dict[str, Any], comments: dict[str, Comment]) -> bool:
    texts = {key: document.get(key, "") for key in ("file", "lines", "message", "who", "when")}
    start, end = document.get("start"), document.get("end")
    if not all(isinstance(one, str) for one in texts.values()):
        return False
    if type(start) is not int or type(end) is not int or not 0 < start <= end:
        return False
    if not (re.fullmatch(_ID, document["id"]) and step_of(texts["file"])):
        return False
    if len(texts["lines"]) > QUOTED:
        return False
    comments[document["id"]] = Comment(document["id"], start=start, end=end, **texts)
    return True


def next_id(known: Iterable[Comment]) -> str:
    numbers = [int(comment.id[1:]) for comment in known]
    return f"c{max(numbers, default=0) + 1}"


def placed(tree: Tree, comment: Comment) -> PlacedComment:
    data = tree.read(comment.file)
    if isinstance(data, Fault):
        return PlacedComment(comment, "gone", comment.start, comment.end)
    lines = data.decode("utf-8", "replace").split("\n")
    wanted = comment.lines.split("\n")
    if lines[comment.start - 1 : comment.start - 1 + len(wanted)] == wanted:
        return PlacedComment(comment, "same", comment.start, comment.start + len(wanted) - 1)
    at = _nearest(lines, wanted, comment.start - 1)
    if at is not None:
        return PlacedComment(comment, "moved", at + 1, at + len(wanted))
    return _alike(comment, lines, wanted)


def _nearest(lines: Sequence[str], wanted: Sequence[str], before: int) -> int | None:
    size = len(wanted)
    places = [at for at in _places(lines, wanted[0]) if lines[at : at + size] == wanted]
    return min(places, key=lambda at: abs(at - before), default=None)


def _places(lines: Sequence[str], wanted: str) -> Iterator[int]:
    at = -1
    for _ in range(lines.count(wanted)):
        at = lines.index(wanted, at + 1)
        yield at


def _alike(comment: Comment, lines: Sequence[str], wanted: Sequence[str]) -> PlacedComment:
    first = max(min(comment.start, len(lines)) - 1 - _NEAR, 0)
    near = lines[first : first + 2 * _NEAR + 1]
    scores = _likenesses(wanted[0], near)
    best, at = max(((one, -at) for at, one in enumerate(scores, first)), default=(0.0, 0))
    start = -at + 1 if best >= _ALIKE else min(comment.start, len(lines))
    return PlacedComment(comment, "changed", start, min(start + len(wanted) - 1, len(lines)))


def _likenesses(wanted: str, lines: Sequence[str]) -> Iterator[float]:
    """0 for a line that is too different, which the quick ratios tell much sooner."""
    from difflib import SequenceMatcher  # only a text that was changed is compared

    # It prepares its second text, not its first.
    matcher = SequenceMatcher(None, "", wanted[:_COMPARED])
    for line in lines:
        matcher.set_seq1(line[:_COMPARED])
        worth = matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE
        yield matcher.ratio() if worth else 0.0


def open_about(tree: Tree, step: str) -> tuple[PlacedComment, ...]:
    known = read(tree)
    mine = () if isinstance(known, Problem) else known
    places = (placed(tree, one) for one in mine if one.open and step_of(one.file) == step)
    return tuple(sorted(places, key=lambda one: (one.comment.file, one.start, one.comment.id)))


def page(step: str, places: Sequence[PlacedComment]) -> bytes:
    """The page for the author. Each line of a person stands after a mark, so that none becomes a
    heading."""
    parts = [f"# Comments on {step}\n\nEach is about the lines that are quoted with it.\n"]
    parts += [_section(one) for one in places] or ["\nNone is open.\n"]
    return "".join(parts).encode(errors="backslashreplace")


def _section(one: PlacedComment) -> str:
    by = f", {one.comment.person}" if one.comment.person else ""
    quoted = "".join(f"> {line}\n" for line in one.comment.lines.split("\n"))
    message = "".join(f"| {line}\n" for line in one.comment.message.strip().split("\n"))
    return f"\n## {one.comment.id}: {one.cited}{one.remark}{by}\n\n{quoted}\n{message}"
