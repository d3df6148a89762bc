"""What agents are shown of code: its files, how its tasks ended, what its tests said."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core import trust
from qrspi.core.agents.prompts import Source
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.tree import Fault, entries
from qrspi.handlers.jobs.job import Job
from qrspi.world.consent import permits
from qrspi.world.files.run_tree import DiskTree

if TYPE_CHECKING:
    from qrspi.core.code_steps.task_state import TaskState

DIFF_LIMIT = 16 * 1024 * 1024
CODE_FILE_LIMIT = 256 * 1024
CODE_LIMIT = 1024 * 1024
EVIDENCE_LIMIT = 16 * 1024 * 1024
EVIDENCE_SHOWN = 256 * 1024


def task_place(job: Job, key: str) -> tuple[TaskState, str]:
    """A task and its work tree, which is '' before the task was started."""
    from qrspi.handlers.tasks import reports

    task = reports.state_of(job, key)
    return task, reports.worktree(job, task)


def shown(job: Job, folder: str) -> tuple[Source, ...]:
    """The files of the round's diff: in full as far as there is room, the others by name."""
    diff = job.workspace.read(job.round_loop.paths.diff, DIFF_LIMIT)
    names = () if isinstance(diff, Fault) or not folder else files_in(diff)
    tree = DiskTree(folder)
    whole, left_out, room = [], [], CODE_LIMIT
    for name in names:
        data = tree.read(name, min(CODE_FILE_LIMIT, room))
        if isinstance(data, Fault):
            left_out.append(name)
        else:
            whole.append(Source(name, data))
            room -= len(data)
    if left_out:
        whole.append(Source("files-not-shown", "\n".join(left_out).encode()))
    return tuple(whole)


def files_in(diff: bytes) -> tuple[str, ...]:
    """The files that exist afterwards, from the root; not those that git puts in quotes."""
    names: list[str] = []
    heading = False
    for line in diff.split(b"\n"):
        # A line of a file's text never starts like this: it has a sign in front.
        if line.startswith(b"diff --git "):
            heading = True
        elif line.startswith(b"@@"):
            heading = False
        elif heading and line.startswith(b"+++ b/"):
            # git puts a tab after a name with a space.
            names.append(line[6:].removesuffix(b"\t").decode("utf-8", "replace"))
    return tuple(dict.fromkeys(names))


def merged_place(job: Job) -> str:
    from qrspi.handlers.changes import code_repository

    return code_repository.repository_of(job).root


def of_tasks(job: Job) -> tuple[str, ...]:
    """What a review of all tasks together is compared with: their texts, and how each ended."""
    from qrspi.core.code_steps import batch
    from qrspi.core.records import baseline

    items = batch.read(job.facts).items
    known = () if isinstance(job.workspace.size(baseline.FILE), Fault) else (baseline.FILE,)
    tasks = (path for item in items for path in (item.file, *_outcomes(job, item.key)))
    return (*known, *tasks)


def work_trees(job: Job) -> tuple[str, ...]:
    from qrspi.core.code_steps import batch

    places = (task_place(job, item.key)[1] for item in batch.read(job.facts).items)
    return tuple(
        place for place in places if place and not isinstance(DiskTree(place).entries(""), Fault)
    )


def _outcomes(job: Job, key: str) -> Iterator[str]:
    from qrspi.core.records import task_records

    folder = task_records.folder(key)
    for entry in entries(job.workspace, folder):
        if entry.kind == "file" and entry.name.endswith(".md"):
            yield f"{folder}/{entry.name}"


def evidence_paths(job: Job) -> tuple[str, ...]:
    from qrspi.core.code_steps import test_results

    number = test_results.highest(job.workspace)
    from qrspi.core.records import task_records

    mapped = map(task_records.report_file, _acceptance(job))
    named = (test_results.results_file(number), test_results.log_file(number), *mapped)
    return tuple(path for path in named if not isinstance(job.workspace.size(path), Fault))


def _acceptance(job: Job) -> tuple[str, ...]:
    from qrspi.core.code_steps import batch, implementers

    keys = (item.key for item in batch.repairs(job.workspace).items)
    return tuple(key for key in keys if implementers.is_acceptance(key))


def evidence(job: Job) -> tuple[Source, ...]:
    """The same, with the diff, for an agent that opens no files; of a long file, its end."""
    named = (*evidence_paths(job), job.round_loop.paths.diff)
    read = ((path, job.workspace.read(path, EVIDENCE_LIMIT)) for path in named)
    return tuple(
        Source(path, data[-EVIDENCE_SHOWN:]) for path, data in read if not isinstance(data, Fault)
    )


def test_command(job: Job) -> str:
    """An agent that is told of it will run it, so the user must have allowed it."""
    line = job.facts.config.test_command
    if not line:
        return ""
    named = trust.shell("gates.test_command", line)
    return permits.permit(job.project, job.run, named).named.text


def database(job: Job, key: str) -> str:
    """Where an implementer asks for review while it works; '' for a task without a row."""
    if not job.facts.config.has_checkpoints or key not in job.facts.tasks:
        return ""
    from qrspi.core.gates.checkpoints.checkpoint_tables import FILE

    return f"{job.workspace.path}/{FILE}"
