"""What may be decided about a step now; if it may not, the reason and the command that goes on."""

from __future__ import annotations

from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.model import Action, Next, Problem
from qrspi.core.pipeline import CODE_STEPS, STEP, prerequisites
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.pause_file import targets, upstream
from qrspi.core.steps.facts import Facts, artifact_status, is_edited, status_of, unmet

# Goals say what is wanted, and design says which way was chosen: only a person approves them, and
# only on a surface where people sit.
PERSONAL = ("goals", "design")
SURFACES: dict[str, frozenset[str]] = {
    "cli": frozenset(STEP),
    "web": frozenset(STEP),
    "mcp": frozenset(STEP) - frozenset(PERSONAL),
}


def approve(facts: Facts, following: Next, step: str, surface: str) -> Problem | None:
    return (
        _wrong_surface(facts, step, surface)
        or _no_step(facts, step)
        or _bad_config(facts, step)
        or _approved_already(facts, following, step)
        or _not_current(facts, following, step)
        or _not_there(facts, following, step)
        or _needs_others(facts, step)
        or _without_tasks(facts, following, step)
        or _at_work(facts, following, step)
    )


def reject(facts: Facts, following: Next, step: str) -> Problem | None:
    """Only the text that waits now. To go back to an earlier one is another decision."""
    if status_of(facts, step) == "approved" and step in facts.route:
        text = f"{STEP[step].artifact} is approved: to reject it, go back to it first"
        back = f"qrspi rewind {facts.run} --to {step}"
        return Problem("already-approved", text, file=STEP[step].artifact, hint=back)
    return (
        _no_step(facts, step)
        or _not_current(facts, following, step)
        or _not_there(facts, following, step)
    )


def unapprove(facts: Facts, step: str) -> Problem | None:
    status = status_of(facts, step)
    if status == "approved" or step in facts.claims:
        return None
    listed = ", ".join(approved(facts)) or "none"
    return Problem(
        "not-approved",
        f"{STEP[step].artifact} is {status}, not approved; approved steps: {listed}",
        file=STEP[step].artifact,
        field="status",
        found=status,
        expected="approved",
        hint=f"qrspi status {facts.run}",
    )


def rewind(facts: Facts, target: str) -> Problem | None:
    """Only to an approved or replanned step: any other has nothing to take back."""
    if target not in facts.route:
        return _not_in_route(facts, target)
    status = facts.statuses[target]
    if status in ("approved", "replan-draft"):
        return None
    before = upstream(facts.route, facts.step) if facts.step in facts.route else facts.route
    listed = ", ".join(step for step in before if facts.statuses[step] == "approved") or "none"
    where = f"; the run is at {facts.step}" if facts.step else ""
    return Problem(
        "nothing-to-rewind",
        f"{STEP[target].artifact} is {status}, so there is nothing to go back to{where}; "
        f"steps to go back to: {listed}",
        file=STEP[target].artifact,
        found=status,
        expected="an approved step",
        hint=f"qrspi status {facts.run}",
    )


def decide(run: str, following: Next, loop: Loop | None, name: str) -> Problem | None:
    """Only a finding that waits in the open round, and only once."""
    if loop is None or loop.pause is None or loop.stage != "paused":
        return nothing_to_decide(run, following, name)
    choice = loop.pause.decisions.get(name)
    if choice == "pending":
        return None
    why = f"it is decided already: {choice}" if choice else _not_waiting(loop, name)
    listed = ", ".join(loop.pause.undecided)
    text, hint = f"{name}: {why}; undecided: {listed}", following.hint(run)
    return Problem("not-to-decide", text, field="FINDING", found=name, expected=listed, hint=hint)


def nothing_to_decide(run: str, following: Next, name: str = "", what: str = "finding") -> Problem:
    text = f"no {what} waits for a decision: {now(following)}"
    return Problem("nothing-to-decide", text, found=name, hint=following.hint(run))


