"""Write back the settings that may be missing from config.md, before they are used."""

from __future__ import annotations

from collections.abc import Collection

from qrspi.core.config import edit as config_edit
from qrspi.core.config import reader as configs
from qrspi.core.config.reader import BACKFILLS
from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.core.tree import CONFIG_LIMIT, Fault
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.runs.workspace import Workspace


def handle(job: Job) -> Performed:
    """All that are missing, before the first thing that is done to a step."""
    notes = write_back(job.workspace, BACKFILLS)
    return Performed("backfill", job.facts.step, 0, ("config.md",), notes)


def write_back(workspace: Workspace, fields: Collection[str]) -> tuple[str, ...]:
    """The warnings, one for each field that was missing and is now written."""
    notes = []
    for field, value in configs.backfills(configs.read(_config(workspace))):
        if field in fields:
            _write(workspace, field, value)
            notes.append(config_edit.backfill_warning(field))
    return tuple(notes)


def _config(workspace: Workspace) -> bytes | Fault:
    return workspace.read("config.md", CONFIG_LIMIT)


def _write(workspace: Workspace, field: str, value: str) -> None:
    data = _config(workspace)
    assert not isinstance(data, Fault)
    changed = config_edit.backfill(data, field, value)
    if isinstance(changed, Problem):
        raise Refusal(changed)
    try:
        workspace.replace("config.md", data, changed)
    except Halt as halt:
        raise Halt(config_edit.write_back_failed(field, halt.problem.message)) from None
