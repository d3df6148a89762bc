"""Get one agent's answer: from the dispatch folder if it is there already, else by asking."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import nullcontext

from qrspi.core.agents import model_choice, replies
from qrspi.core.agents.dispatch_record import Record
from qrspi.core.agents.replies import Kind, Reply, Usage
from qrspi.core.agents.roles import Role
from qrspi.core.agents.spend import LedgerEntry
from qrspi.core.filenames import slug_of
from qrspi.core.model import AskKind, Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import citations, redaction
from qrspi.handlers.agents import ledger
from qrspi.handlers.agents.assignments import Assignment
from qrspi.handlers.agents.at_workers import Progress
from qrspi.handlers.agents.ledger import RunBudget
from qrspi.world.agents import transports
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.dispatch_folder import DispatchFolder
from qrspi.world.agents.request import UNMADE, Answer, Request
from qrspi.world.consent import permits

DRAFTING: tuple[AskKind, ...] = ("author", "research-question", "fix")


class FanOutContext(NamedTuple):
    run: str
    mailbox: DispatchFolder
    wire: DispatchContext
    budget: RunBudget
    directory: str  # where commands run
    trusted: bool
    begun: dict[str, Record]  # by place: the agents on record as sent
    progress: Progress


class Obtained(NamedTuple):
    order: Assignment
    record: Record
    reply: Reply | Problem
    spent: tuple[LedgerEntry, ...] = ()
    notes: tuple[str, ...] = ()


def obtain(order: Assignment, context: FanOutContext) -> Obtained:
    first = _answered(order, context)
    if isinstance(first.reply, Problem) or first.record.second_try:
        return first
    sparse = _sparse(order, first.reply)
    return _asked_again(first, sparse, context) if sparse else first


def _sparse(order: Assignment, reply: Reply) -> str:
    if order.floor is None:
        return ""
    density = citations.density(reply.text.encode())
    if density.value >= order.floor:
        return ""
    return f"{density.references} references in {density.words} words, below {order.floor:g}"


def _asked_again(first: Obtained, sparse: str, context: FanOutContext) -> Obtained:
    """Until the trusted model has answered, the first answer stays, and is not paid for again."""
    again = first.order.again
    if again is None or isinstance(again, Problem):
        return _without_second_try(first, sparse, again, context)
    if not is_stored(again, context) and (stop := context.budget.admit()):
        return first._replace(reply=stop)
    second = _answered(again, context)
    spent = (*first.spent, *second.spent)
    if isinstance(second.reply, Problem):
        return first._replace(reply=second.reply, spent=spent)
    record = _replaced(first.order, second, context)
    note = (
        f"{first.order.name}: {sparse}; asked again of {record.model}, whose answer replaces the "
        "first"
    )
    return Obtained(first.order, record, second.reply, spent, (note,))


def _replaced(order: Assignment, second: Obtained, context: FanOutContext) -> Record:
    """From here on the second answer replaces the first, even after a kill."""
    record = second.record._replace(
        job_id=order.job_id(context.run),
        name=order.name,
        second_try=True,
        question=order.question(context.run),
    )
    context.mailbox.keep(order.place, record)
    context.mailbox.keep(second.order.place, second.record._replace(state="taken"))
    return record


def _without_second_try(
    first: Obtained, sparse: str, why: Problem | None, context: FanOutContext
) -> Obtained:
    """The next command sends it again, unless by then the floor is lower than what it has."""
    bad = f"badly sourced ({sparse})"
    record = first.record._replace(state="failed", problem=bad, rejected=bad, sparse=True)
    context.mailbox.keep(first.order.place, record)
    problem = _no_second_try(first.order.role, bad, why, context.run)
    return first._replace(record=record, reply=problem)


def _no_second_try(role: Role, bad: str, why: Problem | None, run: str) -> Problem:
    said = f": {why.message}" if why else ""
    floor = "validators.citation_density_floor"
    return Problem(
        "no-trusted-model",
        f"{bad}, and there is no trusted model to ask again{said}",
        file=role.file,
        field="model",
        expected="{vendor: …, model: …}",
        options=(
            f"Send it again: qrspi next {run} --dispatch",
            f"Take such answers as they are: qrspi config set {run} {floor} 0",
            f"Name a model in a role of your own: {model_choice.own_file(role)}",
        ),
    )


def is_stored(order: Assignment, context: FanOutContext) -> bool:
    return _stored(order, context) is not None


def lost_call(
    order: Assignment, context: FanOutContext, known: frozenset[tuple[str, int]]
) -> LedgerEntry | None:
    """A call that was made and whose answer nobody will take; None for any other."""
    record = context.mailbox.record(order.place)
    if record is None or record.state != "sent" or record.broker_job:
        return None
    if (record.job_id, record.attempt) in known or is_stored(order, context):
        return None
    entry = ledger.entry(record, order.step, order.round, Usage())
    return entry._replace(outcome="interrupted")


def _stored(order: Assignment, context: FanOutContext) -> tuple[Record, bytes] | None:
    """An answer that came but was not used: its command was killed, or could not go on."""
    record = context.mailbox.record(order.place)
    if record is None or not (record.sparse or _is_open(record, order, context)):
        return None
    data = context.mailbox.answer(order.place, record)
    if data is None or (record.sparse and not _is_of_use_now(order, record, data, context)):
        return None
    return record, data


def _is_of_use_now(order: Assignment, record: Record, data: bytes, context: FanOutContext) -> bool:
    reply = replies.parse(record.reply, data)
    is_its_own = record.question == order.question(context.run)
    if not is_its_own or isinstance(reply, Problem):
        return False
    return isinstance(order.again, Assignment) or not _sparse(order, reply)


def _is_open(record: Record, order: Assignment, context: FanOutContext) -> bool:
    if record.state == "taking":
        # While files of a draft are being written, the prompt may already quote them and so have
        # another id. Answers of reviewers and verifiers are never in that state.
        asked = context.mailbox.asked(order.place)
        is_its_own = record.is_asked_by(asked, context.run, order.step, order.round)
        return order.ask.kind in DRAFTING and is_its_own
    return record.state == "sent" and record.job_id == order.job_id(context.run)


def _answered(order: Assignment, context: FanOutContext) -> Obtained:
    # What this command has begun itself has no answer yet, unless workers began it earlier.
    begun = context.begun.get(order.place)
    if (begun is None or begun.ticket) and (stored := _stored(order, context)):
        record, data = stored
        reply, usage = _weighed(record.reply, Answer(data), order, context)
        entry = ledger.entry(record, order.step, order.round, usage)
        if record.sparse:
            record = record._replace(job_id=order.job_id(context.run), problem="", sparse=False)
        return _judged(order, record, reply, (entry,), context)
    return _sent(order, context)


def _sent(order: Assignment, context: FanOutContext) -> Obtained:
    if order.place not in context.begun:
        begin_all((order,), context)
    record = context.begun[order.place]._replace(called=True)
    # An answer to an earlier command's job may have come since, and stays on record.
    known = context.mailbox.record(order.place) or record
    context.mailbox.note(order.place, known._replace(called=True))
    answer = transports.send(_request(order, record, context), context.wire)
    if answer.problem and answer.problem.code in UNMADE:
        context.budget.take_back()
        obtained = _judged(order, record, answer.problem, (), context)
        answer.kept()
        return obtained
    is_long = answer.heard and answer.heard.is_long
    with _READING if is_long else nullcontext():
        answer, digest = _captured(order, answer.whole(), context)
        kind = answer.reply or order.means.reply
        record = record._replace(answer=digest, reply=kind, worker=answer.worker)
        reply, usage = _weighed(kind, answer, order, context)
    context.budget.charge(usage)
    entry = ledger.entry(record, order.step, order.round, usage)
    entry = entry._replace(seconds=round(answer.seconds, 3))
    if answer.worker and isinstance(reply, Reply):
        context.progress.note(f"done on {answer.worker}", order.label)
    # A worker that reports a failure has given up; a broker that we lost may still be working.
    decided = bool(answer.worker)
    obtained = _judged(order, record, reply, (entry,), context, decided=decided)
    answer.kept()
    return obtained


# Reading a reply takes three times its size in memory, so long ones are read one after another.
_READING = threading.RLock()


def _captured(order: Assignment, answer: Answer, context: FanOutContext) -> tuple[Answer, str]:
    """On disk, with its hash, before anybody reads it: half an answer never passes for one."""
    answer = answer._replace(data=redaction.without(answer.data, context.wire.keys))
    if answer.problem is not None:
        return answer, ""
    return answer, context.mailbox.capture(order.place, answer.data, answer.reply, answer.worker)


def _weighed(
    kind: Kind, answer: Answer, order: Assignment, context: FanOutContext
) -> tuple[Reply | Problem, Usage]:
    with _READING:
        reply = _read(kind, answer, context)
        usage = reply.usage if isinstance(reply, Reply) else replies.usage(kind, answer.data)
        return reply, replies.estimated(usage, len(order.prompt), len(answer.data))


# Nothing has failed yet: a broker may still be working on it.
_UNDECIDED: tuple[Code, ...] = ("broker-lost", "transport-interrupted", "transport-timeout")


def _judged(
    order: Assignment,
    record: Record,
    reply: Reply | Problem,
    spent: tuple[LedgerEntry, ...],
    context: FanOutContext,
    *,
    decided: bool = False,
) -> Obtained:
    """A useless answer is recorded as failed; otherwise it would be found again and again."""
    if isinstance(reply, Reply):
        return Obtained(order, record, reply, spent)
    known = context.mailbox.record(order.place) or record
    if not (known.broker_job and reply.code in _UNDECIDED and not decided):
        record = known._replace(state="failed", problem=reply.message)
        context.mailbox.keep(order.place, record)
    failed = tuple(entry._replace(outcome="failed") for entry in spent)
    return Obtained(order, record, reply, failed)


def begin_all(orders: Iterable[Assignment], context: FanOutContext) -> None:
    """Record who is sent before anybody is sent: one line each, and one write for all."""
    listed = tuple(orders)
    records = {order.place: _begun(order, context) for order in listed}
    context.mailbox.discard(at for at, record in records.items() if not record.broker_job)
    context.mailbox.prompts((order.place, order.prompt) for order in listed)
    context.mailbox.keep_all(records)
    context.begun.update(records)


def _begun(order: Assignment, context: FanOutContext) -> Record:
    before = context.mailbox.record(order.place)
    job = order.job_id(context.run)
    same = before is not None and before.job_id == job
    same_way = before is not None and before.transport == order.means.transport
    under_way = before if before and same and same_way and before.state == "sent" else None
    return Record(
        job_id=job,
        name=order.name,
        attempt=before.attempt + 1 if before else 1,  # it may be asked the first question again
        role=order.role.name,
        vendor=order.model.vendor if order.model else "",
        model=order.model.model if order.model else "",
        transport=order.means.transport,
        reply=order.means.reply,
        broker_job=under_way.broker_job if under_way else "",
        ticket=under_way.ticket if under_way else "",
        worker=under_way.worker if under_way else "",
        question=order.question(context.run),
        rejected=before.rejected if before and order.unrejected else "",
    )


def _request(order: Assignment, record: Record, context: FanOutContext) -> Request:
    box, place, named = context.mailbox, order.place, order.means.named

    def launched(job: str, ticket: str) -> None:
        box.keep(place, record._replace(broker_job=job, ticket=ticket))
        if ticket:
            context.progress.note("queued", order.label)

    def started(worker: str) -> None:
        box.note(place, (box.record(place) or record)._replace(worker=worker))
        context.progress.note(f"started on {worker}", order.label)

    return Request(
        name=order.name,
        step=order.step,
        round=order.round,
        prompt=order.prompt,
        means=order.means,
        model=record.model,
        directory=order.directory or context.directory,
        permit=permits.permit(context.directory, context.run, named) if named else None,
        trusted=context.trusted,
        run=box.path,
        hidden=_telling(context.run) if order.step == "research" else (),
        result_file=box.result_file(place),
        broker_job=record.broker_job,
        launched=launched,
        started=started,
        settled=lambda: _settled(order, context),
        attempt=record.attempt,
    )


def _telling(run: str) -> tuple[str, ...]:
    return (run, f"qrspi/{slug_of(run)}")


def _settled(order: Assignment, context: FanOutContext) -> Answer | None:
    """How a job of an earlier command ended, if its answer came before it was waited for."""
    known = context.mailbox.record(order.place)
    if known is None or not known.broker_job:
        return None
    if known.state == "failed":
        return Answer(problem=Problem("worker-lost", known.problem))
    data = context.mailbox.answer(order.place, known) if known.answer else None
    return Answer(data, reply=known.reply, worker=known.worker) if data is not None else None


def _read(kind: Kind, answer: Answer, context: FanOutContext) -> Reply | Problem:
    reply = replies.parse(kind, answer.data)
    if isinstance(reply, Problem):
        # It quotes what the agent said.
        redacted = context.wire.redacted
        reply = reply._replace(message=redacted(reply.message), found=redacted(reply.found))
    if answer.problem is None:
        return reply
    if answer.data and isinstance(reply, Problem) and reply.code == "reply-failed":
        # A failing program may have printed a better reason than its exit status.
        return answer.problem._replace(message=f"{answer.problem.message}; {reply.message}")
    return answer.problem
