"""To be taken for a worker, or to stop a run for good, as somebody who may write to its broker."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import amqp
import pytest

from qrspi.core.agents.dispatch_record import Record
from qrspi.core.fleet import job_message, queues, result_message
from qrspi.core.fleet.result_message import Answered
from qrspi.handlers.agents import at_workers
from qrspi.world.agents import dispatch_folder
from qrspi.world.agents.dispatch_folder import DispatchFolder
from qrspi.world.fleet.run_mail import BrokerGone, Delivered, RunMail
from tests.attacks.arena import Arena
from tests.attacks.trial import attack
from tests.fleet.broker import Broker
from tests.fleet.machines import LIMIT, Fleet, Program
from tests.patience import until

pytestmark = [pytest.mark.rule("EXE-15", "EXE-21"), pytest.mark.xdist_group("fleet")]

MINE, OTHER = "ab" * 32, "cd" * 32
PLACE = ".qrspi/dispatch/goals/round-01/quality-claude"
WORD = {"version": 1, "state": "answered", "job": MINE, "worker": "w", "reply": "text"}
DEAD = {"x-death": [{}], "x-first-death-reason": "rejected", "task": job_message.TASK}


def word(**more: object) -> bytes:
    return json.dumps({**WORD, "text": "forged", "seconds": 1.0, **more}).encode()


class Message:
    """A stranger's; `headers` of None are none at all."""

    def __init__(self, body: bytes, headers: dict[str, Any] | None = None, **form: Any) -> None:
        named = {} if headers is None else {"application_headers": headers}
        self.made = amqp.Message(body, **named, **form)

    def publish(self, broker: Broker, queue: str, exchange: str = "") -> None:
        with amqp.Connection(f"127.0.0.1:{broker.port}") as line:
            line.channel().basic_publish(self.made, exchange, queue)


@contextmanager
def waiting(broker: Broker, run: Path, *before: Message) -> Iterator[tuple[DispatchFolder, Any]]:
    """A command that waits for the answer of MINE; messages have come before it listened."""
    with dispatch_folder.held(str(run), 1.0, "test") as box:
        box.keep(PLACE, Record(job_id="x", name="quality-claude", broker_job=OTHER))
        mail = RunMail(broker.address, "m", str(run), partial(at_workers.take_late, box))
        for one in before:
            one.publish(broker, mail.reply_queue)
        with mail:
            mail.listen()
            yield box, mail


def heard(broker: Broker, mail: RunMail, *messages: Message) -> list[object]:
    """All that is said about MINE, up to the real answer, which comes last."""
    real = Answered(MINE, "w", "text", "real")
    found: list[object] = []
    with mail.words(MINE) as hear:
        for one in (*messages, Message(result_message.render(real), {})):
            one.publish(broker, mail.reply_queue)
        while real not in found:
            said = hear()
            found.append(said.word if isinstance(said, Delivered) else said)
            assert not isinstance(said, BrokerGone)
            said.kept()
    return found


@attack(
    "a broker",
    "a message that is none of a worker's ends the thread that listens, and the run waits for ever",
    {
        "no headers": Message(word(state="x")),
        "no headers, and nothing else": Message(b""),
        "another form": Message(word(version=2), {}, content_type="text/plain"),
        "an encoding that nobody knows": Message(b"\xff\xfe", {}, content_encoding="nope"),
        "a pickle": Message(pickle.dumps(WORD), {}, content_type="application/x-python-serialize"),
        "deep": Message(b"[" * 1_000_000, {}),
        "larger than any": Message(b" " * (job_message.LIMIT + 1), {}),
        "a number without end": Message(word(job=OTHER + "0", seconds=10**400), {}),
        "digits without end": Message(b'{"version": ' + b"9" * 100_000 + b"}", {}),
        "a death of nothing": Message(b"", {**DEAD, "id": [MINE]}),
        "a death without a cause": Message(b"", {"x-death": 1}),
        "lists for words": Message(word(state=["answered"], worker=["w"], reply=["text"]), {}),
        "a worker that is an escape": Message(word(worker="\x1b[2J"), {}),
        "a job that is a path": Message(word(job="../../goals"), {}),
    },
)
def test_no_word(arena: Arena, broker: Broker, way: Message) -> None:
    run = arena.clone()
    with waiting(broker, run, way) as (box, mail):
        assert len(heard(broker, mail, way)) == 1
        record = box.record(PLACE)
    assert record is not None and (record.state, record.answer, record.worker) == ("sent", "", "")


