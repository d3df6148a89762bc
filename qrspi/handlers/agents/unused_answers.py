"""What a dispatcher finds when it opens its desk: answers that a killed command never used."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.agents import replies
from qrspi.core.agents.dispatch_record import Record, State
from qrspi.core.agents.spend import Entry
from qrspi.core.filenames import round_number, sidecar_file
from qrspi.core.findings import split_reply as splitter
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.tree import Fault
from qrspi.handlers.agents import answer_files as taking
from qrspi.handlers.agents import ledger
from qrspi.handlers.agents.answer_intake import commit_whole
from qrspi.handlers.agents.ledger import Ledger
from qrspi.handlers.jobs.job import Job
from qrspi.world.agents.dispatch_folder import FOLDER, SECOND_TRY, Mailbox
from qrspi.world.machine import clock


def finish(job: Job, box: Mailbox) -> None:
    """A draft whose files were being written: all of them, and their commit."""
    if not job.facts.step:
        return
    place = f"{FOLDER}/{job.facts.step}/author"
    record = box.record(place)
    if record is None or record.state != "taking":
        return
    data = box.answer(place, record) or b""
    box.keep(place, record._replace(state=_finished(job, record, data), files={}))


def _finished(job: Job, record: Record, data: bytes) -> State:
    reply = replies.parse(record.reply, data)
    if isinstance(reply, Problem):
        return "failed"
    step = job.facts.step
    draft = taking.drafted(job.workspace, step, STEP[step].artifact, reply.text)
    if isinstance(draft, Problem) or isinstance(taking.put(job, draft, record.files), Problem):
        return "late"  # somebody has gone on with the text meanwhile
    commit_whole(job, draft)
    return "taken"


def settle(job: Job, box: Mailbox) -> Ledger:
    """Put on the ledger what was paid and not written down, and close what nobody waits for."""
    known = ledger.before_a_call(job.workspace)
    awaited = {path.removesuffix(".md") for path in job.next.prompts}
    entries: list[Entry] = []
    for place, record in _unused(job, box):
        if place.removesuffix(SECOND_TRY) in awaited:
            continue
        state: State = "taken" if _is_answered(job, place, record) else "late"
        if (record.job_id, record.attempt) not in known.calls:
            entries.append(_entry(job, place, record, box, state))
        box.keep(place, record._replace(state=state))
    ledger.append(job.workspace, entries)
    return known._replace(entries=(*known.entries, *entries))


def _unused(job: Job, box: Mailbox) -> Iterator[tuple[str, Record]]:
    for place in _places(job, f"{FOLDER}/{job.next.step}"):
        record = box.record(place)
        if record and record.state == "sent" and box.reply(place) is not None:
            yield place, record


def _places(job: Job, folder: str) -> Iterator[str]:
    entries = job.workspace.entries(folder)
    for entry in () if isinstance(entries, Fault) else entries:
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir":
            yield from _places(job, path)
        elif entry.name.endswith(".reply"):
            yield path.removesuffix(".reply")


def _is_answered(job: Job, place: str, record: Record) -> bool:
    """Whether the newest round has the files that this answer would have become."""
    loop = job.loop
    if loop is None or round_number(place.split("/")[-2]) != loop.number:
        return False
    entries = job.workspace.entries(loop.paths.directory)
    listed = () if isinstance(entries, Fault) else entries
    stem = record.name.removeprefix("verify-")
    scored = any(entry.name == sidecar_file(stem) for entry in listed)
    return scored or bool(splitter.files_of(listed, record.name))


def _entry(job: Job, place: str, record: Record, box: Mailbox, state: str) -> Entry:
    usage = replies.usage(record.reply, box.reply(place) or b"")
    return Entry(
        clock.now_utc(),
        job.next.step,
        round_number(place.split("/")[-2]) or 0,
        record.role,
        record.model,
        record.vendor,
        record.name,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        usd=usage.usd,
        outcome="late" if state == "late" else "done",
        job=record.job_id,
        attempt=record.attempt,
    )
