"""A dispatch as a message to a worker, in the form that Celery reads. It names a vendor and a
model, never a program, an address or a variable."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from qrspi.core.digest import of_parts
from qrspi.core.fleet import queues
from qrspi.core.hints import Any
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple

VERSION = 1
TASK = "qrspi.call"
CONTENT_TYPE, CONTENT_ENCODING = "application/json", "utf-8"
LIMIT = 15 * 1024 * 1024  # bytes of a message; brokers refuse one over 16 MiB
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,255}")
_MODEL = re.compile(r"[A-Za-z0-9._:/@+\[\]][A-Za-z0-9._:/@+\[\]-]{0,127}")
_HIDDEN = "(...)"  # in place of the arguments, which Celery would show to every listener


class JobMessage(NamedTuple):
    job: str
    name: str  # goals/1/quality-claude/1: subject, round, agent, attempt
    vendor: str
    model: str
    prompt: str
    reply_queue: str
    ticket: str
    version: int = VERSION


def made(
    name: str, vendor: str, model: str, prompt: str, reply_queue: str, ticket: str
) -> JobMessage:
    parts = (name, vendor, model, prompt, reply_queue)
    return JobMessage(job_id(*parts), *parts, ticket=ticket)


def name_of(subject: str, round: int, agent: str, attempt: int) -> str:
    return f"{subject}/{round}/{agent}/{attempt}"


def job_id(name: str, vendor: str, model: str, prompt: str, reply_queue: str) -> str:
    """The same wherever the question is sent. The queue stands for machine and path."""
    parts = (reply_queue, name, vendor, model, prompt)
    return of_parts(part.encode(errors="surrogatepass") for part in parts)


def is_model(text: str) -> bool:
    """Whether it can be an argument of a program: it must not look like an option."""
    return _MODEL.fullmatch(text) is not None


def body(message: JobMessage) -> bytes:
    """Without escapes, so a prompt of 8 MiB stays about as long."""
    return json.dumps([[message._asdict()], {}, _NOTHING_ELSE], ensure_ascii=False).encode()


_NOTHING_ELSE = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}


def headers(message: JobMessage) -> dict[str, object]:
    job, hidden = message.job, {"argsrepr": _HIDDEN, "kwargsrepr": "{}"}
    own = {"lang": "py", "task": TASK, "id": job, "root_id": job, "retries": 0, **hidden}
    return {**own, queues.REPLY_HEADER: message.reply_queue}


def size(prompt: str) -> int:
    """Everything else in a message is small."""
    return len(json.dumps(prompt, ensure_ascii=False).encode()) + 4096


def refusal(size: int, name: str) -> Problem:
    return Problem(
        "message-too-large",
        f"the message for {name} has {size} bytes, expected at most {LIMIT}",
        found=str(size),
        expected=f"at most {LIMIT}",
        hint="shorten the artifact, or send this one from here: --executor local",
    )


# What the broker adds to a message when it delivers it, and when it delivers it again.
_OF_BROKER = frozenset(("x-delivery-count", "x-acquired-count"))


class Envelope(NamedTuple):
    content_type: str
    content_encoding: str
    headers: Mapping[str, object]
    body: bytes


def read(envelope: Envelope) -> JobMessage | Problem:
    """The whole message, or why it is refused, in words that repeat nothing of it."""
    form = (envelope.content_type, envelope.content_encoding)
    if form != (CONTENT_TYPE, CONTENT_ENCODING):
        return _refused("it is not JSON in UTF-8")
    if len(envelope.body) > LIMIT:
        return _refused(f"it has more than {LIMIT} bytes")
    fields = _fields(envelope.body)
    if isinstance(fields, Problem):
        return fields
    if fields.get("version") != VERSION:
        return _refused(f"it is of another version than {VERSION}, which this worker reads")
    message = _checked(fields)
    if isinstance(message, Problem):
        return message
    given = {key: value for key, value in envelope.headers.items() if key not in _OF_BROKER}
    return message if given == headers(message) else _refused("its headers are not ours")


def _fields(data: bytes) -> dict[str, object] | Problem:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _refused("it cannot be read")
    match document:
        case [[dict() as fields], dict() as named, dict() as rest] if not named:
            if rest == _NOTHING_ELSE:
                return fields
    return _refused("it is not of our form")


def _checked(fields: Mapping[str, object]) -> JobMessage | Problem:
    if fields.keys() != set(JobMessage._fields):
        return _refused("its fields are not the ones expected")
    texts: dict[str, Any] = {key: text for key, text in fields.items() if isinstance(text, str)}
    if texts.keys() != fields.keys() - {"version"} or type(fields["version"]) is not int:
        return _refused("a field is not of its kind")
    message = JobMessage(**texts)
    if not (_NAME.fullmatch(message.name) and queues.is_vendor(message.vendor)):
        return _refused("its name or vendor is none")
    if not (queues.is_run(message.reply_queue) and queues.is_ticket(message.ticket)):
        return _refused("a queue in it is not one of ours")
    if not is_model(message.model):
        return _refused("its model is none")
    if message.job != job_id(*message[1:6]):
        return _refused("its id is not the hash of its parts")
    return message


def from_fields(fields: Mapping[str, object]) -> JobMessage:
    message = _checked(fields)
    assert isinstance(message, JobMessage)  # it was read before
    return message


def _refused(why: str) -> Problem:
    return Problem("message-refused", f"the message is refused: {why}")
