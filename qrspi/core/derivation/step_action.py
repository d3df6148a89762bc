"""The next action of the current step: author, review loop, gate."""

from __future__ import annotations

from qrspi.core.model import Next, NextKind, Option, Problem
from qrspi.core.pipeline import CODE_STEPS, STEP, Subject, subject_of
from qrspi.core.rounds import loop as loops
from qrspi.core.steps import authoring, review_action
from qrspi.core.steps.facts import Answer, Facts, artifact_status

REPLAN_OPTIONS = (
    Option("minor", "only the remaining plan and tasks change"),
    Option("major", "an earlier artifact changes: say which with --to"),
)


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    """What the current step needs next, and what was odd on the way."""
    if facts.step == "replan":
        return Answer(_replan(facts)), ()
    found, warnings = _of_step(facts)
    return _at_gate(facts, found), warnings


def _of_step(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    if facts.step in CODE_STEPS:
        from qrspi.core.code_steps import implement

        return implement.answer(facts)
    return reviewed(facts, subject_of(facts.step))


GATES: tuple[NextKind, ...] = ("approve", "loop-again", "cap", "batch", "test")


def _at_gate(facts: Facts, found: Answer) -> Answer:
    """Whoever decides is told what to read with care."""
    if found.next.kind not in GATES or found.loop is None:
        return found
    from qrspi.core.steps import read_with_care

    care = read_with_care.lines(facts, found.loop)
    return found._replace(next=found.next._replace(care=care))


def reviewed(facts: Facts, about: Subject) -> tuple[Answer, tuple[Problem, ...]]:
    """The answer for a step that is authored, reviewed and approved."""
    if facts.statuses.get(facts.step) == "invalid":
        return Answer(_invalid(facts)), ()
    if why := authoring.needed(facts):
        return Answer(authoring.asked(facts, why)), ()
    loop = loops.evaluate(facts.tree, about, facts.config, facts.base, facts.records)
    told = _with_texts(facts, _audited(facts, review_action.from_loop(facts, loop)))
    return Answer(told, loop), loop.warnings


def _audited(facts: Facts, answer: Next) -> Next:
    """A plan is audited before anybody approves it."""
    gates = facts.config.gates
    if facts.step != "plan" or gates is None or not gates.audit:
        return answer
    if answer.kind not in ("approve", "cascade"):
        return answer
    from qrspi.core.gates.audit import audit_gate

    return audit_gate.before_approval(facts.tree, answer)


def _with_texts(facts: Facts, answer: Next) -> Next:
    """Whoever is asked to approve a plan is told which of its tasks are not fit to be handed
    over."""
    gates = facts.config.gates
    if facts.step != "plan" or gates is None or gates.quality == "off":
        return answer
    if answer.kind != "approve":
        return answer
    from qrspi.core.gates.quality import quality_gate

    return quality_gate.before_approval(facts.tree, facts.tasks, answer)


def _invalid(facts: Facts) -> Next:
    artifact = STEP[facts.step].artifact
    problem = artifact_status(facts.tree, facts.step)[1]
    why = problem.message if problem else f"{artifact} cannot be read"
    remedy = (problem.hint if problem else "") or "correct it"
    return Next(
        action="blocked",
        who="human",
        summary=f"{why}: {remedy}, then run `qrspi next {facts.run}`.",
        because=(why,),
        step=facts.step,
        missing=(artifact,),
        command=f"qrspi validate {facts.run}",
        kind="invalid",
    )


def _replan(facts: Facts) -> Next:
    return Next(
        action="replan",
        who="human",
        summary=f"Phase {facts.phase} is done and another follows: say how the plan changes with "
        f"`qrspi replan minor {facts.run}` or `qrspi replan major {facts.run} --to STEP`.",
        because=("replan-pending.md is there",),
        step="replan",
        options=REPLAN_OPTIONS,
        command=f"qrspi replan minor {facts.run}",
        kind="replan",
    )
