"""What orchestration.db says: which task is in which state, who asks for review, and how often.
Agents wrote all of it about themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from qrspi.core.filenames import task_key
from qrspi.core.gates.checkpoints import checkpoint_request, checkpoint_tables
from qrspi.core.gates.checkpoints.checkpoint_request import Request
from qrspi.core.gates.checkpoints.checkpoint_scale import READ_FIRST
from qrspi.core.gates.checkpoints.checkpoint_tables import FILE
from qrspi.core.model import CheckpointRow, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Report, TaskOutcome
from qrspi.core.text import timestamps
from qrspi.core.tree import Fault, Tree

CAP = 5  # reviews of one checkpoint; a person decides about further requests
STALE = 9 * 60  # seconds without a heartbeat

QUERIES = (checkpoint_tables.ROWS, checkpoint_tables.MESSAGES, checkpoint_tables.REVIEWS)


class Row(NamedTuple):
    task: str
    state: str
    heartbeat: int | None  # seconds since 1970; None when the text is not a time


class ReviewRequest(NamedTuple):
    id: int
    task: str
    number: int  # of the checkpoint; where it does not say, the one before
    cycle: int  # its place among the requests of this checkpoint since a person last decided
    request: Request


class Review(NamedTuple):
    id: int
    task: str
    request: int  # the message that was answered
    number: int
    cycle: int
    score: int | None
    verdict: str
    anyway: bool


class Board(NamedTuple):
    rows: Mapping[str, Row] = {}
    asked: Mapping[str, ReviewRequest] = {}  # the newest request of each task
    reviews: tuple[Review, ...] = ()
    warned: Mapping[str, tuple[str, ...]] = {}  # context warnings of each task

    @property
    def waiting(self) -> tuple[str, ...]:
        """Tasks that ask for review, the oldest request first."""
        tasks = [row.task for row in self.rows.values() if row.state == "needs_review"]
        return tuple(sorted(tasks, key=lambda task: (self._since(task), task)))

    def _since(self, task: str) -> float:
        asked = self.asked.get(task)
        return asked.id if asked else float("inf")

    @property
    def pending(self) -> tuple[str, ...]:
        stuck = sorted(row.task for row in self.rows.values() if row.state == "error")
        return (*self.waiting, *stuck)

    def request(self, task: str) -> ReviewRequest:
        """The newest request. A task may set its state and say nothing."""
        return self.asked.get(task) or ReviewRequest(0, task, 1, 1, checkpoint_request.read(""))

    def last(self, task: str) -> Review | None:
        return next((review for review in reversed(self.reviews) if review.task == task), None)

    def is_escalated(self, task: str) -> bool:
        last = self.last(task)
        in_error = task in self.rows and self.rows[task].state == "error"
        return in_error and last is not None and last.verdict == "escalated"

    def is_answered(self, asked: ReviewRequest) -> bool:
        return any(
            one.task == asked.task and one.request == asked.id and one.verdict != "escalated"
            for one in self.reviews
        )

    @property
    def worst(self) -> dict[str, int]:
        """Each task's roughest score."""
        scores: dict[str, int] = {}
        for review in self.reviews:
            if review.score is not None and review.verdict != "escalated":
                scores[review.task] = max(review.score, scores.get(review.task, 0))
        return scores


def read(tree: Tree) -> Board | Problem | None:
    """None when the run has no database."""
    rows = tree.rows(FILE, *QUERIES)
    if isinstance(rows, Fault):
        return None if rows.kind == "absent" else unusable(rows)
    return board(*rows)


def unusable(fault: Fault) -> Problem:
    kind = {"directory": "folder", "symlink": "link"}.get(fault.detail, fault.detail)
    what = f"is a {kind}" if fault.kind == "not-a-file" else fault.detail
    expected = "the database that checkpoint init makes"
    text = f"{FILE} {what}: expected {expected}; move it away, and that makes a new one"
    if fault.detail == LOCKED:
        text = f"{FILE} {what}: try again when it is done"
    return Problem("database-unusable", text, FILE, found=what, expected=expected)


LOCKED = "is locked by another program"


def board(
    rows: Iterable[tuple[Any, ...]],
    messages: Iterable[tuple[Any, ...]],
    reviews: Iterable[tuple[Any, ...]],
) -> Board:
    # A row that names no task is ignored.
    known = {row.task: row for row in map(Row._make, rows) if _is_task(row.task)}
    past = tuple(Review._make((*columns, bool(anyway))) for *columns, anyway in reviews)
    parsed = [Message(*message) for message in messages]
    warned: dict[str, tuple[str, ...]] = {}
    for one in parsed:
        if one.type == "context_warning":
            warned[one.task] = (*warned.get(one.task, ()), str(one.text))
    requests = [one for one in parsed if one.type == "review_request"]
    return Board(known, _counted(requests, past), past, warned)


