"""Answers that a killed command never used, as the next command finds them."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.agents import replies
from qrspi.core.agents.dispatch_record import Record, State
from qrspi.core.filenames import (
    DISPATCH,
    SidecarName,
    dispatch_folder,
    parse_round_file,
    round_number,
    sidecar_file,
)
from qrspi.core.findings import printed_reply
from qrspi.core.model import Ask, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.records.audit_trail import Answer
from qrspi.core.tree import entries
from qrspi.handlers.agents import answer_files, ledger
from qrspi.handlers.agents.ledger import Ledger
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.agents.dispatch_folder import SECOND_TRY, DispatchFolder
from qrspi.world.files.atomic_write import sha256
from qrspi.world.runs.workspace import Change


def finish(job: Job, box: DispatchFolder) -> None:
    if not job.facts.step:
        return
    place = _place(Ask("author", job.facts.step))
    record = box.record(place)
    if record is None or record.state != "taking":
        return
    if not record.is_asked_by(box.asked(place), job.run, job.facts.step, 0):
        return  # nobody asked for it
    data = box.answer(place, record) or b""
    box.keep(place, record._replace(state=_finished(job, record, data), files={}))


def _finished(job: Job, record: Record, data: bytes) -> State:
    reply = replies.parse(record.reply, data)
    if isinstance(reply, Problem):
        return "failed"
    step = job.facts.step
    draft = answer_files.drafted(job.workspace, step, STEP[step].artifact, reply.text)
    taken = draft if isinstance(draft, Problem) else answer_files.put(job, draft, record.files)
    if isinstance(draft, Problem) or isinstance(taken, Problem):
        return "late"  # somebody has changed the text meanwhile
    answer_files.commit_whole(job, draft)
    return "taken"


def settle(job: Job, box: DispatchFolder) -> Ledger:
    """Put on the ledger what was paid but not written down, and close what nobody waits for. Nobody
    else is sending, so a call without an answer is one whose command was killed."""
    known = ledger.before_a_call(job.workspace)
    awaited = {f"{_place(ask)}{end}" for ask in job.next.asks for end in ("", SECOND_TRY)}
    paid = list(ledger.lost(job.workspace, known))
    for unused in _unused(job, box):
        if unused.place in awaited:
            continue
        state: State = "taken" if _is_answered(job, box, unused) else "late"
        if (unused.record.job_id, unused.record.attempt) not in known.calls:
            said = box.reply(unused.place) or b""
            usage = replies.estimated(replies.usage(unused.record.reply, said), len(said))
            entry = ledger.entry(unused.record, job.next.step, unused.round, usage)
            paid.append(entry._replace(outcome="late") if state == "late" else entry)
        if state == "taken":
            _put_on_record(job, box, unused)
        box.keep(unused.place, unused.record._replace(state=state))
    ledger.append(job.workspace, paid)
    return known._replace(entries=(*known.entries, *paid))


class _Unused(NamedTuple):
    place: str
    round: int
    record: Record


def _place(ask: Ask) -> str:
    return f"{dispatch_folder(ask)}/{ask.name}"


def _unused(job: Job, box: DispatchFolder) -> Iterator[_Unused]:
    for place, number in _places(job, f"{DISPATCH}/{job.next.step}"):
        record = box.record(place)
        if record and record.state == "sent" and box.answer(place, record) is not None:
            yield _Unused(place, number, record)


def _places(job: Job, folder: str, number: int = 0) -> Iterator[tuple[str, int]]:
    for entry in entries(job.workspace, folder):
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir":
            yield from _places(job, path, round_number(entry.name) or 0)
        elif entry.name.endswith(".reply"):
            yield path.removesuffix(".reply"), number


def _is_answered(job: Job, box: DispatchFolder, unused: _Unused) -> bool:
    """Whether the newest round has the files of this answer, and somebody was asked for it."""
    loop = job.loop
    if loop is None or unused.round != loop.round:
        return False
    asked = box.prompt(unused.place)
    if not unused.record.is_asked_by(asked, job.run, job.next.step, unused.round):
        return False
    listed = entries(job.workspace, loop.paths.directory)
    scored = {_scorer(entry.name) for entry in listed}
    name = unused.record.name
    return name in scored or bool(printed_reply.files_of(listed, name))


def _put_on_record(job: Job, box: DispatchFolder, unused: _Unused) -> None:
    """A file counts as dispatched only if the answer gives exactly this file."""
    record = unused.record
    reply = replies.parse(record.reply, box.answer(unused.place, record) or b"")
    made = () if isinstance(reply, Problem) else _files(job, record, reply.text)
    good = tuple((path, data) for path, data in made if job.workspace.read(path) == data)
    for path, data in good:
        job.workspace.changes.append(Change(path, None, sha256(data)))
    paths = tuple(path for path, _ in good)
    event = f"dispatch-{'verify' if _is_score(record) else 'review'}"
    said = Answer(record.name, record.answer, paths, record.job_id, record.worker)
    done = Performed(event, job.next.step, unused.round, paths, answers=(said,))
    carry_out.record(job.workspace, job.options.actor, done)


def _files(job: Job, record: Record, text: str) -> tuple[tuple[str, bytes], ...]:
    folder = job.round_loop.paths.directory
    if _is_score(record):
        score = answer_files.score(job, record.name.removeprefix(_VERIFIER), text, record.model)
        return () if isinstance(score, Problem) else ((f"{folder}/{score.name}", score.data),)
    split = printed_reply.split(text.encode(), record.name, job.round_loop.round)
    if isinstance(split, Problem):
        return ()
    return tuple((f"{folder}/{name}", data) for name, data in split.files)


_VERIFIER = Ask("verify", "").name


def _is_score(record: Record) -> bool:
    return record.name.startswith(_VERIFIER)


def _scorer(file: str) -> str:
    """The name of the verifier whose score this file is; '' for any other file."""
    known = parse_round_file(file)
    if not isinstance(known, SidecarName) or file != sidecar_file(known.stem):
        return ""
    return Ask("verify", "", target=known.stem).name
