"""The verdict about a review request, and the checklists that a reviewer is shown and answers."""

from __future__ import annotations

import re
from typing import Any

from qrspi.core import plain_json
from qrspi.core.gates.checkpoints import checkpoint_board, checkpoint_scale
from qrspi.core.gates.checkpoints.checkpoint_board import CAP, Board, ReviewRequest
from qrspi.core.gates.checkpoints.checkpoint_request import Request
from qrspi.core.gates.checkpoints.checkpoint_scale import READ_FIRST, Verdict
from qrspi.core.gates.checkpoints.checkpoint_tables import FILE
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter

RESET = "Set self-correction flag to false — this was minor."
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)[ \t]*%?")


class Reviewer(NamedTuple):
    read: bool = False
    score: int | None = None
    message: str = ""
    anyway: bool = False
    answers: Answers | None = None


class Ruling(NamedTuple):
    asked: ReviewRequest
    score: int
    verdict: Verdict
    message: str  # to the implementer
    flags: tuple[str, ...] = ()
    anyway: bool = False

    @property
    def task(self) -> str:
        return self.asked.task

    @property
    def state(self) -> str:
        return checkpoint_scale.STATE_AFTER[self.verdict]

    @property
    def type(self) -> str:
        return "approval" if self.verdict == "approve" else "rejection"

    @property
    def completes(self) -> bool:
        return self.verdict == "approve" and self.asked.request.complete


class Escalation(NamedTuple):
    """The task asked too often. This is the only refusal that changes something."""

    asked: ReviewRequest
    message: str
    problem: Problem
    is_told: bool  # the message is there already


def choose(board: Board, task: str | None, run: str) -> str | Problem:
    """The task to review: the named one, or the one that has waited longest."""
    if task is None:
        if board.waiting:
            return board.waiting[0]
        hint = f"qrspi checkpoint list {run}"
        return Problem("nothing-waits", "no task asks for review", FILE, hint=hint)
    if task in board.rows:
        return task
    listed = ", ".join(board.rows) or "none"
    text = f"{task} has no row in {FILE}; there is {listed}"
    hint = f"qrspi checkpoint init {run}"
    return _refused("unknown-task", text, "TASK", task, listed, hint)


def judge(
    board: Board, task: str, reviewer: Reviewer, estimate: float | None, run: str
) -> Ruling | Escalation | Problem:
    asked = board.request(task)
    state = board.rows[task].state
    if reviewer.anyway and state in ("needs_review", "error"):
        return _scored(board, asked, reviewer, estimate, run)
    if asked.cycle > CAP and (state == "needs_review" or board.is_escalated(task)):
        return _escalation(board, asked, run)
    if state != "needs_review":
        text = f"{task} is {state} and does not ask for review: expected needs_review"
        hint = f"qrspi checkpoint list {run} {task}"
        return _refused("not-waiting", text, "state", state, "needs_review", hint)
    if board.is_answered(asked):
        hint = checkpoint_board.review_command(run, board, task)
        text = f"{task}: its last request is answered already, and there is no new one"
        return _refused("already-answered", text, "TASK", task, "a new review_request", hint)
    return _scored(board, asked, reviewer, estimate, run)


def _escalation(board: Board, asked: ReviewRequest, run: str) -> Escalation:
    command = checkpoint_board.review_command(run, board, asked.task)
    why = checkpoint_board.over_cap(asked)
    text = f"{asked.task} {why}: it is escalated to a person, and its state is error"
    problem = _refused("review-cap", text, "TASK", asked.task, f"at most {CAP}", command)
    message = f"ESCALATED: {asked.task} {why}. A person decides: {command}"
    sent = any(
        one.task == asked.task and one.verdict == "escalated" and one.number == asked.number
        for one in _since_person(board, asked.task)
    )
    return Escalation(asked, message, problem, sent)


