"""The three checklists that a reviewer is shown, and the answers to them."""

from __future__ import annotations

import json
from typing import Any

from qrspi.core.model import Problem

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


def read(data: bytes, file: str) -> Answers | Problem:
    """A question without an answer is kept as unanswered, and stops nobody."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return _wrong(file, "no JSON")
    if not isinstance(said, dict):
        return _wrong(file, type(said).__name__)
    answers = unanswered()
    for name, given in said.items():
        wrong = _put(answers.get(name), given)
        if wrong:
            return _wrong(file, f"{name}: {wrong}")
    return answers


def _put(answers: list[Any] | None, given: Any) -> str:
    """What is wrong with the answers to one list; nothing when they were put in."""
    if answers is None:
        return "no such checklist"
    numbered = enumerate(given, 1) if isinstance(given, list) else _pairs(given)
    if numbered is None:
        return "neither a list nor an object"
    for number, answer in numbered:
        if not 1 <= number <= len(answers):
            return f"no question {number}"
        if isinstance(answer, dict | list):
            return f"the answer to {number} is neither a text, a number nor yes or no"
        answers[number - 1] = UNANSWERED if answer is None else answer
    return ""


def _pairs(given: Any) -> list[tuple[int, Any]] | None:
    if not isinstance(given, dict):
        return None
    return [(_number(key), answer) for key, answer in given.items()]


def _number(key: str) -> int:
    return int(key) if key.isascii() and key.isdigit() and len(key) < 4 else 0


def _wrong(file: str, found: str) -> Problem:
    text = f"{file} holds no answers to the checklists ({found}): expected {_EXPECTED}"
    return Problem("answers-invalid", text, file, "--answers", found, _EXPECTED)
