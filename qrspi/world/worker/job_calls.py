"""A job in a worker's hands: look whether it is wanted, make the call, give the answer back."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from qrspi.core.agents import replies
from qrspi.core.agents.replies import Reply
from qrspi.core.errors import Refusal
from qrspi.core.fleet import queues, result_message, worker_file
from qrspi.core.fleet.job_message import LIMIT, JobMessage
from qrspi.core.fleet.result_message import Answered, Started, TakenBack
from qrspi.core.fleet.worker_file import Allowed, WorkerFile
from qrspi.core.model import Problem
from qrspi.core.text import redaction
from qrspi.core.tree import Fault
from qrspi.world.agents import transports
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.consent import permits
from qrspi.world.files import atomic_write
from qrspi.world.files.run_tree import DiskTree, closing, opened
from qrspi.world.worker.result_line import ResultLine

_REMEMBERED = 16  # outcomes of calls, for a job that comes a second time
_LARGEST = 64 * 1024 * 1024  # bytes of a stored answer


class StoredResults:
    """What was paid for, in files named by their jobs, for a week. No lock guards them: a file is
    whole or not there, and a second writer writes an answer too."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        with atomic_write.reporting_errors(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            os.chmod(folder, 0o700)

    def find(self, job: str) -> Answered | None:
        data = DiskTree(self._folder).read(job, _LARGEST)
        word = None if isinstance(data, Fault) else result_message.read(data, {})
        return word if isinstance(word, Answered) and word.job == job else None

    def keep(self, answered: Answered) -> None:
        """Only successes: a call that failed may be made again. Whole, though not synced: with the
        power the worker is lost too, and what it had to answer is asked for again."""
        part = f".{answered.job}.part"
        with atomic_write.reporting_errors(self._folder), opened(self._folder) as directory:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            with closing(os.open(part, flags, 0o600, dir_fd=directory)) as fd:
                atomic_write.write_all(fd, result_message.render(answered))
            os.replace(part, answered.job, src_dir_fd=directory, dst_dir_fd=directory)

    def forget_old(self) -> None:
        oldest = time.time() - queues.RESULTS_KEPT
        for entry in os.scandir(self._folder):
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)


class JobCalls:
    def __init__(
        self,
        name: str,
        allowed: WorkerFile,
        wire: DispatchContext,
        line: ResultLine,
        stored: StoredResults,
        log: Callable[[str], None],
    ) -> None:
        self._name = name
        self._allowed = allowed
        self._wire = wire
        self._line = line
        self._stored = stored
        self._log = log
        self._guard = threading.Condition()
        self._running: set[str] = set()
        self._ended: OrderedDict[str, Answered] = OrderedDict()

    def carry_out(self, message: JobMessage) -> None:
        """Ends when the broker has the answer safe; the job is acknowledged after that."""
        with self._alone(message.job):
            if problem := worker_file.not_allowed(self._allowed, message.vendor, message.model):
                reported = problem._replace(message=f"{problem.message} ({self._name})")
                self._answer(message, Answered(message.job, self._name, "text", "", 0.0, reported))
                return
            self._line.say(Started(message.job, self._name), message.reply_queue)
            if not self._line.is_there(message.ticket):
                self._line.say(TakenBack(message.job, self._name), message.reply_queue)
                self._tell("taken back", message, 0.0)
                return
            with self._guard:
                ended = self._ended.get(message.job)
            if known := ended or self._stored.find(message.job):
                self._line.say(_fitting(known), message.reply_queue)
                self._tell("answered before", message, 0.0)
            else:
                self._answer(message, self._called(message))

    @contextmanager
    def _alone(self, job: str) -> Iterator[None]:
        """After a lost connection the broker may hand out a job again that this worker is at."""
        with self._guard:
            self._guard.wait_for(lambda: job not in self._running)
            self._running.add(job)
        try:
            yield
        finally:
            with self._guard:
                self._running.discard(job)
                self._guard.notify_all()

    def _called(self, message: JobMessage) -> Answered:
        allowed = self._allowed.vendors[message.vendor]
        with tempfile.TemporaryDirectory(prefix="qrspi-call-") as folder:
            sent = transports.send(self._request(message, allowed, folder), self._wire).whole()
        answered = self._made(message, allowed, sent)
        if answered.problem and answered.problem.code == "transport-interrupted":
            # This worker is told to end at once: the job goes back to the broker.
            raise Refusal(answered.problem)
        reply = replies.parse(answered.reply, answered.text.encode())
        if answered.problem is None and isinstance(reply, Reply):
            self._stored.keep(answered)
        with self._guard:
            self._ended[answered.job] = answered
            while len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)
        return answered

    def _request(self, message: JobMessage, allowed: Allowed, folder: str) -> Request:
        named = allowed.means.named
        assert named is not None
        return Request(
            name=message.name,
            step="",
            round=0,
            prompt=message.prompt.encode(errors="replace"),
            means=allowed.means,
            model=message.model,
            directory=folder,
            permit=permits.by_own_file(named),
            seconds=allowed.timeout,
        )

    def _made(self, message: JobMessage, allowed: Allowed, reply: Answer) -> Answered:
        """Keys are taken out here: nobody else knows them."""
        data, problem = redaction.without(reply.data, self._wire.keys), reply.problem
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = ""
            problem = problem or Problem("reply-not-text", "its answer is not UTF-8 text")
        if problem:
            problem = problem._replace(message=self._wire.redacted(problem.message))
        kind, seconds = allowed.means.reply, round(reply.seconds, 3)
        return Answered(message.job, self._name, kind, text, seconds, problem)

    def _answer(self, message: JobMessage, answered: Answered) -> None:
        answered = _fitting(answered)
        self._line.say(answered, message.reply_queue)
        self._tell(answered.problem.code if answered.problem else "done", message, answered.seconds)

    def _tell(self, how: str, message: JobMessage, seconds: float) -> None:
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        who = f"{message.vendor} {message.model}"
        self._log(f"{when} {message.job[:12]} {message.name} {who} {how} {seconds:.1f} s")


def _fitting(answered: Answered) -> Answered:
    if len(result_message.render(answered)) <= LIMIT:
        return answered
    problem = Problem("reply-too-large", f"its answer has more than {LIMIT} bytes as JSON")
    return answered._replace(text="", problem=problem)
