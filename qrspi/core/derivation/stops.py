"""What stops a run before its step is looked at, and the command that goes on."""

from __future__ import annotations

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Next, NextKind, Problem
from qrspi.core.pipeline import STEP
from qrspi.core.steps.facts import Facts, artifact_status

if TYPE_CHECKING:
    from qrspi.core.records.decisions import Claim


def undecidable(facts: Facts, problem: Problem) -> Next:
    why = problem.message
    summary = f"{why}, then run `qrspi status {facts.run}`."
    return _blocked(facts, "records", summary, (why,), (problem.file,), problem.hint)


def underivable(run: str, problem: Problem) -> Next:
    return Next(
        action="blocked",
        who="human",
        summary=f"{problem.message.rstrip('.')}. The other runs are not concerned.",
        because=(problem.message,),
        command=f"qrspi -v status {run}",
        kind="records",
    )


def _blocked(
    facts: Facts,
    kind: NextKind,
    summary: str,
    because: tuple[str, ...],
    missing: tuple[str, ...],
    command: str,
) -> Next:
    return Next(
        action="blocked",
        who="human",
        summary=summary,
        because=because,
        step=facts.step,
        missing=missing,
        command=command,
        kind=kind,
    )


def blocked_by_need(facts: Facts, missing: tuple[str, ...]) -> Next:
    if all(file.startswith("tasks/") for file in missing):
        return _blocked_by_tasks(facts, missing)
    summary = f"{facts.step} cannot start: approve {', '.join(missing)} first."
    because = tuple(f"{facts.step} needs {name}, which is not approved" for name in missing)
    command = f"qrspi explain {facts.run}"
    return _blocked(facts, "prerequisite", summary, because, missing, command)


def _blocked_by_tasks(facts: Facts, missing: tuple[str, ...]) -> Next:
    """Tasks are approved with their plan, so the way to them leads back to it."""
    back = f"qrspi unapprove {facts.run} plan"
    why = "plan.md is approved, and no task has a file (tasks/task-01.md, …)"
    purpose = "so that it is written with its tasks"
    if facts.tasks:
        why = f"plan.md is approved, and {', '.join(missing)} not with it"
        purpose = "and tasks are approved with it again"
    summary = f"{facts.step} cannot start: {why}. `{back}` takes the plan back, {purpose}."
    return _blocked(facts, "prerequisite", summary, (why,), missing, back)


def invalid(facts: Facts) -> Next:
    artifact = STEP[facts.step].artifact
    problem = artifact_status(facts.tree, facts.step)[1]
    why = problem.message if problem else f"{artifact} cannot be read"
    remedy = (problem.hint if problem else "") or "correct it"
    summary = f"{why}: {remedy}, then run `qrspi next {facts.run}`."
    return _blocked(facts, "invalid", summary, (why,), (artifact,), f"qrspi validate {facts.run}")


def lost(facts: Facts, claim: Claim) -> Next:
    """Before anybody reviews what is left of it."""
    from qrspi.core.records import decisions

    why, onward = decisions.lost(claim).message, f"qrspi next {facts.run}"
    summary, command = f"{why}, then run `{onward}`.", claim.restore or onward
    return _blocked(facts, "plan-tasks", summary, (why,), claim.gone, command)
