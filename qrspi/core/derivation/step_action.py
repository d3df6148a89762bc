"""The next action of the current step: author, review loop, gate."""

from __future__ import annotations

from qrspi.core.model import Next, Option, Problem
from qrspi.core.pipeline import CODE_STEPS, STEP, Subject, subject
from qrspi.core.rounds import loop as loops
from qrspi.core.steps import authoring
from qrspi.core.steps import review_action as reviewing
from qrspi.core.steps.facts import Answer, Facts, artifact_status

REPLAN_OPTIONS = (
    Option("minor", "only the remaining plan and tasks change"),
    Option("major", "an earlier artifact changes: say which with --to"),
)


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    """What the current step needs next, and what was odd on the way."""
    if facts.step == "replan":
        return Answer(_replan(facts)), ()
    if facts.step in CODE_STEPS:
        from qrspi.core.code_steps import implement as delivery

        return delivery.answer(facts)
    return reviewed(facts, _subject(facts.step))


def _subject(word: str) -> Subject:
    found = subject(word)
    assert found is not None
    return found


def reviewed(facts: Facts, about: Subject) -> tuple[Answer, tuple[Problem, ...]]:
    """The answer for a step that is authored, reviewed and approved."""
    if facts.statuses.get(facts.step) == "invalid":
        return Answer(_invalid(facts)), ()
    if why := authoring.needed(facts):
        return Answer(authoring.asked(facts, why)), ()
    loop = loops.evaluate(facts.tree, about, facts.config, facts.base)
    return Answer(reviewing.from_loop(facts, loop), loop), loop.warnings


def _invalid(facts: Facts) -> Next:
    artifact = STEP[facts.step].artifact
    problem = artifact_status(facts.tree, facts.step)[1]
    why = problem.message if problem else f"{artifact} cannot be read"
    remedy = (problem.hint if problem else "") or "correct it"
    return Next(
        "blocked",
        "human",
        f"{why}: {remedy}, then run `qrspi next {facts.run}`.",
        (why,),
        step=facts.step,
        missing=(artifact,),
        command=f"qrspi validate {facts.run}",
        kind="invalid",
    )


def _replan(facts: Facts) -> Next:
    return Next(
        "replan",
        "human",
        f"Phase {facts.phase} is done and another follows: say how the plan changes with "
        f"`qrspi replan minor {facts.run}` or `qrspi replan major {facts.run} --to STEP`.",
        ("replan-pending.md is there",),
        step="replan",
        options=REPLAN_OPTIONS,
        command=f"qrspi replan minor {facts.run}",
        kind="replan",
    )