def _since_person(board: Board, task: str) -> list[checkpoint_board.Review]:
    decided = max((one.id for one in board.reviews if one.task == task and one.anyway), default=0)
    return [review for review in board.reviews if review.id > decided]


def _scored(
    board: Board, asked: ReviewRequest, word: Reviewer, estimate: float | None, run: str
) -> Ruling | Problem:
    own = asked.request.smoothness
    score = own if word.score is None else word.score
    command = f"qrspi checkpoint review {run} {asked.task}"
    if score is None:
        text = f"{asked.task}: its request reports no smoothness, so say how smooth it was: --score"
        hint = f"{command} --read --score N -m TEXT"
        return _refused("score-needed", text, "--score", "", "0 to 9", hint)
    if checkpoint_board.must_be_read(asked.request, score) and not (word.read or word.anyway):
        return _unread(asked, score, _with(command, word, "--read"))
    if score > READ_FIRST and score != own and not word.message.strip():
        text = f"{asked.task}: a score of {score} sends it back, so say what must change: -m TEXT"
        hint = _with(command, word, "-m TEXT")
        return _refused("feedback-needed", text, "-m", "", "a text", hint)
    return _ruled(board, asked, word, score, estimate)


def _refused(code: Code, text: str, field: str, found: str, expected: str, hint: str) -> Problem:
    return Problem(code, text, FILE, field, found=found, expected=expected, hint=hint)


def _with(command: str, reviewer: Reviewer, more: str) -> str:
    """The command as the reviewer gave it, with what it lacked."""
    score = f" --score {reviewer.score}" if reviewer.score is not None else ""
    return f"{command}{' --read' if reviewer.read else ''}{score} {more}"


def _unread(asked: ReviewRequest, score: int, hint: str) -> Problem:
    why = f"a smoothness of {score}" if score == READ_FIRST else "a self-correction"
    proposal = asked.request.fields.get("Proposal", "its proposal")
    text = f"{asked.task} reports {why}: read {proposal} first, then confirm with --read"
    expected = "a proposal read"
    return _refused("unread-proposal", text, "--read", str(score), expected, hint)


def _ruled(
    board: Board, asked: ReviewRequest, reviewer: Reviewer, score: int, estimate: float | None
) -> Ruling:
    request, verdict = asked.request, checkpoint_scale.verdict(score)
    bloated = _bloated(request, estimate)
    feedback = reviewer.message.strip() or request.reason
    if verdict == "approve":
        message = _approval(feedback, resets=request.corrected and not bloated)
    else:
        message = _rejection(score, feedback, verdict, asked)
    flags = (*_corrected(request), *_over(request, estimate if bloated else None))
    counts = reviewer.anyway and checkpoint_board.needs_person(board, asked.task)
    return Ruling(
        asked=asked, score=score, verdict=verdict, message=message, flags=flags, anyway=counts
    )


def _approval(feedback: str, *, resets: bool) -> str:
    lines = [f"REVIEW APPROVED: {feedback}".rstrip(), *([RESET] if resets else [])]
    return "\n     ".join((*lines, "Proceed with remaining steps."))


_REQUIRED = {
    "revision": "revise what the issue names, and nothing else",
    "reject": "settle the issue before anything is built on it",
}


def _rejection(score: int, feedback: str, verdict: Verdict, asked: ReviewRequest) -> str:
    lines = (
        f"REVIEW FAILED (Smoothness: {score}/9):",
        f"Issue: {feedback or checkpoint_scale.MEANING[score]}",
        f"Required: {_REQUIRED[verdict]}",
        f"Retry: send a new review_request for checkpoint {asked.number} and set needs_review",
    )
    return "\n     ".join(lines)


def _bloated(request: Request, estimate: float | None) -> bool:
    return estimate is not None and request.usage is not None and request.usage > 2 * estimate


def _corrected(request: Request) -> tuple[str, ...]:
    text = "self-correction: what the task says of its context usage is unreliable"
    return (text,) if request.corrected else ()