@attack(
    "a broker",
    "a worker's word cannot be kept or shown",
    {
        "a time without end": {"seconds": 10**400},
        "a time below nothing": {"seconds": -1e308},
        "half a character": {"text": "\ud800"},
        "half a character in its reason": {"message": "\ud800", "code": "transport-failed"},
        "a reason of a million characters": {"message": "x" * 1_000_000, "code": []},
        "a reason of another kind": {"message": {"a": 1}, "code": "already-approved"},
    },
)
@pytest.mark.parametrize("early", [True, False], ids=["early", "late"])
def test_an_odd_word(arena: Arena, broker: Broker, way: dict[str, object], early: bool) -> None:
    """Of a job that somebody waits for, or that nobody waits for any more."""
    run, said = arena.clone(), Message(word(job=OTHER, **way), {})
    with waiting(broker, run, *[said] * early) as (box, mail):
        heard(broker, mail, said)
        heard(broker, mail, Message(word(**way), {}))
        record = box.record(PLACE)
        assert record is not None
        assert record.state == "failed" or record.answer
        assert len(record.problem) <= 1000
    assert "Traceback" not in arena.looks(("dispatch list", "status", "show"))


@attack(
    "a broker",
    "an answer to one job is taken for the answer to another, or taken twice",
    {
        "of nobody": {"job": "ef" * 32},
        "of another, in capitals": {"job": OTHER.upper()},
        "of another, with a blank": {"job": f" {OTHER}"},
        "of another, with a line end": {"job": f"{OTHER}\n"},
        "of one that has its answer": {"job": "12" * 32},
    },
)
def test_another_job(arena: Arena, broker: Broker, way: dict[str, object]) -> None:
    run = arena.clone()
    with waiting(broker, run) as (box, mail):
        done = Record(job_id="y", name="scope-claude", broker_job="12" * 32, answer="1" * 64)
        box.keep(PLACE.replace("quality", "scope"), done)
        heard(broker, mail, Message(word(**way), {}), Message(word(**way, state="started"), {}))
        before, after = box.record(PLACE), box.record(PLACE.replace("quality", "scope"))
        assert before is not None and (before.answer, before.worker) == ("", "")
        assert after == done
    assert not list(run.rglob("*.reply"))


class Serving(NamedTuple):
    """It refuses every message and goes on: so one serves for all of them."""

    fleet: Fleet
    worker: Program


@pytest.fixture(scope="module")
def serving(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    fleet = Fleet(broker, tmp_path_factory.mktemp("fleet"))
    fleet.agent()
    fleet.go()
    yield Serving(fleet, fleet.worker(concurrency=1))
    fleet.close()


RUN, TICKET = queues.of_run("m", "/x").name, queues.ticket(b"x").name


@attack(
    "a broker",
    "a job has a worker speak to, or look at, a queue that is not of qrspi's",
    {
        "another queue for its answer": {"reply_queue": "payments"},
        "a vendor's queue for its answer": {"reply_queue": "qrspi.jobs.claude"},
        "a ticket for its answer": {"reply_queue": TICKET},
        "upwards": {"reply_queue": f"{RUN}/../x"},
        "a queue and a line": {"reply_queue": f"{RUN}\n"},
        "another queue for its ticket": {"ticket": "amq.rabbitmq.log"},
        "the queue of a run for its ticket": {"ticket": RUN},
        "escapes in its name": {"name": "goals/1/\x1b[2J/1"},
        "a name that is a path": {"name": "/etc/passwd"},
        "a model that is an option": {"model": "--dangerously-skip-permissions"},
        "a model and a line": {"model": "small\n"},
        "a vendor that is a path": {"vendor": "../claude"},
        "the id of another job": {"job": MINE},
    },
)
def test_a_job(serving: Serving, way: dict[str, str]) -> None:
    """Each has the id that its parts give, but for the last."""
    fleet, worker = serving
    fields = {"name": "goals/1/a/1", "vendor": fleet.vendor, "model": "small", "prompt": "x"}
    fields |= {"reply_queue": RUN, "ticket": TICKET, **way}
    job = fields.pop("job", "")
    made = job_message.made(**fields)
    body = job_message.body(made._replace(job=job or made.job))
    form = {"content_type": job_message.CONTENT_TYPE, "content_encoding": "utf-8"}
    before = worker.said()
    message = Message(body, job_message.headers(made._replace(job=job or made.job)), **form)
    message.publish(fleet.broker, fleet.vendor, queues.JOBS_EXCHANGE)
    until(lambda: worker.said() != before, "it is answered", LIMIT)
    said = worker.said().removeprefix(before)
    assert said.startswith("refused a message: the message is refused: "), said
    assert said.rstrip("\n").isprintable() and fleet.calls() == []
