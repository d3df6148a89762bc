"""`reviews/tasks/task-NN-review.md`: what was asked and answered about a task, word for word."""

from __future__ import annotations

import re

from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.filenames import CleanName, FindingName, SidecarName, parse_round_file
from qrspi.core.records import task_records as taskfiles
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps.review_action import prompt_path
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs.job import Job


def of_report(job: Job, task: TaskState, report: bytes) -> bytes:
    """The log with what an implementer was told and what it reported."""
    title = f"Implementer, cycle {task.cycle}"
    parts = [*_asked(job.workspace, task.prompt), _quoted("Report", report)]
    return _with(job.workspace, task.key, title, parts)


def of_round(job: Job, loop: Loop) -> bytes:
    """The log with a round's prompts, findings, clean sentinels and scores."""
    tree, key = job.workspace, loop.subject.key
    parts: list[str] = []
    for tag in loop.manifest.expected_tags if loop.manifest else ():
        parts += _asked(tree, prompt_path(loop, tag))
    entries = tree.entries(loop.paths.directory)
    for entry in () if isinstance(entries, Fault) else entries:
        if isinstance(parse_round_file(entry.name), FindingName | SidecarName | CleanName):
            data = tree.read(f"{loop.paths.directory}/{entry.name}")
            parts += [] if isinstance(data, Fault) else [_quoted(entry.name, data)]
    return _with(tree, key, f"Round {loop.number:02d}", parts)


def _asked(tree: Tree, path: str) -> list[str]:
    data = tree.read(path)
    return [] if isinstance(data, Fault) else [_quoted(f"Prompt {path}", data)]


def _with(tree: Tree, key: str, title: str, parts: list[str]) -> bytes:
    """Added at the end; a section that the log ends with already is replaced."""
    data = tree.read(taskfiles.log_file(key))
    head = f"# What was asked and answered about {key}\n".encode()
    log = head if isinstance(data, Fault) else data
    mark = f"\n<!-- qrspi: {title} -->\n".encode()
    before, found, after = log.rpartition(mark)
    if found and b"\n<!-- qrspi: " not in after:
        log = before
    return log + mark + f"\n## {title}\n\n{''.join(parts)}".encode()


def _quoted(title: str, data: bytes) -> str:
    """Between fences that are longer than any within, so that the text cannot end them."""
    text = data.decode("utf-8", "replace")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    end = "" if text.endswith("\n") else "\n"
    return f"### {title}\n\n{fence}text\n{text}{end}{fence}\n\n"
