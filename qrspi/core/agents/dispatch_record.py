"""A dispatch that was sent: who it is, what it asked, how far its answer has come."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core import patterns, plain_json
from qrspi.core.digest import of_parts, sha256
from qrspi.core.hints import TYPE_CHECKING, Any, Literal, cast, get_args
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.json_fields import string

if TYPE_CHECKING:
    from qrspi.core.agents.replies import Kind

# pending: it was not sent. sent: it was sent, and no answer was used yet. taking: the files of its
# answer are being written. taken: they are written. failed: the answer was of no use. late: nobody
# waits for the answer any more.
State = Literal["pending", "sent", "taking", "taken", "failed", "late"]


class Record(NamedTuple):
    job_id: str
    name: str
    attempt: int = 1
    role: str = ""
    vendor: str = ""
    model: str = ""
    transport: str = ""
    reply: Kind = "text"
    state: State = "sent"
    problem: str = ""
    broker_job: str = ""  # under which the broker knows it
    second_try: bool = False  # the trusted model gave this answer; it is not judged again
    files: Mapping[str, str] = {}  # while taking: what each file was, by its hash
    answer: str = ""  # sha256 of what came back; '' until then
    ticket: str = ""  # the ticket of the command that published it; without one, no worker begins
    worker: str = ""  # the worker that has begun
    question: str = ""  # its job id, had no earlier answer been refused
    rejected: str = ""  # why the newest answer to that question was not taken
    sparse: bool = False  # it has too few references and nothing else was wrong with it
    called: bool = False  # the call was begun; before that a record says who is about to be sent

    @property
    def progress(self) -> str:
        """The state. For a job that workers have, also how far they are with it."""
        if self.state != "sent" or not self.ticket or self.answer:
            return self.state
        return "started" if self.worker else "queued"

    def is_answered_by(self, reply: bytes) -> bool:
        """Whether these bytes are what came back. If not, somebody else put them there."""
        return self.answer == sha256(reply).hexdigest()

    def is_asked_by(self, prompt: bytes, run: str, step: str, round: int) -> bool:
        """Whether its id is that of this question. If not, it is not a record of any."""
        return self.job_id == job_id(run, step, round, self.name, prompt)


def job_id(run: str, step: str, round: int, name: str, prompt: bytes) -> str:
    """The same question to the same agent is the same job: its answer is paid for once."""
    return of_parts((run.encode(), step.encode(), str(round).encode(), name.encode(), prompt))


def render(record: Record) -> bytes:
    return (plain_json.dumps({**record._asdict(), "files": dict(record.files)}) + "\n").encode()


def read(document: Mapping[str, Any]) -> Record | None:
    """None when the record cannot be trusted; the dispatch is then sent again."""
    from qrspi.core.agents.replies import Kind

    texts = ("job_id", "name", "role", "vendor", "model", "transport", "problem", "broker_job")
    values = {key: document.get(key) for key in texts}
    attempt, files = document.get("attempt"), document.get("files")
    if not all(isinstance(value, str) for value in values.values()):
        return None
    if document.get("reply") not in get_args(Kind) or document.get("state") not in get_args(State):
        return None
    if type(attempt) is not int or not isinstance(files, dict):
        return None
    if not all(_is_id(string(document, key)) for key in ("broker_job", "ticket")):
        return None
    return Record(
        **cast(dict[str, Any], values),
        attempt=attempt,
        reply=document["reply"],
        state=document["state"],
        second_try=document.get("second_try") is True,
        files={str(key): str(value) for key, value in files.items()},
        answer=string(document, "answer"),
        ticket=string(document, "ticket"),
        worker=string(document, "worker"),
        question=string(document, "question"),
        rejected=string(document, "rejected"),
        sparse=document.get("sparse") is True,
        called=document.get("called") is True,
    )


def _is_id(text: str) -> bool:
    """Brokers are handed these again: one as an argument of a program, one as the name of a queue
    to delete."""
    return not text or patterns.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", text) is not None
