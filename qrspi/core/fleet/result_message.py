"""What a worker says about a job: it has started, here is the answer, it could not be done. Others
may write to the broker too, so it is read like a stranger's word."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from qrspi.core.agents.replies import Kind
from qrspi.core.codes import Code
from qrspi.core.fleet.job_message import LIMIT, TASK
from qrspi.core.hints import cast, get_args
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.json_fields import table

VERSION = 1
_JOB = re.compile(r"[0-9a-f]{64}")
_WORKER = re.compile(r"[A-Za-z0-9._@-]{1,128}")
_LONGEST = 1000  # characters of a problem
_LONGEST_CALL = 7 * 24 * 3600  # seconds


class Started(NamedTuple):
    job: str
    worker: str


class TakenBack(NamedTuple):
    """When a worker came to the job, its command no longer wanted it: nothing was spent."""

    job: str
    worker: str


class Answered(NamedTuple):
    """With a problem the answer is of no use, but it may tell what it cost."""

    job: str
    worker: str
    reply: Kind
    text: str
    seconds: float = 0.0
    problem: Problem | None = None


class Lost(NamedTuple):
    job: str  # that the broker gave up
    problem: Problem


Word = Started | TakenBack | Answered | Lost


def render(word: Started | TakenBack | Answered) -> bytes:
    """Without escapes, like the job it answers."""
    document: dict[str, object] = {"version": VERSION, "state": _STATES[type(word)]}
    document |= {"job": word.job, "worker": word.worker}
    if isinstance(word, Answered):
        document |= {"reply": word.reply, "text": word.text, "seconds": word.seconds}
        if word.problem:
            document |= {"code": word.problem.code, "message": word.problem.message}
    return json.dumps(document, ensure_ascii=False).encode(errors="replace")


_STATES = {Started: "started", TakenBack: "taken-back", Answered: "answered"}


def read(body: bytes, headers: Mapping[str, object]) -> Word | None:
    if "x-death" in headers:
        return _dead(headers)
    document = (table(body) if len(body) <= LIMIT else None) or {}
    job, worker = document.get("job"), document.get("worker")
    if document.get("version") != VERSION or not (isinstance(job, str) and _JOB.fullmatch(job)):
        return None
    if not isinstance(worker, str) or not _WORKER.fullmatch(worker):
        return None
    match document.get("state"):
        case "started":
            return Started(job, worker)
        case "taken-back":
            return TakenBack(job, worker)
        case "answered":
            return _answered(job, worker, document)
    return None


def _answered(job: str, worker: str, document: Mapping[str, object]) -> Answered | None:
    reply, text = document.get("reply"), document.get("text")
    if reply not in get_args(Kind) or not isinstance(text, str):
        return None
    seconds, problem = _seconds(document.get("seconds")), _problem(document)
    return Answered(job, worker, cast(Kind, reply), text, seconds, problem)


def _seconds(value: object) -> float:
    """A whole number may be too large for a float."""
    if not isinstance(value, int | float) or not 0 <= value <= _LONGEST_CALL:
        return 0.0
    return float(value)


def _problem(document: Mapping[str, object]) -> Problem | None:
    code, message = document.get("code"), document.get("message")
    if code is None and message is None:
        return None
    if code not in get_args(Code) or not str(code).startswith(("transport-", "reply-", "worker-")):
        code = "transport-failed"
    text = message if isinstance(message, str) else "a worker gave no reason"
    # Half a character, which JSON can spell, can be neither printed nor kept.
    whole = text.encode(errors="replace").decode()
    return Problem(cast(Code, code), " ".join(whole.split())[:_LONGEST])


def _dead(headers: Mapping[str, object]) -> Lost | None:
    """A job that came back unchanged, with the broker's reason."""
    job, why = headers.get("id"), headers.get("x-first-death-reason")
    if headers.get("task") != TASK or not (isinstance(job, str) and _JOB.fullmatch(job)):
        return None
    return Lost(job, _GIVEN_UP.get(str(why), _GIVEN_UP["delivery_limit"]))


_GIVEN_UP = {
    "delivery_limit": Problem(
        "worker-lost",
        "it was handed out twice and not finished, by workers that were lost or a broker that "
        "was restarted, so it is not handed out again",
    ),
    "expired": Problem("worker-none", "no worker took it within 24 hours", hint="qrspi worker"),
    "rejected": Problem("worker-refused", "a worker refused the message, and says why in its log"),
}
