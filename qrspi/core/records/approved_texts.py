"""Whether a `status: approved` has its record: who approved, and was it this very text.

In a run whose config says `approvals: recorded` a text without one is a draft that claims more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP, subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import NewestRecord, Record
from qrspi.core.tree import Tree

Approval = Literal["person", "engine", "unrecorded", "claimed"]


class Claim(NamedTuple):
    """A step whose artifact says approved, with what is on record about it, if anything."""

    step: str
    known: NewestRecord | None


def approval(records: Iterable[Record], step: str) -> Approval:
    """Who approved the step, whatever its text is now."""
    known = approvals.last_approval(records, step)
    if known is None:
        return "unrecorded"
    return "engine" if known.surface == approvals.CASCADE else "person"


def claim(tree: Tree, records: Iterable[Record], step: str) -> Claim | None:
    """None when the approval of just this text is on record."""
    known = approvals.last_approval(records, step)
    if known and is_text(tree, step, known.body_hash):
        return None
    return Claim(step, known)


def is_text(tree: Tree, step: str, body_hash: str) -> bool:
    return step_text.is_unchanged(tree, subject_of(step), body_hash)


def problem(run: str, found: Claim) -> Problem:
    artifact, command = STEP[found.step].artifact, f"qrspi unapprove {run} {found.step}"
    why = "nobody approved it"
    if found.known:
        why = f"{found.known.person or 'somebody'} approved another text"
        why += f" on {found.known.when[:10]}" if found.known.when else ""
    return Problem(
        "claims-approval",
        f"{artifact} says approved, but {why}: it counts as a draft; `{command}` makes it one",
        file=artifact,
        field="status",
        found="approved",
        expected="draft",
        hint=command,
    )


def unrecorded(run: str, steps: Iterable[str]) -> tuple[Problem, ...]:
    """For a run that was not started with records, or not by this engine."""
    names = [STEP[step].artifact for step in steps]
    if not names:
        return ()
    verb = "says" if len(names) == 1 else "say"
    text = f"{', '.join(names)} {verb} approved, and no record says who approved"
    text += f"; `qrspi log {run}` shows what is on record"
    return (Problem("approved-without-record", text, file=names[0]),)
