"""Whole files or none: a temporary beside the target, filled, synced, then renamed.

Everything here works on a directory's descriptor, so that no name is looked up twice and no
symlink can be slipped in between. Failures are OSErrors; the workspace words them.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from qrspi.world.files.run_tree import step_into

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 1024 * 1024
# No hard links on FAT, some network and some FUSE file systems.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

LEFTOVER = re.compile(r"\..*\.qrspi-[0-9a-f]{16}\.tmp")

_MINE = os.urandom(4).hex()  # of this process


@contextmanager
def below(directory: int, path: str, make: bool) -> Iterator[int]:
    """A descriptor of a directory below another, reached through no symlink."""
    fd = os.dup(directory)
    try:
        for part in path.split("/") if path else ():
            inner = enter(fd, part, make)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def enter(directory: int, name: str, make: bool) -> int:
    try:
        return step_into(directory, name)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)
    sync(directory)
    return step_into(directory, name)


def temporary_name(name: str) -> str:
    return f".{name[:40]}.qrspi-{_MINE}{os.urandom(4).hex()}.tmp"


def is_mine(name: str) -> bool:
    """Whether this process made the temporary of that name."""
    return f".qrspi-{_MINE}" in name and LEFTOVER.fullmatch(name) is not None


@contextmanager
def temporary(directory: int, name: str, data: bytes, mode: int | None = None) -> Iterator[str]:
    """A synced file beside `name`, gone at the end unless it was renamed."""
    temp = temporary_name(name)
    try:
        fill(directory, temp, data, mode)
        yield temp
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=directory)


def fill(directory: int, name: str, data: bytes, mode: int | None = None) -> None:
    fd = os.open(name, _NEW, 0o666, dir_fd=directory)
    try:
        write_all(fd, data)
        if mode is not None:
            os.fchmod(fd, mode)
        os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def put(directory: int, temp: str, name: str) -> None:
    os.replace(temp, name, src_dir_fd=directory, dst_dir_fd=directory)
    sync(directory)


def put_new(directory: int, temp: str, name: str) -> None:
    """Fails with FileExistsError when anything has the name."""
    link_new(directory, temp, name)
    sync(directory)


def link_new(directory: int, temp: str, name: str) -> None:
    try:
        os.link(temp, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if exists(directory, name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        os.replace(temp, name, src_dir_fd=directory, dst_dir_fd=directory)


def sync(directory: int) -> None:
    try:
        os.fsync(directory)
    except OSError as error:
        # Some network and FUSE file systems cannot sync a directory and say EINVAL.
        if error.errno != errno.EINVAL:
            raise


def exists(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_regular(directory: int, name: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; OSError for everything else that may have the name."""
    safe = flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(name, safe, 0o666, dir_fd=directory)
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    raise OSError(errno.EINVAL, "Not a regular file", name)


class Present(NamedTuple):
    """What has the name now: the hash of its bytes, and the mode a replacement keeps."""

    sha: str
    mode: int


def present(directory: int, name: str) -> Present | None:
    try:
        fd = open_regular(directory, name)
    except FileNotFoundError:
        return None
    try:
        return Present(_digest(fd), stat.S_IMODE(os.fstat(fd).st_mode))
    finally:
        os.close(fd)


def sha256(data: bytes) -> str:
    from hashlib import sha256 as new_digest  # loads OpenSSL, which no reader of a log needs

    return new_digest(data).hexdigest()


def _digest(fd: int) -> str:
    from hashlib import sha256 as new_digest

    digest = new_digest()
    while data := os.read(fd, _BLOCK):
        digest.update(data)
    return digest.hexdigest()
