"""The engine: read → derive → handle → audit, until the run waits for somebody."""

from __future__ import annotations

from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.errors import Refusal, refused
from qrspi.core.model import Problem, RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.snapshot import Snapshot
from qrspi.handlers.action_table import Due
from qrspi.handlers.jobs.carry_out import carry_out, remembering
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.runs import machine_signs
from qrspi.world.runs.workspace import Workspace

MOST = 200  # actions in one go; a run needs five


class Outcome(NamedTuple):
    performed: tuple[Performed, ...]
    state: RunState


def due(workspace: Workspace, surveyed: Survey, options: Options) -> tuple[Due, Job] | None:
    from qrspi.handlers import action_table

    if surveyed.facts is None or surveyed.state.closed:
        return None
    job = Job.of(workspace, surveyed, options)
    turn = action_table.turn(job)
    return (turn, job) if turn else None


def tick(
    workspace: Workspace, options: Options, path: str = "", known: Survey | None = None
) -> tuple[Performed | None, Survey]:
    """One mechanical step on a locked run, if there is one. `known` is still true of it."""
    surveyed = known or _surveyed(workspace, Snapshot(workspace), options, path)
    if action := due(workspace, surveyed, options):
        turn, job = action
        return carry_out(turn.handle, job), surveyed
    return None, surveyed


def _surveyed(workspace: Workspace, seen: Snapshot, options: Options, path: str) -> Survey:
    """Derived from one look at each file. A handler that acts on it reads the files again."""
    surveyed = _decidable(survey(seen, path, thorough=options.thorough))
    facts = surveyed.facts and surveyed.facts._replace(tree=workspace)
    return surveyed._replace(facts=facts)


def _decidable(surveyed: Survey) -> Survey:
    """While past decisions are unknown, nothing is done."""
    if surveyed.state.next.kind == "records" and surveyed.state.errors:
        raise refused(*surveyed.state.errors)
    return surveyed


def advance(workspace: Workspace, options: Options, path: str = "") -> Outcome:
    """Everything mechanical that can be done now. A run with nothing to do is not even locked."""
    seen = Snapshot(workspace)
    surveyed = _surveyed(workspace, seen, options, path)
    if due(workspace, surveyed, options) is None and workspace.at_rest:
        return Outcome((), _told(workspace, surveyed, options))
    return _advance_locked(workspace, options, path, seen, surveyed)


def _advance_locked(
    workspace: Workspace,
    options: Options,
    path: str,
    seen: Snapshot | None = None,
    surveyed: Survey | None = None,
) -> Outcome:
    """What was `surveyed` before the lock was held counts if whatever was `seen` is the same."""
    performed: list[Performed] = []
    with workspace.locked(options.lock_timeout, options.command):
        known = surveyed if seen and seen.is_current() else None
        while True:
            with remembering(performed):
                done, surveyed = tick(workspace, options, path, known)
            known = None
            if done is None:
                return Outcome(tuple(performed), _told(workspace, surveyed, options))
            performed.append(done)
            _must_end(performed)


def _told(workspace: Workspace, surveyed: Survey, options: Options) -> RunState:
    """Agents without a prompt are named, unless this command sends agents and so names them."""
    state = _left_to_you(surveyed, options)
    told = machine_signs.told(state, workspace.path, sends=options.sends)
    sent_at_once = options.sends and state.next.who == "agent" and not state.closed
    if surveyed.facts is None or not told.next.asks or sent_at_once:
        return told
    from qrspi.handlers.agents import awaited_agents

    job = Job.of(workspace, surveyed._replace(state=state), options)
    return told._replace(warnings=told.warnings + awaited_agents.warnings(job))


def _left_to_you(surveyed: Survey, options: Options) -> RunState:
    """With --no-commit or `commit: off`, a finished round waits for a person's commit."""
    state, following = surveyed.state, surveyed.state.next
    off = surveyed.facts is not None and surveyed.facts.config.commit == "off"
    if not (options.no_commit or off) or following.action != "commit-round":
        return state
    adopt = f"qrspi round commit {state.run} {following.step} --adopt"
    files = f"the files of round {following.round} of {following.step}"
    text = f"Commit {files} yourself, then run `{adopt}`."
    return state._replace(next=following._replace(who="human", summary=text, command=adopt))


def go_on(workspace: Workspace, options: Options, path: str = "") -> tuple[Outcome, Problem | None]:
    """What `next` would do after an approval, which stands whatever happens here."""
    try:
        return _advance_locked(workspace, options, path), None
    except Refusal as refusal:
        return Outcome(refusal.done, survey(workspace, path).state), refusal.problem


def rehearse(workspace: Workspace, options: Options, path: str = "") -> Outcome:
    """What `advance` would do, as far as it can be foreseen, with the present state."""
    from qrspi.world.runs.dry_run import DryRunWorkspace

    options = options._replace(dry_run=True, thorough=False)
    performed: list[Performed] = []
    with DryRunWorkspace(workspace.path).locked() as stage:
        surveyed = _surveyed(stage, Snapshot(stage), options, path)
        state = surveyed.state
        while action := due(stage, surveyed, options):
            turn, job = action
            performed.append(_rehearsed(turn, job))
            if turn.rehearsal != "whole":
                break
            surveyed = survey(stage, path)
    return Outcome(tuple(performed), machine_signs.told(state, workspace.path))


def _rehearsed(turn: Due, job: Job) -> Performed:
    if turn.rehearsal != "named":
        return carry_out(turn.handle, job)
    handler = turn.name or job.next.kind or job.next.action
    return Performed(handler, job.next.step, job.next.round, notes=_would_run(job))


def _would_run(job: Job) -> tuple[str, ...]:
    """The command word for word: in somebody else's run nobody has read it yet."""
    gates, kind = job.facts.config.gates, job.next.kind
    lines = {"run-tests": gates and gates.test_command, "ci": gates and gates.ci_command}
    return tuple(f"would run: {line}" for line in (lines.get(kind),) if line)


def _must_end(performed: list[Performed]) -> None:
    """An action that was done is derived again only if somebody changes the run meanwhile."""
    if len(performed) > MOST:
        last = performed[-1]
        raise RuntimeError(f"{last.handler} of {last.step} round {last.round}, again and again")
