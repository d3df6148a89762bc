"""Dispatches that workers have: the way there, messages that came late, what can be taken back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from queue import Empty, SimpleQueue

from qrspi.core.agents.dispatch_record import Record
from qrspi.core.errors import Refusal
from qrspi.core.fleet import job_message, queues
from qrspi.core.fleet.result_message import Answered, Lost, Started, TakenBack, Word
from qrspi.core.hints import TYPE_CHECKING, assert_never
from qrspi.core.named_tuple import NamedTuple
from qrspi.handlers.agents.assignments import Assignment
from qrspi.handlers.agents.dispatch_options import How
from qrspi.world.agents.dispatch_folder import DispatchFolder
from qrspi.world.machine import hosts

if TYPE_CHECKING:
    from qrspi.world.fleet.run_mail import RunMail


def mail(box: DispatchFolder, how: How) -> AbstractContextManager[RunMail | None]:
    """None with another executor. What came while nobody listened is taken in first."""
    if how.executor != "celery" or how.scripts:
        return nullcontext()
    from qrspi.world.fleet import connection
    from qrspi.world.fleet.run_mail import RunMail

    where = connection.address(os.environ)
    made = RunMail(where, hosts.identity(), box.path, partial(take_late, box))
    made.listen()
    return made


def take_late(box: DispatchFolder, word: Word) -> None:
    """As if it had come in time. A second answer, or one to a job taken back, is dropped."""
    found = box.awaited(word.job)
    if found is None:
        return
    place, record = found
    match word:
        case Started():
            box.keep(place, record._replace(worker=word.worker))
        case TakenBack():
            box.keep(place, record._replace(state="pending", broker_job="", ticket="", worker=""))
        case Lost():
            box.keep(place, record._replace(state="failed", problem=word.problem.message))
        case Answered(problem=None):
            box.capture(place, word.text.encode(errors="replace"), word.reply, word.worker)
        case Answered():
            why = word.problem.message if word.problem else ""
            box.keep(place, record._replace(state="failed", problem=why, worker=word.worker))
        case _:
            assert_never(word)


def check_sizes(orders: Iterable[Assignment]) -> None:
    for order in orders:
        if order.means.transport != "celery":
            continue
        if (size := job_message.size(order.prompt.decode())) > job_message.LIMIT:
            raise Refusal(job_message.refusal(size, order.name))


class Step(NamedTuple):
    what: str  # queued, started on NAME, done on NAME
    label: str


_SHOWN = 5  # names on a line


class Progress:
    """Threads note steps; the command's own thread tells them, in one line for each kind."""

    def __init__(self) -> None:
        self._steps: SimpleQueue[Step] = SimpleQueue()

    def note(self, what: str, label: str) -> None:
        self._steps.put(Step(what, label))

    def lines(self) -> Iterator[str]:
        found: dict[str, list[str]] = {}
        while True:
            try:
                step = self._steps.get_nowait()
            except Empty:
                break
            found.setdefault(step.what, []).append(step.label)
        for what, labels in found.items():
            more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
            yield f"{what}: {', '.join(labels[:_SHOWN])}{more}"


def taken_back(
    mail: RunMail | None, box: DispatchFolder, sent: Iterable[Assignment]
) -> dict[str, bool]:
    """By place, whether a worker has begun. No worker begins with the others after this."""
    known = {order.place: box.record(order.place) for order in sent}
    jobs = {
        at: one
        for at, one in known.items()
        if one and one.ticket and one.state == "sent" and not one.answer
    }
    if mail is None:
        return {}
    begun = mail.take_back(tickets(jobs.values()))
    return {
        at: begun is None or one.broker_job in begun or bool(one.worker) for at, one in jobs.items()
    }


def tickets(records: Iterable[Record]) -> frozenset[str]:
    """The records lie in the run, and a broker deletes any queue that is named to it."""
    return frozenset(one.ticket for one in records if queues.is_ticket(one.ticket))
