"""Whether a file still has all that git's index has of it, seen without starting git. A look at a
run cannot wait for git, nor pay for the modules that ask it."""

from __future__ import annotations

import os
import stat

_LIMIT = 16 * 1024 * 1024  # of an index; a larger one costs more than the look at the run
_OBJECT = 20
_FLAGS = 2
_MORE_FLAGS = 2  # of a file that git is told not to look at
_STAT = 40
_FIXED = _STAT + _OBJECT + _FLAGS  # of an entry, before its name


def may_lack(run: str, path: str) -> bool:
    """False also where the index does not tell: it has no such file, or shortens names (version 4).
    Whoever decides asks git itself."""
    place = f"{run}/{path}"
    entry = _entry(place)
    return entry is not None and not (_is_untouched(place, entry) or _has_all(place, entry))


def _entry(place: str) -> bytes | None:
    """The entry of a file, up to its name. A folder that is reached by a link has none."""
    root = place.rpartition("/")[0]
    while root and not os.path.lexists(f"{root}/.git"):
        root = root.rpartition("/")[0]
    index = _content(f"{_git_dir(root)}/index") if root else None
    name = os.fsencode(place[len(root) + 1 :])
    at = index.find(name + b"\0") if index else -1
    while index and at >= 0:
        for end in (at, at - _MORE_FLAGS):
            # Only there, and not within a longer name, or in the middle of a merge.
            if int.from_bytes(index[end - _FLAGS : end], "big") & 0x3FFF == len(name):
                return index[end - _FIXED : end]
        at = index.find(name + b"\0", at + 1)
    return None


def _git_dir(root: str) -> str:
    link = _content(f"{root}/.git") if os.path.isfile(f"{root}/.git") else None
    if link is None:
        return f"{root}/.git"
    target = os.fsdecode(link.removeprefix(b"gitdir: ").rstrip(b"\r\n"))
    return os.path.join(root, target)


def _word(entry: bytes, number: int) -> int:
    return int.from_bytes(entry[4 * number : 4 * number + 4], "big")


def _is_untouched(place: str, entry: bytes) -> bool:
    """As git sees it: the time of a change, its part of a second, the inode and the size."""
    try:
        now = os.lstat(place)
    except OSError:
        return False
    changed = _word(entry, 0) * 1_000_000_000 + _word(entry, 1)
    return (now.st_ctime_ns, now.st_ino & 0xFFFFFFFF, now.st_size) == (
        changed,
        _word(entry, 5),
        _word(entry, 9),
    )


def _has_all(place: str, entry: bytes) -> bool:
    """Git writes a size of nothing where it wants to look again."""
    data, size = _content(place), _word(entry, 9)
    known = entry[_STAT : _STAT + _OBJECT]
    return data is not None and known in (_named(data[:size]), _named(data))


def _named(data: bytes) -> bytes:
    import hashlib  # a file that nobody touched since its commit is not hashed

    named = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return named.digest()


def _content(place: str) -> bytes | None:
    try:
        fd = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LIMIT:
            return None
        return _all(fd, found.st_size)
    finally:
        os.close(fd)


def _all(fd: int, size: int) -> bytes:
    parts, left = [], size
    while left and (data := os.read(fd, left)):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)
