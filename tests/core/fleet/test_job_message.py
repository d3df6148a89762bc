"""A message to a worker: exactly our own is read, and of any other nothing is repeated."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.fleet import job_message, queues
from qrspi.core.fleet.job_message import Envelope, JobMessage
from qrspi.core.model import Problem

RUN = queues.of_run("machine", "/home/me/shop/docs/qrspi/2026-01-01-user-auth").name
TICKET = queues.ticket(b"chance").name
GOOD = job_message.made("goals/1/quality-claude/1", "claude", "opus", "Say é.\n", RUN, TICKET)


def envelope(message: JobMessage = GOOD, **more: Any) -> Envelope:
    sent = Envelope(
        "application/json", "utf-8", job_message.headers(message), job_message.body(message)
    )
    return sent._replace(**more)


def changed(**fields: Any) -> Envelope:
    """A message with other fields, and an id that fits them as far as it can."""
    document = json.loads(job_message.body(GOOD))
    document[0][0] |= fields
    return envelope(body=json.dumps(document).encode())


@pytest.mark.rule("EXE-14", "EXE-15", "EXE-19")
def test_what_is_written_is_read() -> None:
    assert job_message.read(envelope()) == GOOD
    broker = {"x-delivery-count": 1}
    assert job_message.read(envelope(headers={**job_message.headers(GOOD), **broker})) == GOOD
    assert "é".encode() in job_message.body(GOOD)  # not escaped


@pytest.mark.rule("EXE-14")
@given(st.text(max_size=50), st.text(max_size=50))
def test_another_prompt_is_another_job(one: str, other: str) -> None:
    jobs = [job_message.job_id("n", "v", "m", prompt, RUN) for prompt in (one, other)]
    assert (jobs[0] == jobs[1]) == (one == other)


@pytest.mark.rule("EXE-14")
def test_every_part_is_in_the_id() -> None:
    parts = ["goals/1/quality-claude/1", "claude", "opus", "text", RUN]
    ids = {job_message.job_id(*parts)}
    for at in range(len(parts)):
        ids.add(job_message.job_id(*parts[:at], parts[at] + "x", *parts[at + 1 :]))
    assert len(ids) == 6
    assert queues.of_run("m", "/a").name != queues.of_run("n", "/a").name
    assert queues.of_run("m", "/a").name != queues.of_run("m", "/b").name


BAD_FIELDS = "its fields are not the ones expected"


@pytest.mark.rule("EXE-09", "EXE-15", "EXE-21")
@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (envelope(content_type="application/x-python-serialize"), "it is not JSON in UTF-8"),
        (envelope(content_encoding="binary"), "it is not JSON in UTF-8"),
        (envelope(body=pickle.dumps(GOOD)), "it cannot be read"),
        (envelope(body=b"[" * 100_000), "it cannot be read"),
        (envelope(body=b"x" * (job_message.LIMIT + 1)), "it has more than 15728640 bytes"),
        (envelope(body=b"{}"), "it is not of our form"),
        (envelope(body=b"[[{}], {}, {}]"), "it is not of our form"),
        (envelope(body=b'[[{}], {"more": 1}, {}]'), "it is not of our form"),
        (changed(version=2), "it is of another version than 1, which this worker reads"),
        (changed(version="1"), "it is of another version than 1, which this worker reads"),
        (changed(program="rm -rf /"), BAD_FIELDS),
        (changed(base_url="https://evil.example"), BAD_FIELDS),
        (changed(api_key_env="SHOP_API_KEY"), BAD_FIELDS),
        (changed(prompt=["a"]), "a field is not of its kind"),
        (changed(version=True), "a field is not of its kind"),
        (changed(name="../../x\n"), "its name or vendor is none"),
        (changed(vendor="-x"), "its name or vendor is none"),
        (changed(reply_queue="celery"), "a queue in it is not one of ours"),
        (changed(ticket="qrspi.run." + "0" * 40), "a queue in it is not one of ours"),
        (changed(model="--dangerously-skip-permissions"), "its model is none"),
        (changed(model=""), "its model is none"),
        (changed(prompt="Say another thing."), "its id is not the hash of its parts"),
        (changed(job="0" * 64), "its id is not the hash of its parts"),
        (envelope(headers={}), "its headers are not ours"),
        (
            envelope(headers={**job_message.headers(GOOD), "task": "celery.chain"}),
            "its headers are not ours",
        ),
        (
            envelope(headers={**job_message.headers(GOOD), "eta": "2030-01-01"}),
            "its headers are not ours",
        ),
    ],
)
def test_any_other_message_is_refused(sent: Envelope, why: str) -> None:
    problem = job_message.read(sent)
    assert isinstance(problem, Problem)
    assert problem == Problem("message-refused", f"the message is refused: {why}")


@pytest.mark.rule("EXE-15")
@given(st.binary(max_size=200))
def test_any_bytes_give_a_problem(data: bytes) -> None:
    assert isinstance(job_message.read(envelope(body=data)), Problem)


@pytest.mark.rule("EXE-19")
def test_the_size_of_a_message_is_known_before_it_is_made() -> None:
    prompt = 'a "quoted" line é\n' * 100
    made = job_message.made("goals/1/quality-claude/1", "claude", "opus", prompt, RUN, TICKET)
    assert 0 <= job_message.size(prompt) - len(job_message.body(made)) < 4096
    assert job_message.refusal(20_000_000, "author").message == (
        "the message for author has 20000000 bytes, expected at most 15728640"
    )


@pytest.mark.rule("EXE-12", "EXE-13", "EXE-20")
def test_what_queues_are_declared_with() -> None:
    day = 24 * 3600 * 1000
    assert queues.of_vendor("claude") == (
        "qrspi.jobs.claude",
        {
            "x-queue-type": "quorum",
            "x-delivery-limit": 1,
            "x-message-ttl": day,
            "x-dead-letter-exchange": "qrspi.dead",
        },
    )
    assert queues.of_run("m", "/a").arguments == {"x-expires": 7 * day, "x-message-ttl": 7 * day}
    assert queues.ticket(b"x").arguments == {"x-expires": 2 * day}
