"""Get one agent's answer: from the mailbox if it is there already, else by sending."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from qrspi.core.agents import model_choice as routing
from qrspi.core.agents import replies
from qrspi.core.agents.dispatch_record import Record
from qrspi.core.agents.replies import Kind, Reply, Usage
from qrspi.core.agents.spend import Entry
from qrspi.core.model import Problem
from qrspi.core.text import citation_density
from qrspi.core.text import redaction as secrets
from qrspi.handlers.agents.assignments import Order
from qrspi.handlers.agents.ledger import Purse
from qrspi.world import agents
from qrspi.world.agents.dispatch_context import Wire
from qrspi.world.agents.dispatch_folder import Mailbox
from qrspi.world.agents.request import UNMADE, Answer, Request
from qrspi.world.machine import clock


class Office(NamedTuple):
    """What sending takes, shared by the threads of a fan-out."""

    run: str
    mailbox: Mailbox
    wire: Wire
    purse: Purse
    directory: str  # where commands run
    trusted: bool
    begun: dict[str, Record]  # by place: who is on record as sent


class Obtained(NamedTuple):
    order: Order
    record: Record
    reply: Reply | Problem
    spent: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()


def obtain(order: Order, office: Office) -> Obtained:
    first = _answered(order, office)
    if isinstance(first.reply, Problem) or order.floor is None or first.record.second_try:
        return first
    density = citation_density.measure(first.reply.text.encode())
    if density.value >= order.floor:
        return first
    found = f"{density.references} references in {density.words} words, below {order.floor:g}"
    return _asked_again(first, found, office)


def _asked_again(first: Obtained, found: str, office: Office) -> Obtained:
    """Sparse research is asked for once more, of the trusted model. Until that has answered, the
    first answer stays where it is and is not paid for again."""
    again = first.order.again
    if again is None or isinstance(again, Problem):
        return first._replace(reply=_no_second_try(first.order, found, again))
    if not is_stored(again, office) and (stop := office.purse.admit()):
        return first._replace(reply=stop)
    second = _answered(again, office)
    spent = (*first.spent, *second.spent)
    if isinstance(second.reply, Problem):
        return first._replace(reply=second.reply, spent=spent)
    record = _replaced(first.order, second, office)
    note = (
        f"{first.order.name}: {found}; asked again of {record.model}, whose answer replaces the "
        "first"
    )
    return Obtained(first.order, record, second.reply, spent, (note,))


def _replaced(order: Order, second: Obtained, office: Office) -> Record:
    """From here on the second answer stands for the first, also for whoever finds it after a
    kill."""
    record = second.record._replace(
        job_id=order.job_id(office.run), name=order.name, second_try=True
    )
    office.mailbox.keep(order.place, record)
    office.mailbox.keep(second.order.place, second.record._replace(state="taken"))
    return record


def _no_second_try(order: Order, found: str, why: Problem | None) -> Problem:
    said = f": {why.message}" if why else ""
    return Problem(
        "no-trusted-model",
        f"badly sourced ({found}), and there is no trusted model to ask again{said}",
        file=order.role.file,
        field="model",
        expected="{vendor: …, model: …}",
        hint=f"name a model in the role ({routing.own_file(order.role)}), or take such answers as "
        "they are (qrspi config set validators.citation_density_floor 0)",
    )


def is_stored(order: Order, office: Office) -> bool:
    return _stored(order, office) is not None


def _stored(order: Order, office: Office) -> tuple[Record, bytes] | None:
    """An answer that came and was not used: its command was killed, or could not go on."""
    record = office.mailbox.record(order.place)
    if record is None or not _is_open(record, order, office):
        return None
    data = office.mailbox.answer(order.place, record)
    return None if data is None else (record, data)


def _is_open(record: Record, order: Order, office: Office) -> bool:
    # While files are being written the prompt may already quote them, and so be another one.
    return record.state == "taking" or (
        record.state == "sent" and record.job_id == order.job_id(office.run)
    )


def _answered(order: Order, office: Office) -> Obtained:
    # Who was begun by this very command has no answer yet, and need not be looked up again.
    if order.place not in office.begun and (stored := _stored(order, office)):
        record, data = stored
        reply, usage = _weighed(record.reply, Answer(data), office)
        return _judged(order, record, reply, (_entry(order, record, usage),), office)
    return _sent(order, office)


def _sent(order: Order, office: Office) -> Obtained:
    if order.place not in office.begun:
        begin_all((order,), office)
    record = office.begun[order.place]
    answer = agents.send(_request(order, record, office), office.wire)
    if answer.problem and answer.problem.code in UNMADE:
        office.purse.take_back()
        return _judged(order, record, answer.problem, (), office)
    with _turn(answer):
        answer = _captured(order, answer.whole(), office)
        reply, usage = _weighed(order.means.reply, answer, office)
    office.purse.charge(usage)
    entry = _entry(order, record, usage)._replace(seconds=round(answer.seconds, 3))
    return _judged(order, record, reply, (entry,), office)


# A reply takes three times its size while it is read: thirty long ones are read in turn.
_READING = threading.RLock()


def _turn(answer: Answer) -> AbstractContextManager[object]:
    return _READING if answer.heard and answer.heard.is_long else nullcontext()


def _captured(order: Order, answer: Answer, office: Office) -> Answer:
    """On disk before anybody looks at it; half an answer must never pass for a whole one."""
    answer = answer._replace(data=secrets.without(answer.data, office.wire.keys))
    if answer.problem is None:
        office.mailbox.capture(order.place, answer.data)
    return answer


def _weighed(kind: Kind, answer: Answer, office: Office) -> tuple[Reply | Problem, Usage]:
    with _READING:
        reply = _read(kind, answer, office)
        if isinstance(reply, Reply):
            return reply, reply.usage
        return reply, replies.usage(kind, answer.data)


# Nobody has said no: a broker may still be at work on it.
_UNDECIDED = ("transport-interrupted", "transport-timeout")


def _judged(
    order: Order, record: Record, reply: Reply | Problem, spent: tuple[Entry, ...], office: Office
) -> Obtained:
    """An answer that is of no use is on record as such, or it would be found again and again."""
    if isinstance(reply, Reply):
        return Obtained(order, record, reply, spent)
    known = office.mailbox.record(order.place) or record
    if not (known.broker_job and reply.code in _UNDECIDED):
        record = known._replace(state="failed", problem=reply.message)
        office.mailbox.keep(order.place, record)
    failed = tuple(entry._replace(outcome="failed") for entry in spent)
    return Obtained(order, record, reply, failed)


def begin_all(orders: Iterable[Order], office: Office) -> None:
    """Write down who is sent before anybody is: a line each, and one write for all."""
    listed = tuple(orders)
    records = {order.place: _begun(order, office) for order in listed}
    office.mailbox.discard(at for at, record in records.items() if not record.broker_job)
    office.mailbox.prompts({order.place: order.prompt for order in listed})
    office.mailbox.keep_all(records)
    office.begun.update(records)


def _begun(order: Order, office: Office) -> Record:
    before = office.mailbox.record(order.place)
    job = order.job_id(office.run)
    same = before is not None and before.job_id == job
    return Record(
        job,
        order.name,
        attempt=before.attempt + 1 if before and same else 1,
        role=order.role.name,
        vendor=order.model.vendor if order.model else "",
        model=order.model.model if order.model else "",
        transport=order.means.transport,
        reply=order.means.reply,
        broker_job=before.broker_job if before and same and before.state == "sent" else "",
    )


def _request(order: Order, record: Record, office: Office) -> Request:
    def launched(job: str) -> None:
        office.mailbox.keep(order.place, record._replace(broker_job=job))

    return Request(
        order.name,
        order.step,
        order.round,
        order.prompt,
        order.means,
        record.model,
        order.directory or office.directory,
        office.trusted,
        office.mailbox.path,
        result_file=office.mailbox.result_file(order.place),
        broker_job=record.broker_job,
        launched=launched,
    )


def _read(kind: Kind, answer: Answer, office: Office) -> Reply | Problem:
    reply = replies.parse(kind, answer.data)
    if isinstance(reply, Problem):
        # It quotes what the agent said.
        redacted = office.wire.redacted
        reply = reply._replace(message=redacted(reply.message), found=redacted(reply.found))
    if answer.problem is None:
        return reply
    if answer.data and isinstance(reply, Problem) and reply.code == "reply-failed":
        # A program that exits with an error may have printed a better reason than its status.
        return answer.problem._replace(message=f"{answer.problem.message}; {reply.message}")
    return answer.problem


def _entry(order: Order, record: Record, usage: Usage) -> Entry:
    return Entry(
        clock.now_utc(),
        order.step,
        order.round,
        order.role.name,
        record.model,
        record.vendor,
        order.name,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        usd=usage.usd,
        job=record.job_id,
        attempt=record.attempt,
    )