def _over(request: Request, estimate: float | None) -> tuple[str, ...]:
    if estimate is None:
        return ()
    return (
        f"context usage of {request.usage:g}% is over twice the estimate of {estimate:g}%: the "
        "task may need another session",
    )


def estimate(content: bytes | Fault) -> float | None:
    """The `context_estimate` of a task file, in percent."""
    front = None if isinstance(content, Fault) else frontmatter.read(content)
    if front is None or isinstance(front, Problem):
        return None
    match = _PERCENT.fullmatch(frontmatter.text(front.fields, "context_estimate") or "")
    return float(match[1]) if match else None


FACTS = (
    "All template sections present (inapplicable sections marked N/A with reason)",
    "All SQL uses `orchestration_tasks` and `orchestration_messages` (not old table names)",
    "All INSERTs include `message_type` column with valid value",
    "Every state transition includes `last_heartbeat = datetime('now')`",
    "All file paths are explicit and complete",
    "Hook configuration matches task type (sequential vs parallel)",
    "Dependencies listed match prerequisite checks",
    "Verification steps have specific expected outputs",
)
STRATEGY = (
    "Task aligns with implementation plan phase goals",
    "Task type (sequential/parallel) matches phase coordination pattern",
    "Inter-task dependencies are correctly identified and ordered",
    "Checkpoint placement is appropriate (not too early, not too late)",
    "Template compliance (all required sections present)",
    "Verification steps are adequate for the task's scope",
    "Integration considerations addressed (cross-task file conflicts, shared resources)",
)
SITUATION = (
    "Self-correction flag active? (YES = context estimates ~6x bloat)",
    "How many deviations and severity? (high severity + high context = risky)",
    "How far to next checkpoint? (far = higher risk of more issues)",
    "How many agents remain and at what cost? (many + high cost = likely to exceed budget)",
    "Prior context warnings on this task? (multiple = pattern of scope creep)",
    "Proposed action specificity? (vague = less confidence in the plan)",
)
LISTS = {"facts": FACTS, "strategy": STRATEGY, "situation": SITUATION}
UNANSWERED = "unanswered"

Answers = dict[str, list[Any]]

_EXPECTED = (
    "a JSON object with facts, strategy or situation, each a list of answers in the order of the "
    "checklist, or an object with their numbers"
)


def unanswered() -> Answers:
    return {name: [UNANSWERED] * len(questions) for name, questions in LISTS.items()}


def read_answers(data: bytes, file: str) -> Answers | Problem:
    """A question without an answer is recorded as unanswered and blocks nobody."""
    try:
        document = plain_json.loads_text(data)
    except (ValueError, RecursionError):
        return _wrong(file, "no JSON")
    if not isinstance(document, dict):
        return _wrong(file, type(document).__name__)
    answers = unanswered()
    for name, given in document.items():
        wrong = _put(answers.get(name), given)
        if wrong:
            return _wrong(file, f"{name}: {wrong}")
    return answers


def _put(answers: list[Any] | None, given: Any) -> str:
    """What is wrong with the answers to one list; '' when they were put in."""
    if answers is None:
        return "no such checklist"
    if isinstance(given, list):
        given = {str(number): answer for number, answer in enumerate(given, 1)}
    if not isinstance(given, dict):
        return "neither a list nor an object"
    for key, answer in given.items():
        number = int(key) if key.isascii() and key.isdigit() and len(key) < 4 else 0
        if not 1 <= number <= len(answers):
            return f"no question {number}"
        if isinstance(answer, dict | list):
            return f"the answer to {number} is neither a text, a number nor yes or no"
        answers[number - 1] = UNANSWERED if answer is None else answer
    return ""


def _wrong(file: str, found: str) -> Problem:
    text = f"{file} holds no answers to the checklists ({found}): expected {_EXPECTED}"
    return Problem("answers-invalid", text, file, "--answers", found, _EXPECTED)
