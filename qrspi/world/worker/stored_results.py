"""Answers that a worker has paid for, each in a file named by its job, kept for a week. No lock
guards them: a file is whole or not there, and a second writer writes an answer too."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from qrspi.core.fleet import queues, result_message
from qrspi.core.fleet.result_message import Answered
from qrspi.core.tree import Fault
from qrspi.world.files import atomic_write
from qrspi.world.files.run_tree import DiskTree, closing, opened

LIMIT = 64 * 1024 * 1024


class StoredResults:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        with atomic_write.reporting_errors(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            os.chmod(folder, 0o700)

    def find(self, job: str) -> Answered | None:
        data = DiskTree(self._folder).read(job, LIMIT)
        word = None if isinstance(data, Fault) else result_message.read(data, {})
        return word if isinstance(word, Answered) and word.job == job else None

    def keep(self, answer: Answered) -> None:
        """Only successes: a call that failed may be made again. Whole, though not synced: with the
        power the worker is lost too, and what it had to answer is asked for again."""
        part = f".{answer.job}.part"
        with atomic_write.reporting_errors(self._folder), opened(self._folder) as directory:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            with closing(os.open(part, flags, 0o600, dir_fd=directory)) as fd:
                atomic_write.write_all(fd, result_message.render(answer))
            os.replace(part, answer.job, src_dir_fd=directory, dst_dir_fd=directory)

    def forget_old(self) -> None:
        oldest = time.time() - queues.RESULTS_KEPT
        for entry in os.scandir(self._folder):
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
