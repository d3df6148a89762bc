"""The dispatch folder of a run, where prompts wait and answers arrive. One dispatcher at a time
holds it, by a lock of its own: the run's lock is free while agents work."""

from __future__ import annotations

import os
from _thread import allocate_lock  # `threading` costs a cold start
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import groupby

from qrspi.core.agents import dispatch_record
from qrspi.core.agents.dispatch_record import Record
from qrspi.core.filenames import DISPATCH
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.tree import Fault, entries
from qrspi.world.files import atomic_write, json_log, lock
from qrspi.world.files.atomic_write import reporting_errors
from qrspi.world.files.run_tree import DiskTree, closing

if TYPE_CHECKING:
    from qrspi.core.agents.replies import Kind

LOCK = "dispatch-lock"
JOBS = "jobs.jsonl"  # in each folder: what became of its dispatches, the newest line counts
ASKED = ".asked"  # after the name of an agent whose answer is being written
SECOND_TRY = "-again"  # after the name of an agent whose first answer was not good enough


class DispatchFolder:
    """A place is a prompt's path without `.md`: `.qrspi/dispatch/goals/round-01/quality-claude`."""

    def __init__(self, path: str, root: int) -> None:
        self.path = path
        self._root = root
        self._guard = allocate_lock()
        self._open = True
        self._records: dict[str, dict[str, Record]] = {}  # by folder, then by name

    def record(self, place: str) -> Record | None:
        folder, _, name = place.rpartition("/")
        with self._guard:
            return self._of(folder).get(name)

    def keep(self, place: str, record: Record) -> None:
        self.keep_all({place: record})

    def note(self, place: str, record: Record) -> None:
        """How far it is. Nothing depends on it, so it may be lost in a power failure."""
        self.keep_all({place: record}, sync=False)

    def keep_all(self, records: Mapping[str, Record], *, sync: bool = True) -> None:
        for folder, names in _by_folder(records):
            known = [records[f"{folder}/{name}"] for name in names]
            lines = b"".join(map(dispatch_record.render, known))
            path = f"{folder}/{JOBS}"
            with self._guard, self._below(path, folder, make=True) as directory:
                if self._open:
                    before = self._of(folder)
                    json_log.append(directory, JOBS, lines, path, sync=sync)
                    before |= {record.name: record for record in known}

    def _of(self, folder: str) -> dict[str, Record]:
        if folder not in self._records:
            self._records[folder] = read_records(self.path, folder)
        return self._records[folder]

    def awaited(self, job: str) -> tuple[str, Record] | None:
        for folder in _folders(DiskTree(self.path), DISPATCH):
            with self._guard:
                known = self._of(folder).values()
            for record in known:
                if record.broker_job == job and record.state == "sent" and not record.answer:
                    return f"{folder}/{record.name}", record
        return None

    def reply(self, place: str) -> bytes | None:
        return self._content(f"{place}.reply")

    def _content(self, path: str) -> bytes | None:
        from qrspi.core.agents.replies import LIMIT

        data = DiskTree(self.path).read(path, LIMIT + 1)
        return None if isinstance(data, Fault) else data

    def answer(self, place: str, record: Record) -> bytes | None:
        data = self.reply(f"{place}{SECOND_TRY}" if record.second_try else place)
        return data if data is not None and record.is_answered_by(data) else None

    def keep_asked(self, place: str, prompt: bytes) -> None:
        """Its job id was made of this; a prompt that is rendered later may quote its files."""
        self._put(f"{place}{ASKED}", prompt)

    def asked(self, place: str) -> bytes:
        return self._content(f"{place}{ASKED}") or b""

    def prompt(self, place: str) -> bytes:
        return self._content(f"{place}.md") or b""

    def capture(self, place: str, data: bytes, reply: Kind | None = None, worker: str = "") -> str:
        """Its hash goes on record first: without that, nobody knows who wrote a reply."""
        digest = atomic_write.sha256(data)
        if record := self.record(place):
            by = worker or record.worker
            record = record._replace(answer=digest, reply=reply or record.reply, worker=by)
            self.keep(place, record)
        self._put(f"{place}.reply", data)
        return digest

    def prompts(self, texts: Iterable[tuple[str, bytes]]) -> None:
        """Each is written as it comes, and not synced: a prompt can be rendered again."""
        due = texts if self._open else ()
        for folder, those in groupby(due, lambda text: text[0].rpartition("/")[0]):
            with self._below(f"{folder}/", folder, make=True) as directory:
                for place, text in those:
                    _write_prompt(directory, f"{place.rpartition('/')[2]}.md", text)

    def discard(self, places: Iterable[str]) -> None:
        """Before the same question is asked again: an old answer must not pass for the new one."""
        for folder, names in _by_folder(places):
            with suppress(FileNotFoundError), self._below(folder, folder, make=False) as directory:
                old = {f"{name}{end}" for name in names for end in (".reply", ".result", ASKED)}
                known = old.intersection(os.listdir(directory))
                for name in known:
                    os.unlink(name, dir_fd=directory)
                if known:
                    atomic_write.sync(directory)

    def result_file(self, place: str) -> str:
        return f"{self.path}/{place}.result"

    def close(self) -> None:
        with self._guard:
            self._open = False

    def _put(self, path: str, data: bytes) -> None:
        parent, _, name = path.rpartition("/")
        part = f".{name}.part"
        with self._below(path, parent, make=True) as directory:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=directory)
            atomic_write.fill(directory, part, data)
            # Once the lock is released, a thread leaves everything as it is.
            if self._open:
                atomic_write.put(directory, part, name)

    @contextmanager
    def _below(self, path: str, parent: str, *, make: bool) -> Iterator[int]:
        with (
            reporting_errors(path, absent_is_fine=not make),
            atomic_write.below(self._root, parent, make) as fd,
        ):
            yield fd