_WAITS: dict[Action, str] = {
    "author": "next is to write {step}",
    "prepare-round": "next is to open {it}",
    "review": "next is the review of {it}",
    "verify": "next is the scoring of {it}",
    "assemble": "next is to collect the findings of {it}",
    "apply-fixes": "next is to apply the findings of {it}",
    "commit-round": "next is to commit {it}",
    "decide": "next is a decision about {it}",
    "approve": "next is the approval of {step}",
    "dispatch-tasks": "next is the work on tasks",
    "replan": "next is to plan another phase",
    "done": "the run is complete",
    "blocked": "this stops the run: {why}",
}


def now(following: Next) -> str:
    step = following.step or "the run"
    it = f"{step} round {following.round}" if following.round else step
    why = following.because[0] if following.because else following.summary
    return _WAITS[following.action].format(it=it, step=step, why=why)


def _not_waiting(loop: Loop, name: str) -> str:
    item = next((item for item in loop.triaged if item.finding.name == name), None)
    if item is None:
        return f"there is no such finding in round {loop.round} of {loop.subject.key}"
    judged = "dropped" if item.verdict == "drop" else "kept"
    return f"nothing is to be decided about it, it was {judged}: {item.because}"


def loop_back(facts: Facts, loop: Loop, name: str, to: str | None) -> str | Problem:
    steps = upstream(facts.route, loop.subject.step)
    item = next(item for item in loop.triaged if item.finding.name == name)
    if item.verdict == "propose":
        return _only_applied(facts, name, "is proposed, not paused")
    if not steps:
        return _only_applied(facts, name, f"is about {loop.subject.step}, the first step")
    if to is not None:
        return to if to in steps else _not_upstream(facts, loop, to, steps)
    cited = targets(item.finding, steps, facts.run)
    return cited[0] if len(cited) == 1 else _ambiguous(facts, name, cited, steps)


def _only_applied(facts: Facts, name: str, why: str) -> Problem:
    hint = f"qrspi decide {facts.run} {name} apply"
    text = f"{name} {why}: it is applied or skipped"
    return Problem("not-to-loop-back", text, found="loop-back", expected="apply, skip", hint=hint)


def _not_upstream(facts: Facts, loop: Loop, to: str, steps: tuple[str, ...]) -> Problem:
    listed = ", ".join(steps) or "none"
    text = f"{to} does not come before {loop.subject.step}; steps to go back to: {listed}"
    hint = f"qrspi status {facts.run}"
    return Problem("not-upstream", text, field="--to", found=to, expected=listed, hint=hint)


def _ambiguous(facts: Facts, name: str, cited: tuple[str, ...], steps: tuple[str, ...]) -> Problem:
    listed = ", ".join(cited or steps) or "none"
    what = "cites several earlier artifacts" if cited else "cites no earlier artifact"
    hint = f"qrspi decide {facts.run} {name} loop-back --to STEP"
    return Problem(
        "target-needed",
        f"{name} {what}: say with --to where to go back to, one of {listed}",
        field="--to",
        expected=listed,
        hint=hint,
        options=tuple(f"--to {step}" for step in cited or steps),
    )


def approved(facts: Facts) -> tuple[str, ...]:
    return tuple(step for step in facts.route if facts.statuses[step] == "approved")


def reset_by_rewind(facts: Facts, target: str) -> tuple[str, ...]:
    after = facts.route[facts.route.index(target) :]
    return tuple(step for step in after if facts.statuses[step] in ("approved", "replan-draft"))


def dependents(facts: Facts, step: str) -> tuple[str, ...]:
    """The steps of the route that were built on `step`, directly or through others."""
    built_on_it: list[str] = []
    for other in facts.route:
        needs = prerequisites(other, facts.route)
        if step in needs or any(need in built_on_it for need in needs):
            built_on_it.append(other)
    return tuple(other for other in built_on_it if facts.statuses[other] != "missing")


