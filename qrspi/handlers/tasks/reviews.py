"""Review rounds of tasks, and a log of each task with all that was asked and answered."""

from __future__ import annotations

import re

from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.filenames import (
    CleanName,
    FindingName,
    SidecarName,
    parse_round_file,
    prompt_file,
)
from qrspi.core.model import Ask
from qrspi.core.records import task_records
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Fault, Tree, entries
from qrspi.handlers.changes import change_set
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.rounds import assemble as assemble_round
from qrspi.handlers.rounds import prepare


def assemble(job: Job) -> Performed:
    """Work on tasks has branches of its own, so a commit here widens no diff."""
    done = assemble_round.handle(job)
    path = task_records.log_file(job.round_loop.subject.key)
    job.workspace.write(path, _log_with_round(job.workspace, job.round_loop))
    change_set.commit_files(job, (path,), f"answers of round {done.round:02d} of {done.step}")
    return done._replace(files=(*done.files, path))


def review_all_again(job: Job) -> Performed:
    """As a person asked at the batch gate, even when nothing has changed since."""
    return prepare.handle(job._replace(options=job.options._replace(anyway=True)))


def log_with_report(job: Job, task: TaskState, report: bytes, blocked: str) -> bytes:
    """What was BLOCKED when stays there, however its task goes on."""
    title = f"Implementer, cycle {task.cycle}"
    if blocked:
        title += f", BLOCKED at {blocked}"
    parts = [*_asked(job.workspace, task.ask), _quoted("Report", report)]
    return _with(job.workspace, task.key, title, parts)


def _log_with_round(tree: Tree, loop: Loop) -> bytes:
    parts: list[str] = []
    for tag in loop.manifest.expected_tags if loop.manifest else ():
        parts += _asked(tree, Ask("review", loop.subject.key, loop.round, tag))
    for entry in entries(tree, loop.paths.directory):
        if isinstance(parse_round_file(entry.name), FindingName | SidecarName | CleanName):
            data = tree.read(f"{loop.paths.directory}/{entry.name}")
            parts += [] if isinstance(data, Fault) else [_quoted(entry.name, data)]
    return _with(tree, loop.subject.key, f"Round {loop.round:02d}", parts)


def _asked(tree: Tree, ask: Ask) -> list[str]:
    path = prompt_file(ask)
    data = tree.read(path)
    return [] if isinstance(data, Fault) else [_quoted(f"Prompt {path}", data)]


def _with(tree: Tree, key: str, title: str, parts: list[str]) -> bytes:
    """Added at the end, or in place of the last section if that is the same one."""
    data = tree.read(task_records.log_file(key))
    head = f"# What was asked and answered about {key}\n".encode()
    log = head if isinstance(data, Fault) else data
    mark = f"\n<!-- qrspi: {title} -->\n".encode()
    before, match, after = log.rpartition(mark)
    if match and b"\n<!-- qrspi: " not in after:
        log = before
    return log + mark + f"\n## {title}\n\n{''.join(parts)}".encode()


def _quoted(title: str, data: bytes) -> str:
    """Between fences longer than any in the text, so that the text cannot close them."""
    text = data.decode("utf-8", "replace")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    end = "" if text.endswith("\n") else "\n"
    return f"### {title}\n\n{fence}text\n{text}{end}{fence}\n\n"
