"""What a reviewer printed becomes files, as if it had written them itself: all or none."""

from __future__ import annotations

from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import RoundPaths, SplitMarker, parse_round_file, split_marker
from qrspi.core.findings import split_reply as splitter
from qrspi.core.findings.split_reply import Split
from qrspi.core.model import Problem
from qrspi.core.tree import Entry, Fault
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.runs.workspace import Workspace


def handle(job: Job) -> Performed:
    """The next command on a round does what the killed one left."""
    loop = job.round_loop
    notes = finish_all(job.workspace, loop.paths)
    return Performed("finish-split", loop.subject.key, loop.number, (), notes)


def split(workspace: Workspace, paths: RoundPaths, tag: str, reply: bytes) -> Split:
    """Refused, with nothing written, when there is nothing to split or the tag has files."""
    found = splitter.split(reply, tag, paths.number)
    if isinstance(found, Problem):
        raise Refusal(found)
    write(workspace, paths, tag, found)
    return found


def write(workspace: Workspace, paths: RoundPaths, tag: str, found: Split) -> None:
    """The marker keeps everything, so that a split that was cut short can be finished."""
    _finish(workspace, paths, tag)
    if problem := splitter.refusal(_entries(workspace, paths), tag, paths.directory):
        raise Refusal(problem)
    workspace.create(_marker(paths, tag), splitter.joined(found))
    _fill(workspace, paths, tag, found)


def finish_all(workspace: Workspace, paths: RoundPaths) -> tuple[str, ...]:
    """Splits that a kill cut short: finished from their markers, or taken back."""
    names = (parse_round_file(entry.name) for entry in _entries(workspace, paths))
    tags = [name.tag for name in names if isinstance(name, SplitMarker)]
    return tuple(note for tag in tags if (note := _finish(workspace, paths, tag)))


def _finish(workspace: Workspace, paths: RoundPaths, tag: str) -> str:
    """Whoever holds the run and sees a marker sees that of a command that was killed."""
    kept = workspace.read(_marker(paths, tag), splitter.REPLY_LIMIT)
    if isinstance(kept, Fault):
        if kept.kind == "unreadable":
            raise Halt(_unreadable(_marker(paths, tag), kept))
        return ""
    found = splitter.split(kept, tag, paths.number)
    if isinstance(found, Split):
        _fill(workspace, paths, tag, found)
        return f"{paths.directory}: a split of {tag} that was cut short is finished"
    for name in splitter.files_of(_entries(workspace, paths), tag):
        workspace.remove(f"{paths.directory}/{name}")
    workspace.remove(_marker(paths, tag))
    return f"{paths.directory}: a split of {tag} that was cut short is taken back"


def _fill(workspace: Workspace, paths: RoundPaths, tag: str, found: Split) -> None:
    for name, data in found.files:
        path = f"{paths.directory}/{name}"
        if isinstance(workspace.head(path), Fault):
            workspace.create(path, data)
    workspace.remove(_marker(paths, tag))


def _marker(paths: RoundPaths, tag: str) -> str:
    return f"{paths.directory}/{split_marker(tag)}"


def _entries(workspace: Workspace, paths: RoundPaths) -> tuple[Entry, ...]:
    found = workspace.entries(paths.directory)
    if not isinstance(found, Fault):
        return found
    if found.kind == "absent":
        return ()
    raise Halt(_unreadable(paths.directory, found))


def _unreadable(path: str, fault: Fault) -> Problem:
    return Problem("unreadable", f"cannot read {path}: {fault.detail or fault.kind}", file=path)
