"""Texts that are needed one at a time: beyond the first few they wait in a file without a name."""

from __future__ import annotations

import os

from qrspi.core.named_tuple import NamedTuple
from qrspi.world.files.atomic_write import reporting_errors, write_all

IN_MEMORY = 256 * 1024  # bytes of all of them together


class Overflow:
    """Written by one thread, read by many."""

    def __init__(self) -> None:
        self._held = 0
        self._end = 0
        self._file = -1

    def put(self, data: bytes) -> bytes | OnDisk:
        self._held += len(data)
        return data if self._held <= IN_MEMORY else self._written(data)

    def _written(self, data: bytes) -> OnDisk:
        with reporting_errors("the folder for temporary files"):
            if self._file < 0:
                self._file = self._opened()
            write_all(self._file, data)
        self._end += len(data)
        return OnDisk(self, self._end - len(data), len(data))

    def _opened(self) -> int:
        # Imported here: a command that asks a few agents needs no file.
        from tempfile import TemporaryFile

        with TemporaryFile(buffering=0) as file:
            return os.dup(file.fileno())

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    def read(self, at: int, size: int) -> bytes:
        return os.pread(self._file, size, at)


class OnDisk(NamedTuple):
    overflow: Overflow
    at: int
    size: int

    def read(self) -> bytes:
        return self.overflow.read(self.at, self.size)
