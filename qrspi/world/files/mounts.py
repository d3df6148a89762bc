"""Which file systems report changes, from the kernel's table of mounts."""

from __future__ import annotations

import os

TABLE = "/proc/self/mountinfo"

# Other machines, or the host of this one, change files there without our kernel knowing.
_SILENT = frozenset(
    """9p afs ceph cifs coda drvfs fuse fuseblk glusterfs lustre ncpfs nfs nfs4 prl_fs smb3 smbfs
    vboxsf virtiofs vmhgfs""".split()
)


def gives_events(path: str, table: str = TABLE) -> bool:
    try:
        with open(table, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError:
        return True
    kind = kind_of(os.fsencode(os.path.realpath(path)), lines)
    return kind not in _SILENT and not kind.startswith("fuse.")


def kind_of(path: bytes, lines: list[bytes]) -> str:
    """The nearest mount above the path, and the last of several mounts on one place."""
    best, found = b"", ""
    for line in lines:
        fields, _, more = line.partition(b" - ")
        words = fields.split(b" ")
        if len(words) < 5 or not more:
            continue
        place = _unescaped(words[4])
        above = place == b"/" or path == place or path.startswith(place + b"/")
        if above and len(place) >= len(best):
            best, found = place, os.fsdecode(more.split(b" ")[0])
    return found


def _unescaped(place: bytes) -> bytes:
    """White space and backslashes stand there as octal numbers."""
    return place.decode("unicode_escape").encode("latin-1") if b"\\" in place else place
