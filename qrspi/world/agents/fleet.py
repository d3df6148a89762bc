"""An agent behind a worker. A job that an earlier command published is awaited, not sent again."""

from __future__ import annotations

from qrspi.core.fleet import job_message
from qrspi.core.fleet.result_message import Answered, Lost, Started, TakenBack
from qrspi.core.hints import assert_never
from qrspi.core.model import Problem
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.fleet.connection import BrokerLost
from qrspi.world.fleet.run_mail import BrokerGone, RunMail


def send(request: Request, wire: DispatchContext) -> Answer:
    assert wire.mail is not None
    job = request.broker_job
    try:
        while True:
            job = job or _published(request, wire.mail)
            if answer := _awaited(job, request, wire.mail):
                return answer
            job = ""
    except (BrokerLost, TimeoutError):
        text = f"the broker was lost before it had taken the job of {request.name}"
        return Answer(problem=Problem("broker-unreachable", text))


def _published(request: Request, mail: RunMail) -> str:
    message = job_message.made(
        name=job_message.name_of(request.step, request.round, request.name, request.attempt),
        vendor=request.means.vendor,
        model=request.model,
        prompt=request.prompt.decode(),
        reply_queue=mail.reply_queue,
        ticket=mail.ticket,
    )
    mail.publish(message)
    request.launched(message.job, mail.ticket)
    return message.job


def _awaited(job: str, request: Request, mail: RunMail) -> Answer | None:
    """None when an earlier command took it back, and this one wants it again."""
    with mail.words(job) as hear:
        if answer := request.settled():
            return answer
        while True:
            delivered = hear()
            if isinstance(delivered, BrokerGone):
                return Answer(problem=delivered.problem)
            word, kept = delivered
            match word:
                case Started():
                    request.started(word.worker)
                    kept()
                case TakenBack():
                    kept()
                    return None
                case Lost():
                    return Answer(problem=word.problem, kept=kept)
                case Answered():
                    return _answer(word)._replace(kept=kept)
                case _:
                    assert_never(word)


def _answer(word: Answered) -> Answer:
    data = word.text.encode(errors="replace")
    return Answer(data, word.seconds, word.problem, reply=word.reply, worker=word.worker)
