"""What becomes of an open round that was made elsewhere."""

from __future__ import annotations

from qrspi.core.records import import_record
from qrspi.core.tree import Fault
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More


def plan(job: Job, key: str, more: More) -> ChangeSet:
    """Take it over, or close it: import.md says which."""
    loop, path = job.round_loop, import_record.FILE
    data = job.workspace.read(path, import_record.LIMIT)
    choice = next(one for one in import_record.CHOICES if one == key)
    assert not isinstance(data, Fault)
    changed = import_record.with_choice(data, loop.paths.directory, choice)
    edit = Edit("replace", path, f"{loop.paths.directory}: {choice}", changed, data)
    message = f"docs(qrspi): {choice} round {loop.number:02d} of {loop.subject.key}"
    return ChangeSet("imported-round", loop.subject.key, loop.number, (edit,), message, (path,))
