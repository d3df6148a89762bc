"""Why a run stands where it stands, from the route down to the one next action."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.derivation.derive import Survey
from qrspi.core.pipeline import MARKER, STEP, prerequisites
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps.facts import Facts, approval_of, unmet


def reasons(found: Survey) -> tuple[str, ...]:
    """A line each, in the order in which they were decided."""
    if found.facts is None:
        return found.state.next.because
    loop = _loop(found.loop) if found.loop else ()
    lines = [*_step(found.facts), *loop, *_gates(found.facts)]
    return tuple(dict.fromkeys((*lines, *found.state.next.because)))


def _step(facts: Facts) -> Iterator[str]:
    yield f"the route in config.md is {', '.join(facts.route)}"
    approved = [_approved(facts, s) for s in facts.route if facts.statuses[s] == "approved"]
    yield f"approved: {', '.join(approved)}" if approved else "nothing is approved yet"
    if not facts.step:
        yield f"nothing of the route is left, and there is no {MARKER}"
    elif facts.step == "replan":
        yield f"{MARKER} is there, and whatever is not approved waits for it"
    else:
        status = facts.statuses[facts.step]
        first = "the first of the route that is not approved"
        yield f"{STEP[facts.step].artifact} is {status}: {first}"
    yield from _needs(facts)


def _gates(facts: Facts) -> tuple[str, ...]:
    if facts.config.gates is None or not facts.tasks:
        return ()
    from qrspi.core.gates import gates_brief

    return gates_brief.lines(facts.tree, facts.config.gates, facts.tasks)


def _approved(facts: Facts, step: str) -> str:
    by_engine = approval_of(facts, step) == "engine"
    return f"{STEP[step].artifact}{' (by the engine)' if by_engine else ''}"


def _needs(facts: Facts) -> Iterator[str]:
    steps = prerequisites(facts.step, facts.route) if facts.step else ()
    if needs := [STEP[need].artifact for need in steps]:
        missing = unmet(facts, facts.step)
        state = f"not approved: {', '.join(missing)}" if missing else "all approved"
        yield f"{facts.step} needs {', '.join(needs)}: {state}"


def _loop(loop: Loop) -> Iterator[str]:
    if loop.number:
        yield f"the newest review of {loop.subject.key} is round {loop.number}: {loop.stage}"
    yield from loop.because
