"""Approvals whose text, or the text they were built on, has changed since."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP, subject
from qrspi.core.records import approvals
from qrspi.core.records import step_text as bodies
from qrspi.core.records.approvals import Record
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Tree


def changed_since(facts: Facts) -> tuple[Problem, ...]:
    """Bodies that changed after their approval, and what was approved on top of them."""
    approved = [step for step in facts.route if facts.statuses[step] == "approved"]
    if not facts.records or not approved:
        return ()
    now = {step: _hash(facts.tree, step) for step in approved}
    edited = [
        Problem(
            "edited-after-approval",
            f"{STEP[step].artifact} changed after it was approved; "
            f"`qrspi show {facts.run} {step} --since-approval` shows how",
            file=STEP[step].artifact,
        )
        for step in approved
        if (entry := approvals.newest(facts.records, step))
        and entry.event == "approve"
        and entry.body_hash != now[step]
    ]
    return (*edited, *_upstream_changed(facts, approved, now))


def _hash(tree: Tree, step: str) -> str:
    about = subject(step)
    assert about is not None
    return bodies.body_hash(tree, about)


def _upstream_changed(facts: Facts, approved: list[str], now: Mapping[str, str]) -> list[Problem]:
    problems = []
    for at, step in enumerate(approved):
        seen = _hashes_before(facts.records, step)
        changed = [up for up in approved[:at] if up in seen and seen[up] != now[up]]
        if changed:
            names = ", ".join(STEP[up].artifact for up in changed)
            text = f"{STEP[step].artifact} was approved before {names} changed"
            problems.append(Problem("upstream-changed", text, file=STEP[step].artifact))
    return problems


def _hashes_before(records: tuple[Record, ...], step: str) -> dict[str, str]:
    """The hashes that earlier steps were approved with when `step` was approved last."""
    seen: dict[str, str] = {}
    at_approval: dict[str, str] = {}
    for record in records:
        if record.event != "approve":
            continue
        if record.step == step:
            at_approval = dict(seen)
        seen[record.step] = record.body_hash
    return at_approval
