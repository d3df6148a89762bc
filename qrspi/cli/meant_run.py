"""Which of several runs is meant when none is named."""

from __future__ import annotations

from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs import locate
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import Root, RunDir


def find(root: Root) -> RunDir | Problem | None:
    """The only run that is neither complete nor closed, else the one whose branch is checked out.
    Otherwise all are offered, those that have ended last."""
    from qrspi.core.derivation.derive import derive_among

    runs = locate.list_runs(root)
    if isinstance(runs, Fault):
        return None
    states = {run: derive_among(CommittedTree(run.path), steps=False) for run in runs}
    ended = tuple(run for run, state in states.items() if state.complete or state.closed)
    going = tuple(run for run in runs if run not in ended)
    if len(going) == 1:
        return going[0]
    return _checked_out(root, going or ended) or locate.one_of(
        root, (*going, *ended), state="here" if going else "here, all of them complete or closed"
    )


def _checked_out(root: Root, runs: tuple[RunDir, ...]) -> RunDir | None:
    """Runs may share a branch: then it tells nothing."""
    from qrspi.world.git import repository

    repo = repository.find(root.project)
    branch = repository.branch(repo) if repo else None
    on_branch = [run for run in runs if branch in _branches(run)]
    return on_branch[0] if len(on_branch) == 1 else None


def _branches(run: RunDir) -> tuple[str, ...]:
    """As configured, else as recorded when the plan was approved, else as `init` would name it."""
    from qrspi.core.yaml import frontmatter

    tree = DiskTree(run.path)
    for file in ("config.md", "plan.md"):
        if named := frontmatter.filled(frontmatter.fields(tree.head(file)), "feature_branch"):
            return (named,)
    return f"qrspi/{slug_of(run.name)}", f"qrspi/{run.name}"
