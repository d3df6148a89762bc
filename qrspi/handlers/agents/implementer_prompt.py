"""What an implementer is told: its task, its work tree, the findings it is to settle."""

from __future__ import annotations

from qrspi.core.agents import prompts
from qrspi.core.agents.prompts import Implementer, Source
from qrspi.core.agents.roles import Role
from qrspi.core.tree import Fault
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.tasks import reports as task_records
from qrspi.world.runs import role_files as rolefiles


def key_of(path: str) -> str:
    """The task that a prompt's folder, `.qrspi/dispatch/<task>/cycle-NN`, is about."""
    return path.removeprefix(".qrspi/dispatch/").rpartition("/")[0]


def place(job: Job, folder: str) -> tuple[str, str]:
    """The task, and the work tree in which it is done."""
    task = task_records.state_of(job, key_of(folder))
    assert task.start is not None
    return task.key, f"{workplace.repository_of(job).root}/{task.start.worktree}"


def has_reported(job: Job, folder: str) -> bool:
    """Whether the task no longer waits for an implementer, be it the first time or a later one."""
    waits = task_records.state_of(job, key_of(folder)).next
    return waits is None or waits.kind != "implement"


def _report_command(job: Job, key: str) -> str:
    """A work tree has a copy of docs/qrspi of its own, or none: the run is named by its place."""
    from shlex import quote

    root = quote(job.workspace.path)
    return f"qrspi --root {root} task report {job.run} {key} --status DONE --commit SHA"


def prompt(job: Job, folder: str, role: Role, model: str) -> str:
    task = task_records.state_of(job, key_of(folder))
    start = task.start
    assert start is not None  # nobody is sent to a task without a work tree
    run, repo = job.workspace.path, workplace.repository_of(job)
    gates = job.facts.config.gates
    data = job.workspace.read(task.item.file)
    told = Implementer(
        role=role,
        task=task.key,
        task_file_path=f"{run}/{task.item.file}",
        worktree=f"{repo.root}/{start.worktree}",
        branch=start.branch,
        base=start.base_commit,
        report_command=_report_command(job, task.key),
        cycle=task.cycle,
        test_command=(gates.test_command if gates else None) or "",
        finding_file_paths=tuple(f"{run}/{path}" for path in task.findings),
        upstream_paths=prompts.upstream_paths("implement", job.facts.route, run, role),
        sources=() if isinstance(data, Fault) else (Source(task.item.file, data),),
        actual_model=model,
    )
    return prompts.implementer_prompt(told, rolefiles.shared_parts())
