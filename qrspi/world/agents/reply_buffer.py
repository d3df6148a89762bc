"""What an agent says, as it comes. A long answer waits on disk, so that thirty of them at once take
no more memory than one that is read."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile

USUAL = 256 * 1024  # bytes; hardly any answer is longer


class Hearing:
    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=USUAL)  # noqa: SIM115  # `whole` closes it
        self.size = 0

    @property
    def is_long(self) -> bool:
        return self.size > USUAL

    def add(self, block: bytes) -> None:
        self._file.write(block)
        self.size += len(block)

    def close(self) -> None:
        self._file.close()

    def whole(self) -> bytes:
        """To be asked once."""
        with self._file:
            self._file.seek(0)
            return self._file.read()
