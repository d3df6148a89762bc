"""Comments on lines of an artifact: made, and resolved."""

from __future__ import annotations

from qrspi.core.errors import Misuse, Refusal, accepted
from qrspi.core.model import Problem, counted
from qrspi.core.records import comments
from qrspi.core.records.comments import Comment
from qrspi.core.text import citations
from qrspi.core.text.shell_words import quoted
from qrspi.core.tree import BODY_LIMIT, Entry, Fault, Tree, TreeOver
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job
from qrspi.world.machine import clock


def make(job: Job, cited: str, message: str, who: str = "") -> ChangeSet:
    known, place = _known(job.workspace), _cited(cited)
    lines = _lines(job.workspace, place)
    if not message.strip():
        raise Misuse(Problem("usage", "say it: -m TEXT", field="-m", expected="a text"))
    change_set.refuse_long((message, who))
    if comments.step_of(place.path) == "research":
        _tells_nothing(job, cited, message)
    if len(known) >= comments.MOST:
        text = f"{comments.FILE} has {len(known)} comments, and room for no more"
        raise Refusal(Problem("too-large", text, comments.FILE))
    comment = Comment(
        id=comments.next_id(known),
        file=place.path,
        start=place.start or 1,
        end=place.end or place.start or 1,
        lines="\n".join(lines)[: comments.QUOTED],
        message=message.strip(),
        who=change_set.decider(job, who),
        when=clock.now_utc(),
    )
    what = f"{comment.id} on {cited}"
    return _change(job, "comment", comment, what, comments.render(comment))


def _tells_nothing(job: Job, cited: str, message: str) -> None:
    """The author of the summary is given what is open about research."""
    from qrspi.core.steps import isolation

    if told := isolation.told_by(job.workspace, job.run, message):
        raise Refusal(told._replace(hint=f"qrspi comment {job.run} {quoted(cited)} -m TEXT"))


def resolve(job: Job, id: str, who: str = "") -> ChangeSet:
    comment = next((one for one in _known(job.workspace) if one.id == id), None)
    hint = f"qrspi comment list {job.run}"
    if comment is None:
        text = f"there is no comment {id!r}: `{hint}` lists them"
        raise Refusal(Problem("unknown-comment", text, found=id, hint=hint))
    if not comment.open:
        text = f"{id} was resolved on {comment.resolved[:10]}: nothing is left to do about it"
        raise Refusal(Problem("already-resolved", text, found=id, hint=hint))
    line = comments.render_resolved(id, change_set.decider(job, who), clock.now_utc())
    return _change(job, "resolve-comment", comment, f"{id} is resolved", line)


def _known(tree: Tree) -> tuple[Comment, ...]:
    return accepted(comments.read(tree))


def _cited(cited: str) -> citations.Citation:
    citation = citations.parse(cited)
    if citation and citation.start:
        return citation
    expected = "a file with its lines, such as goals.md:L12-L20"
    text = f"{cited!r} names no lines; expected {expected}"
    raise Misuse(Problem("usage", text, field="FILE:LINES", found=cited, expected=expected))


def _lines(tree: Tree, place: citations.Citation) -> list[str]:
    if not comments.step_of(place.path):
        text = f"{place.path} is not the text of a step: expected one such as goals.md"
        raise Refusal(Problem("missing-artifact", text, file=place.path))
    data = tree.read(place.path)
    if isinstance(data, Fault):
        text = f"{place.path} cannot be read ({data.reason})"
        raise Refusal(Problem("missing-artifact", text, file=place.path, found=data.kind))
    lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    start, end = place.start or 1, place.end or place.start or 1
    if start > len(lines) or end > len(lines) or end < start:
        text = f"{place.path} has {counted(len(lines), 'line')}; L{start}-L{end} is not among them"
        raise Refusal(Problem("no-such-lines", text, file=place.path, expected=f"1-{len(lines)}"))
    return lines[start - 1 : end]


class _With(TreeOver):
    def __init__(self, tree: Tree, data: bytes) -> None:
        super().__init__(tree)
        self._data = data

    def head(self, path: str) -> bytes | Fault:
        return self._data if path == comments.FILE else self._tree.head(path)

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        return self._data if path == comments.FILE else self._tree.read(path, limit)

    def tail(self, path: str, size: int) -> bytes | Fault:
        return self._data[-size:] if path == comments.FILE else self._tree.tail(path, size)

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        return self._tree.entries(path)


def _change(job: Job, handler: str, comment: Comment, what: str, line: bytes) -> ChangeSet:
    step, before = comments.step_of(comment.file), job.workspace.read(comments.FILE)
    known = before if isinstance(before, bytes) else b""
    kept_free = comments.KEPT_FREE if handler == "comment" else 0
    if len(known) + len(line) > comments.LIMIT - kept_free:
        raise Refusal(Problem("too-large", f"{comments.FILE} has no room for more", comments.FILE))
    places = comments.open_about(_With(job.workspace, known + line), step)
    path = comments.page_file(step)
    edits = (
        Edit("append", comments.FILE, what, line),
        Edit("write", path, f"what is open about {step}", comments.page(step, places)),
    )
    message = change_set.message("comment on", step, job.run)
    covers = (comments.FILE, path)
    return ChangeSet(
        handler, step, 0, edits, message=message, covers=covers, concerns=(comment.id,)
    )
