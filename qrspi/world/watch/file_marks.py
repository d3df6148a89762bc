"""Which files below a folder have changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

Marks = Mapping[str, tuple[int, int, int]]  # by path below the folder


def marks(folder: str) -> Marks:
    """Without hidden folders: what the engine keeps there changes with every look."""
    return dict(_below(folder, ""))


def changed(before: Marks, after: Marks) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def _below(folder: str, prefix: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    try:
        entries = list(os.scandir(f"{folder}/{prefix}"))
    except OSError:  # gone, or not ours to read: then it has no files
        return
    for entry in entries:
        path = f"{prefix}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield from _below(folder, f"{path}/")
        elif mark := _mark(entry):
            yield path, mark


def _mark(entry: os.DirEntry[str]) -> tuple[int, int, int] | None:
    try:
        stat = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
