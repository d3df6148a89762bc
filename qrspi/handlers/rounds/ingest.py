"""Take in what a reviewer said elsewhere: a captured reply, a chat, one file with many findings."""

from __future__ import annotations

import re
from typing import NamedTuple

from qrspi.core.errors import Misuse, Refusal
from qrspi.core.filenames import TAG, RoundPaths
from qrspi.core.findings import guard
from qrspi.core.findings import pasted_text as dumps
from qrspi.core.findings.split_reply import Split
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs import audit_trail as audit
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.handlers.rounds import named_round as rounds
from qrspi.handlers.rounds import split_reply as splitting
from qrspi.world.runs.dry_run import Rehearsal
from qrspi.world.runs.workspace import Workspace


class Source(NamedTuple):
    """Whose words these are, and which round they belong to."""

    subject: Subject
    number: int
    tag: str
    data: bytes

    @property
    def paths(self) -> RoundPaths:
        return RoundPaths(self.subject.reviews, self.number)


class Taken(NamedTuple):
    split: Split
    done: Performed
    original: str = ""  # run-relative: the text as it came


def split(workspace: Workspace, source: Source, options: Options) -> Taken:
    """A reply into files, as they are: the guard judges them with the rest of the round."""
    _check_tag(source.tag)
    with workspace.locked(options.lock_timeout, "qrspi split"):
        found = splitting.split(workspace, source.paths, source.tag, source.data)
        return _recorded(workspace, source, "split", found, options)


def ingest(workspace: Workspace, source: Source, options: Options) -> Taken:
    """The same for findings that came in another form, and only if the guard lets them pass."""
    _check_tag(source.tag)
    with workspace.locked(options.lock_timeout, "qrspi ingest"):
        _refuse_closed(workspace, source)
        found = dumps.read(source.data, source.tag, source.number)
        if isinstance(found, Problem):
            raise Refusal(found)
        _refuse_bad(workspace, source, found)
        original = _keep(workspace, source)
        splitting.write(workspace, source.paths, source.tag, found)
        return _recorded(workspace, source, "ingest", found, options, original)


def _check_tag(tag: str) -> None:
    if not re.fullmatch(TAG, tag):
        text = f"--tag is {tag!r}: expected a reviewer's tag such as quality-claude"
        raise Misuse(Problem("usage", text, field="--tag", found=tag, expected="quality-claude"))


def _refuse_closed(workspace: Workspace, source: Source) -> None:
    loop = rounds.to_read(workspace, source.subject, source.number, Options()).round_loop
    if loop.stage == "closed":
        name = f"round {source.number:02d} of {source.subject.key}"
        text = f"{name} is closed ({'; '.join(loop.because)}): nothing is added to it"
        raise Refusal(Problem("round-closed", text, file=source.paths.directory))


def _refuse_bad(workspace: Workspace, source: Source, found: Split) -> None:
    """Judged by the round's own guard, on a stage where they already stand beside the rest."""
    with Rehearsal(workspace.path).locked() as stage:
        splitting.write(stage, source.paths, source.tag, found)
        loop = rounds.to_read(stage, source.subject, source.number, Options()).round_loop
    violations = loop.round.violations if loop.round else ()
    bad = tuple(one for one in violations if guard.blamed(one) == source.tag)
    if bad:
        count = f"{len(bad)} violation{'s' if len(bad) > 1 else ''}"
        text = f"the text of {source.tag} has {count}, so nothing is taken in: correct it first"
        raise Refusal(Problem("violations", text), *bad)


def _keep(workspace: Workspace, source: Source) -> str:
    """Beside the round, where it is committed: in the round it would be taken for a finding."""
    path = _free(workspace, source)
    workspace.write(path, source.data)
    return path


def _free(tree: Tree, source: Source) -> str:
    """A name that nothing has, or this very text."""
    count = 1
    while True:
        more = f"-{count:02d}" if count > 1 else ""
        path = source.paths.beside(f"-ingested-{source.tag}{more}.txt")
        if tree.read(path) in (source.data, Fault("absent")):
            return path
        count += 1


def _recorded(
    workspace: Workspace,
    source: Source,
    event: str,
    found: Split,
    options: Options,
    original: str = "",
) -> Taken:
    names = (f"{source.paths.directory}/{name}" for name, _ in found.files)
    files = (*names, original) if original else tuple(names)
    notes = tuple(warning.message for warning in found.warnings)
    done = Performed(event, source.subject.key, source.number, files, notes)
    audit.record(workspace, options.actor, done)
    return Taken(found, done, original)
