"""An index file that says what the work tree really holds.

Not a copy of the repository's, which may say `assume-unchanged`, be split or sparse, and knows
bytes only as the filters left them. With the names, sizes and times of the files in it, git need
not hash them a second time; one that is newer than the index it hashes all the same.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import time
from collections.abc import Sequence
from typing import NamedTuple

from qrspi.world.git.repository import Repo, Tracked

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BLOCK = 1024 * 1024
_SECOND = 10**9
_UNKNOWN = (0,) * 9


class _Seen(NamedTuple):
    """A file as it was read: its blob's name, and the times and numbers git compares."""

    object: str
    numbers: tuple[int, ...]


def put(path: str, repo: Repo, entries: Sequence[Tracked]) -> None:
    """Write an index, version 2, of these entries."""
    begin = time.time_ns() - _SECOND
    data = _index(repo, entries)
    with open(path, "xb") as file:
        file.write(data)
    # What changes after this moment is newer than the index, and git does not believe it then.
    os.utime(path, ns=(begin, begin))


def _index(repo: Repo, entries: Sequence[Tracked]) -> bytes:
    unique = {os.fsencode(entry.name): entry for entry in entries}
    body = [b"DIRC" + struct.pack(">II", 2, len(unique))]
    body += (_record(repo, name, entry) for name, entry in sorted(unique.items()))
    data = b"".join(body)
    return data + hashlib.new(repo.hash, data).digest()


def _record(repo: Repo, name: bytes, entry: Tracked) -> bytes:
    seen = _look(os.path.join(repo.root, entry.name), repo.hash)
    oid, numbers = seen or _Seen(entry.object, _UNKNOWN)
    *times, device, inode, user, group, size = numbers
    fields = (*times, device, inode, int(entry.mode, 8), user, group, size)
    flags = struct.pack(">H", min(len(name), 0xFFF))
    record = struct.pack(">10I", *fields) + bytes.fromhex(oid) + flags + name
    return record + bytes(8 - len(record) % 8)


def _look(path: str, algorithm: str) -> _Seen | None:
    """None for what is no regular file, or cannot be read: git then looks for itself."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        oid = _blob(fd, found.st_size, algorithm) if stat.S_ISREG(found.st_mode) else None
    finally:
        os.close(fd)
    return _Seen(oid, _numbers(found)) if oid else None


def _blob(fd: int, size: int, algorithm: str) -> str | None:
    """The name git gives these bytes; None when they are not as many as was said."""
    digest = hashlib.new(algorithm, b"blob %d\0" % size)
    block = memoryview(bytearray(min(_BLOCK, size + 1)))
    while count := os.readv(fd, [block]):
        digest.update(block[:count])
        size -= count
    return digest.hexdigest() if size == 0 else None


def _numbers(found: os.stat_result) -> tuple[int, ...]:
    changed, modified = (divmod(ns, _SECOND) for ns in (found.st_ctime_ns, found.st_mtime_ns))
    rest = (found.st_dev, found.st_ino, found.st_uid, found.st_gid, found.st_size)
    return tuple(number & 0xFFFFFFFF for number in (*changed, *modified, *rest))
