"""What `quality check` and `quality batch` share: judge tasks, send nobody, write what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from qrspi.core.artifacts import task_file
from qrspi.core.config import problems as config_problems
from qrspi.core.errors import Refusal
from qrspi.core.gates.quality import quality_gate
from qrspi.core.gates.quality.judgement import Judgement, Mode
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.handlers.changes import change_set
from qrspi.handlers.gates import quality
from qrspi.handlers.gates.quality import QualityCheck, Reached, Wanted
from qrspi.handlers.jobs.job import Job, Options
from qrspi.world.runs.workspace import Workspace


class Looked(NamedTuple):
    judgements: Mapping[str, Judgement]
    wanted: tuple[Wanted, ...]  # those that a reviewer must judge


def mode(job: Job, asked: str | None) -> Mode:
    """As asked, else as configured; a gate that is off is used with care."""
    _refuse_bad_gates(job)
    gates = job.facts.config.gates
    configured = gates.quality if gates else "off"
    return cast(Mode, asked or (configured if configured != "off" else "live-cache-aware"))


def _refuse_bad_gates(job: Job) -> None:
    bad = [one for one in job.facts.config.problems if one.field.partition(".")[0] == "gates"]
    if bad:
        raise Refusal(*(config_problems.for_run(one, job.workspace) for one in bad))


def tasks(job: Job, keys: Sequence[str] = ()) -> tuple[str, ...]:
    """The tasks that are meant: those named, else all that a gate would ask about."""
    there = task_file.keys(job.workspace)
    known = [key for key in there if not quality_gate.is_exempt(key)]
    if not known and not keys:
        text = f"there is no task in tasks/ of {job.run}: expected tasks/task-NN.md"
        raise Refusal(Problem("unknown-task", text, "tasks", hint=f"qrspi status {job.run}"))
    for key in keys:
        if key not in there:
            listed = ", ".join(known[:20]) or "none"
            text = f"there is no {task_file.task_path(key)}; tasks: {listed}"
            hint = f"qrspi {'quality batch' if known else 'status'} {job.run}"
            raise Refusal(
                Problem("unknown-task", text, field="TASK", found=key, expected=listed, hint=hint)
            )
    return tuple(keys or known)


def look(job: Job, keys: Iterable[str], how: Mode) -> Looked:
    check = QualityCheck(job)
    found = {key: check.look(key, how) for key in keys}
    return Looked(
        {key: one for key, one in found.items() if isinstance(one, Judgement)},
        tuple(one for one in found.values() if isinstance(one, Wanted)),
    )


def keep(workspace: Workspace, options: Options, reached: Sequence[Reached]) -> dict[str, Problem]:
    """Write verdicts that nobody had to be asked for; which could not be written, and why."""
    if not any(one.judgement.is_new for one in reached):
        return {}
    with workspace.locked(options.lock_timeout, "qrspi quality"):
        return quality.put(change_set.look(workspace, options), reached)


def commit(workspace: Workspace, options: Options, found: Iterable[Judgement]) -> str | None:
    """Before the plan is approved verdicts go with that commit; later they have their own. What a
    killed command has written is committed too."""
    job = change_set.look(workspace, options)
    if job.facts.statuses.get("plan") != "approved" or not change_set.in_git(job):
        return None
    decided = [one for one in found if one.line]
    new = [one.task for one in decided if one.is_new]
    left = quality.uncommitted(job, [one for one in decided if not one.is_new])
    if not (new or left):
        return None
    with workspace.locked(options.lock_timeout, "qrspi quality"):
        return quality.commit(change_set.look(workspace, options), (*new, *left))
