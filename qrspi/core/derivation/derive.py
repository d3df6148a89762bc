"""Where a run stands and the one next action, from its files alone. Nothing here writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from qrspi.core.filenames import rounds_in
from qrspi.core.model import Next, Option, Problem, Progress, RunState, Stage, StepState
from qrspi.core.pipeline import MARKER, STEP
from qrspi.core.snapshot import Snapshot
from qrspi.core.steps.facts import (
    Answer,
    Facts,
    current_step,
    entries,
    gather,
    stale_approvals,
    status_of,
    unmet,
)
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop


class Survey(NamedTuple):
    """A derivation with what it was derived from; no facts when the route is unusable."""

    state: RunState
    facts: Facts | None = None
    loop: Loop | None = None


def derive(tree: Tree, path: str = "", *, thorough: bool = True, steps: bool = True) -> RunState:
    """`thorough` also hashes approved bodies and scans the tasks, for warnings only. Without
    `steps` the reviews of steps that are done are not counted: nothing depends on them."""
    return survey(Snapshot(tree), path, thorough=thorough, steps=steps).state


def survey(tree: Tree, path: str = "", *, thorough: bool = False, steps: bool = True) -> Survey:
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    if config.route is None:
        return Survey(_unusable(tree, path, config))
    facts, doubts = gather(tree, config, config.route)
    step = current_step(facts)
    facts = facts._replace(step=step or "")
    errors = _named(tree, configs.problems_for(config, step)) if step else ()
    answer, extra = _answer(facts, errors)
    broken = _broken(facts, doubts)
    warnings = tuple(item for item in doubts if item not in broken)
    warnings += configs.warnings_for(config, step or "") + stale_approvals(facts) + extra
    if thorough:
        warnings += _thorough(facts)
    state = RunState(
        run=tree.name,
        path=path,
        pipeline=config.pipeline or "",
        route=facts.route,
        phase=facts.phase,
        current_step=step,
        complete=step is None,
        steps=_steps(facts, answer) if steps else (),
        next=answer.next,
        warnings=warnings,
        errors=errors + broken,
        closed="closed.md" in facts.names,
    )
    return Survey(state, facts, answer.loop)


def _unusable(tree: Tree, path: str, config: Config) -> RunState:
    errors = _named(tree, config.problems)
    first = errors[0]
    answer = Next(
        "blocked",
        "human",
        first.message,
        tuple(error.message for error in errors),
        options=tuple(Option(str(at), text) for at, text in enumerate(first.options, 1)),
        command=f"qrspi config validate {tree.name}",
        kind="config",
    )
    return RunState(
        run=tree.name,
        path=path,
        pipeline=config.pipeline or "",
        route=(),
        phase=1,
        current_step=None,
        complete=False,
        steps=(),
        next=answer,
        errors=errors,
        closed=not isinstance(tree.head("closed.md"), Fault),
    )


def _broken(facts: Facts, doubts: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """What keeps an artifact from having any status."""
    invalid = {STEP[step].artifact for step, said in facts.statuses.items() if said == "invalid"}
    return tuple(item for item in doubts if item.file in invalid)


def _named(tree: Tree, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    return tuple(configs.for_run(problem, tree.name) for problem in problems)


def _answer(facts: Facts, errors: tuple[Problem, ...]) -> tuple[Answer, tuple[Problem, ...]]:
    # What a step needs of the review rules is imported with the first run that has a step.
    from qrspi.core.derivation import step_action as progress

    if not facts.step:
        return Answer(_done(facts)), ()
    if MARKER in facts.names and (then := _replanning(facts)):
        return Answer(then), ()
    if errors:
        return Answer(_blocked_by_config(facts, errors)), ()
    if missing := unmet(facts, facts.step):
        return Answer(_blocked_by_need(facts, missing)), ()
    return progress.answer(facts)


def _replanning(facts: Facts) -> Next | None:
    """A phase that is being put away is put away first: meanwhile its records are on the move."""
    from qrspi.core.steps import replanning

    return replanning.answer(facts)


def _done(facts: Facts) -> Next:
    because = (f"every artifact of the route is approved ({len(facts.route)} steps)",)
    return Next("done", "nobody", "The run is complete; nothing is left to do.", because)


def _blocked_by_config(facts: Facts, errors: tuple[Problem, ...]) -> Next:
    first = errors[0]
    return Next(
        "blocked",
        "human",
        first.message,
        tuple(error.message for error in errors),
        step=facts.step,
        options=tuple(Option(str(at), text) for at, text in enumerate(first.options, 1)),
        command=f"qrspi config validate {facts.run}",
        kind="config",
    )


def _blocked_by_need(facts: Facts, missing: tuple[str, ...]) -> Next:
    listed = ", ".join(missing)
    return Next(
        "blocked",
        "human",
        f"{facts.step} cannot start: approve {listed} first.",
        tuple(f"{facts.step} needs {name}, which is not approved" for name in missing),
        step=facts.step,
        missing=missing,
        command=f"qrspi explain {facts.run}",
        kind="prerequisite",
    )


def _steps(facts: Facts, answer: Answer) -> tuple[StepState, ...]:
    listing = entries(facts.tree, "reviews") if "reviews" in facts.names else ()
    reviewed = frozenset(entry.name for entry in listing)
    states = [_step_state(facts, step, reviewed, answer) for step in facts.route]
    if facts.step == "replan":
        states.append(_step_state(facts, "replan", reviewed, answer))
    return tuple(states)


def _step_state(facts: Facts, step: str, reviewed: frozenset[str], answer: Answer) -> StepState:
    about, status = STEP[step], status_of(facts, step)
    there = about.reviews.partition("/")[2] in reviewed
    rounds = _rounds(facts, step) if there else 0
    stage: Stage = "closed" if rounds else "none"
    progress: Progress = "completed" if status == "approved" else "pending"
    kept, dropped = None, None
    if step == facts.step:
        progress, loop = "in_progress", answer.loop
        stage = loop.stage if loop else stage
        kept, dropped = (loop.kept, loop.dropped) if loop and loop.round else (None, None)
    return StepState(step, about.artifact, status, rounds, stage, kept, dropped, progress)


def _rounds(facts: Facts, step: str) -> int:
    """Two steps keep their rounds in one folder; there the manifests say whose each is."""
    if step not in ("implement", "integrate"):
        return len(rounds_in(entries(facts.tree, STEP[step].reviews)))
    from qrspi.core.pipeline import subject
    from qrspi.core.rounds import loop

    about = subject("implement-gate" if step == "implement" else step)
    return len(loop.rounds(facts.tree, about)) if about else 0


def _thorough(facts: Facts) -> tuple[Problem, ...]:
    """Each is imported by the first run that has something for it to look at."""
    found: tuple[Problem, ...] = ()
    if facts.tasks:
        from qrspi.core.artifacts import task_file as tasks

        found += tasks.scan(facts.tree)
    if facts.records:
        from qrspi.core.steps import changed_since_approval as freshness

        found += freshness.changed_since(facts)
    return found