def _no_step(facts: Facts, step: str) -> Problem | None:
    known = step in facts.route or (step == "replan" and facts.step == "replan")
    return None if known else _not_in_route(facts, step)


def _not_in_route(facts: Facts, step: str) -> Problem:
    listed = ", ".join(facts.route)
    text = f"{step} is no part of this run's route: {listed}"
    return Problem(
        "not-in-route", text, "config.md", "route", step, listed, f"qrspi status {facts.run}"
    )


def _wrong_surface(facts: Facts, step: str, surface: str) -> Problem | None:
    if step in SURFACES.get(surface, ()):
        return None
    command = f"qrspi approve {facts.run} {step}"
    text = f"{step} is approved by a person, not through {surface}"
    return Problem("person-needed", text, found=surface, expected="cli, web", hint=command)


def _bad_config(facts: Facts, step: str) -> Problem | None:
    problem = next(iter(configs.problems_for(facts.config, step)), None)
    return config_problems.for_run(problem, facts.tree) if problem else None


def _approved_already(facts: Facts, following: Next, step: str) -> Problem | None:
    if status_of(facts, step) != "approved":
        return None
    artifact = STEP[step].artifact
    if is_edited(facts, step):
        back = f"qrspi unapprove {facts.run} {step}"
        text = f"{artifact} was approved with another text: take that back first, with `{back}`"
        return Problem("already-approved", text, file=artifact, hint=back)
    text = f"{artifact} is approved already: {now(following)}"
    return Problem("already-approved", text, file=artifact, hint=following.hint(facts.run))


def _not_current(facts: Facts, following: Next, step: str) -> Problem | None:
    replanned = facts.step == "replan" and status_of(facts, step) == "replan-draft"
    if step == facts.step or replanned:
        return None
    where = facts.step or "its end"
    text = f"{step} is not the current step, the run is at {where}: {now(following)}"
    return Problem(
        "not-current",
        text,
        field="STEP",
        found=step,
        expected=facts.step,
        hint=following.hint(facts.run),
    )


def _not_there(facts: Facts, following: Next, step: str) -> Problem | None:
    artifact = STEP[step].artifact
    match artifact_status(facts.tree, step):
        case "missing", _:
            text = f"{artifact} does not exist: {now(following)}"
            return Problem("missing-artifact", text, file=artifact, hint=following.hint(facts.run))
        case "invalid", Problem() as problem:
            return problem._replace(message=f"{problem.message}; correct it first")
        case _:
            return None


def _needs_others(facts: Facts, step: str) -> Problem | None:
    missing = ", ".join(unmet(facts, step))
    if not missing:
        return None
    file, hint = STEP[step].artifact, f"qrspi status {facts.run}"
    text = f"{step} cannot be approved: approve {missing} first"
    return Problem("unmet-prerequisite", text, file=file, expected=missing, hint=hint)


def _without_tasks(facts: Facts, following: Next, step: str) -> Problem | None:
    """Tasks of the phase that is over are put away with it."""
    if step != "plan" or following.kind != "replan-edit":
        return None
    if any(status != "approved" for status in facts.tasks.values()):
        return None
    artifact = STEP[step].artifact
    text = f"{artifact} has no task for the next phase: {now(following)}"
    expected = f"{', '.join(following.missing)} for the next phase"
    return Problem(
        "not-ready", text, file=artifact, expected=expected, hint=following.hint(facts.run)
    )


def _at_work(facts: Facts, following: Next, step: str) -> Problem | None:
    """One finished task does not finish the batch, whatever a record beside it says."""
    if step not in CODE_STEPS or following.action == "approve" or following.kind == "test":
        return None
    artifact = STEP[step].artifact
    text = f"{step} is not ready to be approved: {now(following)}"
    return Problem("not-ready", text, file=artifact, hint=following.hint(facts.run))