class Message(NamedTuple):
    id: int
    task: str
    type: str
    text: str


def _is_task(word: object) -> bool:
    return isinstance(word, str) and task_key(word) == word


def _counted(requests: Iterable[Message], past: tuple[Review, ...]) -> dict[str, ReviewRequest]:
    """When a person decides about a task that asked too often, the count starts again."""
    decided = {review.task: review.request for review in past if review.anyway}
    cycles: dict[tuple[str, int], int] = {}
    newest: dict[str, ReviewRequest] = {}
    for message in requests:
        request = checkpoint_request.read(str(message.text))
        before = newest.get(message.task)
        number = request.checkpoint or (before.number if before else 1)
        if message.id > decided.get(message.task, 0):
            cycles[message.task, number] = cycles.get((message.task, number), 0) + 1
        cycle = cycles.get((message.task, number), 1)
        newest[message.task] = ReviewRequest(message.id, message.task, number, cycle, request)
    return newest


def needs_person(known: Board, task: str) -> bool:
    """Whether only a person can decide, and no ordinary review helps any more."""
    asked = known.request(task)
    return known.rows[task].state == "error" or asked.cycle > CAP or known.is_answered(asked)


def must_be_read(request: Request, score: int | None) -> bool:
    return score == READ_FIRST or request.corrected


def review_command(run: str, known: Board, task: str) -> str:
    """The command that answers, with every option that it would otherwise ask for."""
    command = f"qrspi checkpoint review {run} {task}"
    if needs_person(known, task):
        return f"{command} --anyway --score N -m TEXT"
    request = known.request(task).request
    if request.smoothness is None:
        return f"{command} --read --score N -m TEXT"
    read = must_be_read(request, request.smoothness)
    return f"{command} --read" if read else command


def told(run: str, known: Board, tree: Tree) -> tuple[CheckpointRow, ...]:
    """The rows as a run's state carries them. Those who wait say what they wait for."""
    return tuple(_told(run, known, row, tree) for row in known.rows.values())


def _told(run: str, known: Board, row: Row, tree: Tree) -> CheckpointRow:
    plain = CheckpointRow(row.task, row.state, row.heartbeat)
    if row.state in checkpoint_tables.BEATING:
        return plain._replace(reported=_is_reported(tree, row))
    if row.state not in ("needs_review", "error"):
        return plain
    asked = known.asked.get(row.task)
    capped = known.is_escalated(row.task) or (asked is not None and asked.cycle > CAP)
    command = review_command(run, known, row.task)
    if capped and asked:
        text = f"{row.task} {over_cap(asked)}: a person decides"
    elif row.state == "error":
        text = f"{row.task} says that it is in error and cannot go on"
    else:
        text = f"{row.task} asks for review{place(asked)}"
    return plain._replace(kind="cap" if capped else "task", summary=text, command=command)


def _is_reported(tree: Tree, row: Row) -> bool:
    """A heartbeat after the report comes from an implementer that was sent again."""
    if isinstance(task_records.outcome(tree, row.task), TaskOutcome):
        return True
    report = task_records.report(tree, row.task)
    if not isinstance(report, Report) or not report.done:
        return False
    since = timestamps.seconds(report.time)
    return row.heartbeat is None or since is None or row.heartbeat <= since


def over_cap(asked: ReviewRequest) -> str:
    return f"asked {asked.cycle} times for review of checkpoint {asked.number}, {CAP} are the most"


def place(asked: ReviewRequest | None) -> str:
    if asked is None:
        return ", without a request that says of what"
    of = f" of {asked.request.of}" if asked.request.of else ""
    return f" of checkpoint {asked.number}{of} (request {asked.cycle} of at most {CAP})"


def stale(rows: Iterable[CheckpointRow], now: int) -> tuple[Problem, ...]:
    return tuple(
        _silent(row, now)
        for row in rows
        if is_beating(row) and (row.heartbeat is None or now - row.heartbeat > STALE)
    )


def is_beating(row: CheckpointRow) -> bool:
    """Whether somebody should be working on it and send heartbeats."""
    return row.state in checkpoint_tables.BEATING and not row.reported


def _silent(row: CheckpointRow, now: int) -> Problem:
    since = "" if row.heartbeat is None else f" for {(now - row.heartbeat) // 60} minutes"
    text = f"{row.task} is {row.state} and has shown no heartbeat{since}: is anybody at it?"
    return Problem("stale-heartbeat", text, FILE, row.task, row.state)