def _folders(tree: DiskTree, folder: str) -> Iterator[str]:
    yield folder
    for entry in entries(tree, folder):
        if entry.kind == "dir":
            yield from _folders(tree, f"{folder}/{entry.name}")


def _by_folder(places: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    by_folder: dict[str, list[str]] = {}
    for place in places:
        folder, _, name = place.rpartition("/")
        by_folder.setdefault(folder, []).append(name)
    yield from by_folder.items()


def _write_prompt(directory: int, name: str, data: bytes) -> None:
    part = f".{name}.part"
    with suppress(FileNotFoundError):
        os.unlink(part, dir_fd=directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with closing(os.open(part, flags, 0o666, dir_fd=directory)) as fd:
        atomic_write.write_all(fd, data)
    os.replace(part, name, src_dir_fd=directory, dst_dir_fd=directory)


def read_records(run: str, folder: str) -> dict[str, Record]:
    return {record.name: record for record in _lines(run, folder) if isinstance(record, Record)}


def unanswered(run: str) -> tuple[tuple[str, Record], ...]:
    """Calls that were begun, each with its folder. What a broker or a worker has is not lost."""
    newest: dict[tuple[str, int], tuple[str, Record]] = {}
    for folder in _folders(DiskTree(run), DISPATCH):
        for record in _lines(run, folder):
            if isinstance(record, Record):
                newest[record.job_id, record.attempt] = folder, record
    return tuple((folder, one) for folder, one in newest.values() if _is_unanswered(one))


def _is_unanswered(record: Record) -> bool:
    return record.called and record.state == "sent" and not (record.answer or record.broker_job)


def broken_lines(run: str, folder: str) -> tuple[Problem, ...]:
    """What is wrong in the folder's log. The agent that a broken line is about is sent again."""
    return tuple(record for record in _lines(run, folder) if isinstance(record, Problem))


def _lines(run: str, folder: str) -> Iterator[Record | Problem]:
    path = f"{folder}/{JOBS}"
    for line in json_log.read(DiskTree(run), path):
        if isinstance(line, Problem):
            yield line
        else:
            yield dispatch_record.read(line.record) or _no_record(path, f"line {line.line}")


def _no_record(path: str, line: str) -> Problem:
    text = f"{path} {line} is not a record of a dispatch: it does not count, the other lines do"
    return Problem("bad-record", text, path, line, expected="a record of a dispatch")


@contextmanager
def held(path: str, timeout: float, command: str) -> Iterator[DispatchFolder]:
    busy = partial(_busy, path.rpartition("/")[2], timeout)
    with lock.held(path, LOCK, timeout, command, busy) as grip:
        mailbox = DispatchFolder(path, grip.folder)
        try:
            yield mailbox
        finally:
            mailbox.close()


def _busy(run: str, timeout: float, holder: str) -> Problem:
    text = (
        f"agents of run {run} are being sent by {holder}, waited {timeout:g} s: "
        "try again when it is done"
    )
    return Problem("busy", text, found=holder, hint=f"qrspi dispatch list {run}")
