"""The states of many runs: what has not changed since the last look is not derived again."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.derivation.derive import derive
from qrspi.core.model import RunState
from qrspi.core.recording_tree import Witness
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs import state_cache as statecache
from qrspi.world.runs.locate import RunDir
from qrspi.world.runs.state_cache import StateCache


def states(runs_dir: str, runs: Iterable[RunDir], *, in_git: bool, steps: bool) -> list[RunState]:
    """In the order of the runs, without their paths."""
    if not statecache.is_on(runs_dir):
        trees = (DiskTree(run.path, in_git, glance=True) for run in runs)
        return [derive(tree, thorough=False, steps=steps) for tree in trees]
    cache = statecache.open_cache(runs_dir, in_git=in_git)
    found = [cache.find(run, steps=steps) or _derived(cache, run, in_git, steps) for run in runs]
    cache.save()
    return found


def _derived(cache: StateCache, run: RunDir, in_git: bool, steps: bool) -> RunState:
    tree = Witness(DiskTree(run.path, in_git, glance=True))
    state = derive(tree, thorough=False, steps=steps)
    cache.keep(run, state, tree.seen, steps=steps)
    return state
