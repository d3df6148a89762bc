"""Run the tests where nobody has changed anything yet: at the tip of the feature branch."""

from __future__ import annotations

from qrspi.core.code_steps import test_results as testresults
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.records import baseline
from qrspi.core.records.baseline import Baseline
from qrspi.core.tree import Tree
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.git import worktrees
from qrspi.world.machine import clock
from qrspi.world.processes import configured_command as commands


def command_of(job: Job, key: str) -> str:
    gates = job.facts.config.gates
    found = getattr(gates, key, None) if gates else None
    if isinstance(found, str) and found:
        return found
    text = f"config.md: gates.{key} is missing; expected the command to run"
    hint = f"qrspi config set {job.run} gates.{key} COMMAND"
    raise Refusal(
        Problem("field-missing", text, "config.md", f"gates.{key}", "", "a command", hint)
    )


def passed(tree: Tree) -> bool:
    found = baseline.read(tree)
    return found is not None and found.passed


def handle(job: Job) -> Performed:
    command = command_of(job, "test_command")
    found = workplace.find(job)
    worktrees.exclude_folder(found.repo)
    with worktrees.throwaway(found.repo, found.worktree("baseline"), found.tip) as tree:
        ran = commands.run(command, tree.root)
    failures = () if ran.status == 0 else testresults.failures(ran.text, command)
    taken = Baseline(found.tip, command, ran.status, "pending", clock.now_utc(), failures)
    job.workspace.write(baseline.LOG, ran.output)
    job.workspace.write(baseline.FILE, baseline.render(taken))
    verdict = "passed" if taken.passed else f"failed with exit {ran.status}"
    note = f"the tests {verdict} at {found.feature} ({found.tip[:12]})"
    return Performed("baseline", "implement", 0, (baseline.FILE, baseline.LOG), (note,))
