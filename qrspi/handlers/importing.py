"""Take in a run that was made elsewhere: in its place, or as a copy.

The list of files comes first, import.md with the old config next, config.md last, so that the same
command finishes what a kill left. A copy has all of them before it gets its name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from itertools import chain

from qrspi.core.config import reader as configs
from qrspi.core.errors import Misuse, Refusal, accepted
from qrspi.core.filenames import is_run_name, slug_of
from qrspi.core.importing import foreign_rounds, import_plan
from qrspi.core.importing.import_plan import ImportPlan, ImportRequest
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEPS
from qrspi.core.records import import_record
from qrspi.core.text.shell_words import quoted
from qrspi.core.tree import Fault, entries
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Performed
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import commits, repository
from qrspi.world.git.commits import Committed
from qrspi.world.machine import clock, git_person
from qrspi.world.runs import create_run
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.runs.workspace import Workspace

MOST_BYTES = 1024 * 1024 * 1024


class Source(NamedTuple):
    folder: str
    root: Root
    name: str
    shown: str  # how the folder was named

    @property
    def run(self) -> RunDir:
        return RunDir(self.name, f"{self.root.runs_dir}/{self.name}")

    @property
    def copied(self) -> bool:
        return self.folder != self.run.path

    @property
    def to_copy(self) -> bool:
        return self.copied and self.read_at == self.folder

    @property
    def read_at(self) -> str:
        return self.run.path if os.path.lexists(self.run.path) else self.folder


def find(root: Root, folder: str, shown: str, name: str | None) -> Source:
    path = os.path.realpath(folder)
    source = Source(path, root, name or path.rpartition("/")[2], shown)
    if path.rpartition("/")[0] == root.runs_dir:
        source = source._replace(name=path.rpartition("/")[2])
        if name and name != source.name:
            text = f"{shown} is a run of this project already: it keeps its name, {source.name}"
            raise Misuse(Problem("usage", text, field="--as", found=name, expected=source.name))
    _must_hold_a_run(path, shown)
    if not is_run_name(source.name):
        expected = "a name of letters, digits, '.', '_' and '-'"
        text = f"{source.name!r} cannot be a run: give it {expected}, with --as NAME"
        raise Refusal(Problem("not-adoptable", text, field="--as", expected=expected))
    _must_be_free(source)
    return source


def _must_hold_a_run(path: str, shown: str) -> None:
    names = {entry.name for entry in entries(DiskTree(path), "")}
    known = {"config.md", "reviews", "tasks", *(step.artifact.partition("/")[0] for step in STEPS)}
    if not names & known:
        expected = "a folder with config.md, artifacts such as goals.md, or reviews"
        text = f"{shown} holds nothing of a run: expected {expected}"
        raise Refusal(Problem("not-adoptable", text, file=shown, expected=expected))


def _must_be_free(source: Source) -> None:
    """Only an earlier copy of the same folder may have the name."""
    if not source.copied or not os.path.lexists(source.run.path):
        return
    before = import_record.of_run(DiskTree(source.run.path))
    if before.source != source.folder:
        text = f"{source.run.path} is there already and is not a copy of {source.shown}"
        hint = f"qrspi import {quoted(source.shown)} --as NAME"
        raise Refusal(Problem("already-there", f"{text}: `{hint}`", file=source.name, hint=hint))


def plan(source: Source, answers: Mapping[str, str]) -> ImportPlan:
    tree = _NamedTree(source)
    origin = source.folder if source.copied else f"docs/qrspi/{source.name}"
    person = git_person.at(source.root.project)
    given = ImportRequest(clock.now_utc(), person, origin, source.to_copy, answers)
    made = import_plan.make(tree, given, _hashes(tree))
    if isinstance(made, Problem):
        raise Refusal(_to_mend(source, made))
    return made


def _to_mend(source: Source, problem: Problem) -> Problem:
    """The ways out of a bad file lead to a run, and this is not a run yet."""
    text = f"{source.shown}: {problem.message}; mend it there, then run the same command again"
    return problem._replace(message=text, options=(), hint="")


class _NamedTree(CommittedTree):
    """The folder under the name that the run will have, since commands use that name."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.read_at)
        self._run = source.name

    @property
    def name(self) -> str:
        return self._run


def _hashes(tree: DiskTree) -> dict[str, str]:
    foreign = accepted(foreign_rounds.look(tree))
    return {path: hashlib.sha256(data).hexdigest() for path, data in _contents(tree, foreign.files)}


def _contents(tree: DiskTree, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    size = 0
    for path in paths:
        data = tree.read(path)
        if isinstance(data, Fault):
            why = f"{path} cannot be read ({data.reason}): make it readable first"
            raise Refusal(Problem("unreadable", why, file=path, found=data.kind))
        size += len(data)
        if size > MOST_BYTES:
            text = f"{tree.name} is larger than 1 GiB: expected the files of one run"
            raise Refusal(Problem("too-large", text, file=tree.name, expected="at most 1 GiB"))
        yield path, data


class Imported(NamedTuple):
    run: RunDir
    files: tuple[str, ...]  # that were written
    commit: str | None = None


def carry_out_plan(source: Source, planned: ImportPlan, lock_timeout: float) -> Imported:
    if source.to_copy:
        _copy(source, planned)
        files = tuple(planned.files)
    else:
        files = _in_place(source, planned, lock_timeout)
    return Imported(source.run, files, _commit(source, planned))


def _copy(source: Source, planned: ImportPlan) -> None:
    tree = DiskTree(source.folder)
    there = _contents(tree, planned.found.files)
    create_run.create_from(source.root, source.name, chain(there, planned.files.items()))


def _in_place(source: Source, planned: ImportPlan, lock_timeout: float) -> tuple[str, ...]:
    workspace = Workspace(source.run.path)
    with workspace.locked(lock_timeout, "qrspi import"):
        written = tuple(path for path, data in planned.files.items() if workspace.write(path, data))
        performed = Performed("import", "", files=written, notes=planned.changes)
        carry_out.record(workspace, "cli", performed)
    return written


def _commit(source: Source, planned: ImportPlan) -> str | None:
    """Everything that was taken in, so that a clone has what the list names."""
    repo = repository.find(source.run.path)
    config = configs.read(DiskTree(source.run.path).read("config.md"))
    if repo is None or config.commit == "off":
        return None
    listed = (path.partition("/")[0] for path in planned.found.files)
    names = tuple(dict.fromkeys((*listed, *_RECORDS)))
    committed = commits.commit(repo, names, f"docs(qrspi): import {slug_of(source.name)}")
    return committed.commit if isinstance(committed, Committed) else None


_RECORDS = (import_record.LISTING, import_record.FILE, "config.md")
