"""What a reviewer printed becomes files, as if it had written them itself: all or none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from itertools import count

from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Halt, Misuse, Refusal, accepted
from qrspi.core.filenames import TAG, RoundPaths, SplitMarker, parse_round_file, split_marker
from qrspi.core.findings import guard, printed_reply, rejected
from qrspi.core.findings.printed_reply import Split
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records.audit_trail import Answer
from qrspi.core.text import shell_words
from qrspi.core.tree import Entry, Fault
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import Edit
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.handlers.rounds import named_round, put_aside
from qrspi.world.runs.workspace import Workspace

_TEXTS = ("author", "fix", "research-question")


class Source(NamedTuple):
    subject: Subject
    number: int
    tag: str
    data: bytes
    file: str = ""  # where the data is from

    @property
    def paths(self) -> RoundPaths:
        return RoundPaths(self.subject.reviews, self.number)


class TakenReply(NamedTuple):
    split: Split
    done: Performed
    original: str = ""  # run-relative: the text as it came


def split(workspace: Workspace, source: Source, options: Options) -> TakenReply:
    """A reply becomes files unchanged; the guard judges them with the rest of the round."""
    _check_tag(source.tag)
    with workspace.locked(options.lock_timeout, "qrspi split"):
        reply = _read(source, printed_reply.split)
        write(workspace, source.paths, source.tag, reply)
        return _recorded(workspace, source, "split", reply, options)


def ingest(workspace: Workspace, source: Source, options: Options) -> TakenReply:
    """The same for findings in another form, and only if the guard accepts them."""
    _check_tag(source.tag)
    _refuse_texts(workspace, source)
    with workspace.locked(options.lock_timeout, "qrspi ingest"):
        _refuse_closed(workspace, source)
        reply = _read(source, printed_reply.split_any)
        aside = _at_fault(workspace, source)
        _refuse_bad(workspace, source, reply, aside)
        original = _keep(workspace, source)
        for edit in aside:
            change_set.write(workspace, edit)
        write(workspace, source.paths, source.tag, reply)
        return _recorded(workspace, source, "ingest", reply, options, original)


def _read(source: Source, split: Callable[[bytes, str, int], Split | Problem]) -> Split:
    reply = split(source.data, source.tag, source.number)
    return accepted(reply._replace(file=source.file) if isinstance(reply, Problem) else reply)


def correct(job: Job, source: Source, reply: Split) -> Problem | None:
    """In place of files that are at fault, unless it has faults too: then those stay."""
    aside = put_aside.plan(job.workspace, job.round_loop, frozenset((source.tag,)))
    if bad := _rehearsed(job.workspace, source, reply, aside.edits):
        why = "; ".join(problem.message for problem in bad)
        text = f"what it printed in place of that is at fault too: {why}"
        return Problem("reply-malformed", text, bad[0].file, found=bad[0].found)
    for edit in aside.edits:
        change_set.write(job.workspace, edit)
    write(job.workspace, source.paths, source.tag, reply)
    return None


def _check_tag(tag: str) -> None:
    if not re.fullmatch(TAG, tag):
        text = f"--tag is {tag!r}: expected a reviewer's tag such as quality-claude"
        raise Misuse(Problem("usage", text, field="--tag", found=tag, expected="quality-claude"))


def _refuse_texts(workspace: Workspace, source: Source) -> None:
    """Of whoever writes the text, whom people take for one of those who review it."""
    run, step = workspace.name, source.subject.step
    asks = [ask for ask in derive(workspace).next.asks if ask.kind in _TEXTS]
    if source.tag in (ask.name for ask in asks if ask.subject == step):
        whose = ("--name", source.tag) if len(asks) > 1 else ()
        way = shell_words.command("qrspi", "submit", "artifact", "FILE", run, step, *whose)
        then = f": `{way}` takes in what it printed"
    elif source.tag in ("author", "fixer"):
        way, then = "", f", and {run} waits for no text of {step}"
    else:
        return
    text = f"--tag is {source.tag}, which reviews nothing{then}"
    raise Misuse(Problem("usage", text, field="--tag", found=source.tag, hint=way))


def _refuse_closed(workspace: Workspace, source: Source) -> None:
    loop = named_round.to_read(workspace, source.subject, source.number, Options()).round_loop
    if loop.stage == "closed":
        name = f"round {source.number:02d} of {source.subject.key}"
        text = f"{name} is closed ({'; '.join(loop.because)}): nothing is added to it"
        raise Refusal(Problem("round-closed", text, file=source.paths.directory))


def _at_fault(workspace: Workspace, source: Source) -> tuple[Edit, ...]:
    """What the same reviewer wrote before, if it is to be corrected."""
    loop = named_round.to_read(workspace, source.subject, source.number, Options()).round_loop
    if not loop.files or not rejected.about(loop.files, source.tag):
        return ()
    return put_aside.plan(workspace, loop, frozenset((source.tag,))).edits


def _refuse_bad(workspace: Workspace, source: Source, reply: Split, aside: Iterable[Edit]) -> None:
    if bad := _rehearsed(workspace, source, reply, aside):
        many = f"{len(bad)} violation{'s' if len(bad) > 1 else ''}"
        text = f"the text of {source.tag} has {many}, so nothing is taken in: correct it first"
        raise Refusal(Problem("violations", text), *bad)


def _rehearsed(
    workspace: Workspace, source: Source, reply: Split, aside: Iterable[Edit]
) -> tuple[Problem, ...]:
    """Judged by the round's own guard, together with the other files."""
    from qrspi.world.runs.dry_run import DryRunWorkspace

    with DryRunWorkspace(workspace.path).locked() as stage:
        for edit in aside:
            change_set.write(stage, edit)
        write(stage, source.paths, source.tag, reply)
        loop = named_round.to_read(stage, source.subject, source.number, Options()).round_loop
    violations = loop.files.violations if loop.files else ()
    return tuple(problem for problem in violations if guard.blamed(problem) == source.tag)


