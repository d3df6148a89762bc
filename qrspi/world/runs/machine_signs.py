"""What no file of a run shows, only the machine: agents that another command sends at this moment,
work trees that a complete run left behind, tasks whose implementers have sent no heartbeat for too
long, what this user has not allowed, and a budget that is spent."""

from __future__ import annotations

import os
from collections.abc import Iterator

from qrspi.core.filenames import WORKTREES, slug_of
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import RunState
from qrspi.core.pipeline import CODE_STEPS
from qrspi.world.runs import project_search

if TYPE_CHECKING:
    from qrspi.core.model import Ask
    from qrspi.core.trust import NamedThing

LOCK = ".qrspi/dispatch-lock"
_AGENTS = ".qrspi/agents"


def told(state: RunState, path: str, *, sends: bool = False) -> RunState:
    """The state of the run at `path` with all of it. A command that `sends` agents names them, and
    is refused by itself what is not allowed."""
    if state.closed:
        return state
    if state.checkpoints:
        state = _with_silent_tasks(state)
    if state.complete:
        state = _with_worktrees(state, path)
    if sends:
        return state
    if state.next.asks:
        state = _with_agents_at_work(state, path)
    state = _with_consent(state, path)
    return _with_budgets(state, path) if "--dispatch" in state.next.command else state


def _with_agents_at_work(state: RunState, path: str) -> RunState:
    if not os.access(f"{path}/{LOCK}", os.F_OK):
        return state
    # Imported here: many runs never send anybody.
    from qrspi.core.tree import content
    from qrspi.world.files import lock
    from qrspi.world.files.run_tree import DiskTree

    tree = DiskTree(path)
    ours = content(tree, LOCK).startswith(b"%d " % os.getpid())
    if ours or lock.state(tree, LOCK) != "held":
        return state
    listed = f"qrspi dispatch list {state.run}"
    said = f"{state.next.summary} Agents are at work for it now: `{listed}` says who."
    return state._replace(next=state.next._replace(summary=said))


def _with_worktrees(state: RunState, path: str) -> RunState:
    """With an offer to remove them."""
    top = project_search.top(path)
    names = (slug_of(state.run), state.run)
    folder = next((n for n in names if top and os.path.isdir(f"{top}/{WORKTREES}/{n}")), None)
    if folder is None:
        return state
    command = f"qrspi task clean {state.run}"
    summary = (
        f"{state.next.summary} Its work trees are in {WORKTREES}/{folder}: `{command}` removes "
        "those that are merged, and their branches."
    )
    return state._replace(next=state.next._replace(summary=summary, command=command))


def _with_silent_tasks(state: RunState) -> RunState:
    """With a warning for each of them."""
    from qrspi.core.gates.checkpoints import checkpoint_board
    from qrspi.world.machine import clock

    silent = checkpoint_board.stale(state.checkpoints, clock.seconds())
    return state._replace(warnings=state.warnings + silent)


def until_silent(state: RunState) -> float | None:
    """Seconds until another of them may have been silent for too long."""
    from qrspi.core.gates.checkpoints import checkpoint_board
    from qrspi.world.machine import clock

    now = clock.seconds()
    beats = (row.heartbeat for row in state.checkpoints if checkpoint_board.is_beating(row))
    left = [beat + checkpoint_board.STALE + 1 - now for beat in beats if beat is not None]
    return min((float(one) for one in left if one > 0), default=None)


def _with_consent(state: RunState, path: str) -> RunState:
    project, following = project_search.around(path), state.next
    asks = following.asks if _has_own_roles(path, project) else ()
    code = state.current_step in CODE_STEPS
    if not (asks or code or "--dispatch" in following.command):
        return state
    # Imported here: most runs name nothing, and their reviews no role of their own.
    from qrspi.core.config import reader as configs
    from qrspi.core.derivation import consent
    from qrspi.core.tree import CONFIG_LIMIT
    from qrspi.world.consent import permits
    from qrspi.world.files.run_tree import DiskTree
    from qrspi.world.git import repository

    config = configs.read(DiskTree(path).read("config.md", CONFIG_LIMIT))
    place = config.code_path if code else None
    outside = repository.outside_of(project, place) if place else None
    needed = (*consent.needed(config, following), *([outside] if outside else ()))
    missing = permits.lacking(project, (*needed, *_roles(asks, path, project)))
    return consent.told(
        state, missing, permits.lacking(project, consent.to_send(config, following))
    )


def _has_own_roles(path: str, project: str) -> bool:
    return any(os.path.isdir(f"{place}/{_AGENTS}") for place in (path, project))


def _roles(asks: tuple[Ask, ...], path: str, project: str) -> Iterator[NamedThing]:
    if not asks:
        return
    from qrspi.core.agents import roles
    from qrspi.world.runs import role_files

    wanted = {name for ask in asks for name in roles.for_ask(ask)}
    for name in sorted(wanted):
        if named := role_files.own_text(name, path, project):
            yield named


def _with_budgets(state: RunState, path: str) -> RunState:
    """Where one keeps the agents from being sent that the run waits for, a host may still send
    them."""
    # Imported here: most runs have no command that sends agents.
    from qrspi.core.agents import spend
    from qrspi.core.config import reader as configs
    from qrspi.core.model import Problem
    from qrspi.core.tree import CONFIG_LIMIT
    from qrspi.world.files import json_log
    from qrspi.world.files.run_tree import DiskTree

    tree = DiskTree(path)
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    if config.budget is None:
        return state
    lines = (line for line in json_log.read(tree, spend.FILE) if not isinstance(line, Problem))
    read = (spend.entry(line.record, line.line) for line in lines)
    known = (one for one in read if not isinstance(one, Problem))
    stops = tuple(spend.held_back(state.run, state.next.step, config, known))
    if not stops:
        return state
    following = state.next._replace(command=f"qrspi next {state.run}")
    return state._replace(next=following, warnings=state.warnings + stops)
