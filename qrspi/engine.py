"""The engine: read → derive → handle → audit, until the run waits for somebody."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem, RunState
from qrspi.core.snapshot import Snapshot
from qrspi.handlers.jobs.carry_out import Handler, carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.runs.workspace import Workspace

# Handlers whose whole effect is files of the run, and those that know how to leave their commit
# out. Nothing else is rehearsed, nor what would come after it.
FORESEEN = "prepare assemble loop_choice config_backfill bypass_record split_reply visual_reviewer prompt_files".split()
COMMITTING = ("commit", "cascade")

MOST = 200  # actions in one go; a run needs five


class Outcome(NamedTuple):
    performed: tuple[Performed, ...]
    state: RunState


def due(workspace: Workspace, found: Survey, options: Options) -> tuple[Handler, Job] | None:
    """What the engine does next by itself; None means that the run waits."""
    from qrspi import handlers
    from qrspi.handlers import unfinished_work as chores

    if found.facts is None or found.state.closed:
        return None
    job = Job(workspace, found.facts, found.loop, found.state.next, options)
    handler = chores.before(job, handlers.find(job))
    return (handler, job) if handler else None


def tick(workspace: Workspace, options: Options, path: str = "") -> tuple[Performed | None, Survey]:
    """One mechanical step on a locked run, if there is one to do."""
    found = _surveyed(workspace, options, path)
    action = due(workspace, found, options)
    return (carry_out(*action) if action else None), found


def _surveyed(workspace: Workspace, options: Options, path: str) -> Survey:
    """Derived from one look at each file; whoever acts on it then reads what is there."""
    found = survey(Snapshot(workspace), path, thorough=options.thorough)
    facts = found.facts and found.facts._replace(tree=workspace)
    return found._replace(facts=facts)


def advance(workspace: Workspace, options: Options, path: str = "") -> Outcome:
    """Everything mechanical that can be done now. A run with nothing to do is not even locked."""
    found = _surveyed(workspace, options, path)
    if due(workspace, found, options) is None and workspace.at_rest:
        return Outcome((), _told(workspace, found, options))
    performed: list[Performed] = []
    with workspace.locked(options.lock_timeout, options.command):
        while True:
            done, found = tick(workspace, options, path)
            if done is None:
                return Outcome(tuple(performed), _told(workspace, found, options))
            performed.append(done)
            _must_end(performed)


def _told(workspace: Workspace, found: Survey, options: Options) -> RunState:
    """The state that a waiting run is in; agents that cannot be told what to do are named."""
    state = _left_to_you(found.state, options)
    if found.facts is None or not state.next.prompts:
        return state
    from qrspi.handlers.agents import prompt_files as prompts

    job = Job(workspace, found.facts, found.loop, state.next, options)
    return state._replace(warnings=state.warnings + prompts.warnings(job))


def _left_to_you(state: RunState, options: Options) -> RunState:
    """Who said --no-commit is the one that a round waits for."""
    answer = state.next
    if not options.no_commit or answer.action != "commit-round":
        return state
    adopt = f"qrspi round commit {state.run} {answer.step} --adopt"
    text = (
        f"Commit the files of round {answer.round} of {answer.step} yourself, then run `{adopt}`."
    )
    return state._replace(next=answer._replace(who="human", summary=text, command=adopt))


def go_on(workspace: Workspace, options: Options, path: str = "") -> tuple[Outcome, Problem | None]:
    """What `next` would do after an approval, which stands whatever becomes of this."""
    try:
        return advance(workspace, options, path), None
    except Refusal as refusal:
        return Outcome((), survey(workspace, path).state), refusal.problem


def rehearse(workspace: Workspace, options: Options, path: str = "") -> Outcome:
    """What `advance` would do, as far as it can be foreseen; the state is the one that is."""
    from qrspi.world.runs.dry_run import Rehearsal

    state = survey(workspace, path).state
    performed: list[Performed] = []
    with Rehearsal(workspace.path).locked() as stage:
        while True:
            found = survey(stage, path)
            action = due(stage, found, options._replace(dry_run=True))
            if action is None:
                return Outcome(tuple(performed), state)
            name = action[0].__module__.rpartition(".")[2]
            answer = found.state.next
            if name in FORESEEN or name in COMMITTING:
                performed.append(carry_out(*action))
            else:
                what = answer.kind or answer.action
                performed.append(Performed(what, answer.step, answer.round))
            if name not in FORESEEN:
                return Outcome(tuple(performed), state)


def _must_end(performed: list[Performed]) -> None:
    """Doing the derived action never derives it again, unless somebody changes the run meanwhile,
    as an editor does that saves at every key."""
    if len(performed) > MOST:
        last = performed[-1]
        raise RuntimeError(f"{last.handler} of {last.step} round {last.round}, again and again")