def _keep(workspace: Workspace, source: Source) -> str:
    """Beside the round, where it is committed. Inside the round it would be taken for a finding."""
    for number in count(1):
        more = f"-{number:02d}" if number > 1 else ""
        path = source.paths.beside(f"-ingested-{source.tag}{more}.txt")
        if workspace.read(path) in (source.data, Fault("absent")):
            break
    workspace.write(path, source.data)
    return path


def _recorded(
    workspace: Workspace,
    source: Source,
    event: str,
    reply: Split,
    options: Options,
    original: str = "",
) -> TakenReply:
    names = (f"{source.paths.directory}/{name}" for name, _ in reply.files)
    files = (*names, original) if original else tuple(names)
    notes = tuple(warning.message for warning in reply.warnings)
    answers = (Answer(source.tag, hashlib.sha256(source.data).hexdigest(), files),)
    performed = Performed(event, source.subject.key, source.number, files, notes, answers=answers)
    carry_out.record(workspace, options.actor, performed)
    return TakenReply(reply, performed, original)


def finish_splits(job: Job) -> Performed:
    loop = job.round_loop
    notes = finish_all(job.workspace, loop.paths)
    return Performed("finish-split", loop.subject.key, loop.round, (), notes)


def write(workspace: Workspace, paths: RoundPaths, tag: str, reply: Split) -> None:
    """The marker contains everything, so that a split that was cut short can be finished."""
    _finish(workspace, paths, tag)
    if problem := printed_reply.refusal(_entries(workspace, paths), tag, paths.directory):
        raise Refusal(problem)
    workspace.create(_marker(paths, tag), printed_reply.joined(reply))
    _fill(workspace, paths, tag, reply)


def finish_all(workspace: Workspace, paths: RoundPaths) -> tuple[str, ...]:
    names = (parse_round_file(entry.name) for entry in _entries(workspace, paths))
    tags = [name.tag for name in names if isinstance(name, SplitMarker)]
    return tuple(note for tag in tags if (note := _finish(workspace, paths, tag)))


def _finish(workspace: Workspace, paths: RoundPaths, tag: str) -> str:
    """A marker that exists while the run is held was left by a killed command."""
    kept = workspace.read(_marker(paths, tag), printed_reply.REPLY_LIMIT)
    if isinstance(kept, Fault):
        if kept.kind == "unreadable":
            raise Halt(_unreadable(_marker(paths, tag), kept))
        return ""
    reply = printed_reply.split(kept, tag, paths.number)
    if isinstance(reply, Split):
        _fill(workspace, paths, tag, reply)
        return f"{paths.directory}: a split of {tag} that was cut short is finished"
    for name in printed_reply.files_of(_entries(workspace, paths), tag):
        workspace.remove(f"{paths.directory}/{name}")
    workspace.remove(_marker(paths, tag))
    return f"{paths.directory}: a split of {tag} that was cut short is taken back"


def _fill(workspace: Workspace, paths: RoundPaths, tag: str, reply: Split) -> None:
    for name, data in reply.files:
        path = f"{paths.directory}/{name}"
        if isinstance(workspace.head(path), Fault):
            workspace.create(path, data)
    workspace.remove(_marker(paths, tag))


def _marker(paths: RoundPaths, tag: str) -> str:
    return f"{paths.directory}/{split_marker(tag)}"


def _entries(workspace: Workspace, paths: RoundPaths) -> tuple[Entry, ...]:
    listed = workspace.entries(paths.directory)
    if not isinstance(listed, Fault):
        return listed
    if listed.kind == "absent":
        return ()
    raise Halt(_unreadable(paths.directory, listed))


def _unreadable(path: str, fault: Fault) -> Problem:
    return Problem("unreadable", f"cannot read {path}: {fault.reason}", file=path)
