"""Answers to menus that are not about one finding.

A menu is named by `Next.kind`. Each has a module here with `plan(job, key, more) -> Move`; a new
menu is a line in MENUS, and its keys are the options that the derivation offers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.steps import permits
from qrspi.core.steps import review_action as reviewing
from qrspi.handlers.changes.change_set import Move
from qrspi.handlers.decisions import decide_findings as decide
from qrspi.handlers.jobs.job import Job

MENUS = {
    "failure": "menus.failure",
    "loop": "menus.loop",
    "cap": "menus.cap",
    "escape": "menus.cap",
    "baseline": "menus.baseline",
    "batch": "menus.batch",
    "test": "menus.tests",
    "test-failure": "menus.tests",
}
ELSEWHERE = {
    "pause": "findings wait, and each is decided by its own name",
    "approve": "a text waits for a yes or a no: approve it, or reject it",
    "task": "a task waits: take it with task accept, or leave it with task skip, with a reason",
    "replan": "say how the plan changes: replan minor, or replan major --to STEP",
}


class More(NamedTuple):
    """What besides its key an option may need."""

    to: str | None = None
    who: str = ""


Plan = Callable[[Job, str, More], Move]


def about(job: Job, subject: Subject | None) -> Job:
    """The same for another subject than the one that is next, such as one of several tasks."""
    if subject is None or (job.loop and job.loop.subject == subject):
        return job
    here = decide.about(job, subject)
    facts = job.facts._replace(step=subject.step)
    return here._replace(next=reviewing.from_loop(facts, here.round_loop))


def plan(job: Job, key: str, more: More) -> Move:
    """What the option does. Only what the derivation offers now can be chosen."""
    if problem := objection(job, key):
        raise Refusal(problem)
    module = importlib.import_module(f"qrspi.handlers.{MENUS[job.next.kind]}")
    build: Plan = module.plan
    return build(job, key, more)


def objection(job: Job, key: str) -> Problem | None:
    answer = job.next
    keys = [option.key for option in answer.options]
    if answer.kind in MENUS and key in keys:
        return None
    if answer.kind in MENUS:
        listed = ", ".join(keys)
        text = f"{key!r} is not offered now, {permits.now(answer)}; options: {listed}"
        return Problem("not-offered", text, "", "OPTION", key, listed, answer.command)
    how = ELSEWHERE.get(answer.kind, f"no menu is open: {permits.now(answer)}")
    return Problem("no-menu", how, "", "OPTION", key, hint=answer.command)
