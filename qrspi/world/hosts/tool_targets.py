"""The files that a tool call is about to change, as they are now and as they would be."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

from qrspi.core.hosts.verdict import Change
from qrspi.core.hosts.written_files import (
    Committed,
    Copied,
    Gone,
    Replaced,
    RunFile,
    Source,
    Text,
    Unseen,
    Write,
    run_file,
)
from qrspi.core.tree import BODY_LIMIT, Fault
from qrspi.world.files.run_tree import DiskTree, not_waiting

_MOST = 200  # files that one wildcard stands for


def in_runs(writes: Iterable[Write]) -> tuple[Write, ...]:
    return tuple(real for write in writes for real in _spelled(write) if _is_run(real.path))


def _spelled(write: Write) -> Iterator[Write]:
    for by in _sources(write.by):
        for path in _matching(write.path):
            with suppress(OSError, ValueError):
                real = os.path.realpath(_inside(path, by))
                yield Write(real, by, write.guessed)
                if isinstance(by, Gone):
                    yield from (Write(inner, by) for inner in _runs_below(real))


def _sources(by: Source) -> Iterator[Source]:
    match by:
        case Copied(path):
            yield from map(Copied, _matching(path))
        case _:
            yield by


def _matching(path: str) -> list[str]:
    if not any(sign in path for sign in "*?["):
        return [path]
    # Imported here: few commands have wildcards.
    from glob import iglob
    from itertools import islice

    return list(islice(iglob(path, recursive=True), _MOST)) or [path]


def _runs_below(path: str) -> Iterator[str]:
    """Of a folder that holds all runs of a project, which goes with them."""
    for folder in (path, f"{path}/qrspi", f"{path}/docs/qrspi"):
        if folder.endswith("/docs/qrspi") and os.path.isdir(folder):
            yield from (one.path for one in os.scandir(folder))


def _inside(path: str, by: Source) -> str:
    """A copy into a folder keeps its own name there."""
    if isinstance(by, Copied) and os.path.isdir(path) and not os.path.isdir(by.path):
        return os.path.join(path, os.path.basename(by.path))
    return path


def _is_run(path: str) -> bool:
    file = run_file(path)
    if file is None:
        return False
    there = (os.path.lexists(f"{place(file)}/{name}") for name in ("config.md", "goals.md"))
    return file.run == ".qrspi" or any(there)


def change(write: Write, cwd: str) -> Change | None:
    file = run_file(write.path)
    if file is None:
        return None
    folder = DiskTree(place(file))
    before = folder.read(file.name) if file.name else Fault("absent")
    known = None if isinstance(before, Fault) else before
    is_folder = os.path.isdir(write.path)
    found = Change(file, before=known, is_folder=is_folder, guessed=write.guessed)
    match write.by:
        case Unseen(words):
            return found._replace(words=words or " ")
        case Gone():
            return found
        case Committed(commit):
            return found._replace(after=_committed(commit, write.path, cwd), restored=True)
        case _:
            return found._replace(after=_after(write.by, known))


def _after(by: Text | Replaced | Copied, before: bytes | None) -> bytes | None:
    match by:
        case Text(text, append):
            data = text.encode("utf-8", "surrogateescape")
            return (before or b"") + data if append else data
        case Replaced(old, new, everywhere):
            text = (before or b"").decode("utf-8", "surrogateescape")
            changed = text.replace(old, new, -1 if everywhere else 1) if old else new
            return changed.encode("utf-8", "surrogateescape")
        case Copied(path):
            return _content(path)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb", opener=not_waiting) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return file.read(BODY_LIMIT) if regular else b""
    except (OSError, ValueError):
        return b""


def _committed(commit: str, path: str, cwd: str) -> bytes | None:
    from qrspi.core.errors import Refusal
    from qrspi.world.git import command

    folder, _, name = path.rpartition("/")
    told = commit if ":" in commit else f"{commit}:./{name}"
    place = cwd if ":" in commit else folder
    with suppress(Refusal):
        said = command.read(place, ["cat-file", "blob", "--end-of-options", told], ok=(0, 128, 129))
        return None if said.status else said.out
    return None


def place(file: RunFile) -> str:
    return f"{file.project}/docs/qrspi/{file.run}"
