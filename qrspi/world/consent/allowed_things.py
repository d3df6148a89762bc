"""What this user has allowed: a small file for each thing, named by its hash. They never lie in a
repository, where anybody who writes could allow what they like."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from qrspi.core import trust
from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.core.trust import Kind, NamedThing
from qrspi.world.files import atomic_write, own_files
from qrspi.world.files.run_tree import DiskTree, opened


class Allowance(NamedTuple):
    project: str
    kind: Kind
    field: str
    text: str
    variables: tuple[str, ...]
    by: str  # the command that allowed it
    time: str


def folder(environment: Mapping[str, str]) -> str:
    return f"{own_files.settings_folder(environment)}/trust"


def holds(place: str, project: str, named: NamedThing) -> bool:
    try:
        if folder := own_files.exchangeable(place):
            raise _unreadable(folder, "it is not yours, or others may write it")
        _only_ours(place)
        _only_ours(f"{place}/{trust.identity(project, named)}.json")
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unreadable(place, os.strerror(error.errno or 0)) from None
    return True


def _only_ours(path: str) -> None:
    if not own_files.is_ours(path):
        raise _unreadable(path, "it is not yours, or others may write it")


def _unreadable(path: str, why: str) -> Halt:
    text = f"what you have allowed cannot be read: {path}: {why}"
    return Halt(Problem("unreadable", text, file=path, hint=f"ls -ld {path}"))


def keep(place: str, project: str, named: NamedThing, by: str, time: str) -> None:
    entry = Allowance(
        project=project,
        kind=named.kind,
        field=named.field,
        text=named.text,
        variables=named.variables,
        by=by,
        time=time,
    )
    data = json.dumps(entry._asdict(), indent=1).encode() + b"\n"
    with atomic_write.reporting_errors(place):
        _make(place)
        with opened(place) as directory:
            name = f"{trust.identity(project, named)}.json"
            atomic_write.replace(directory, name, data, 0o600)


def _make(place: str) -> None:
    """A mode that is given to `makedirs` holds for the last folder alone."""
    own = os.path.dirname(place)
    for folder in (os.path.dirname(own), own, place):
        os.makedirs(folder, mode=0o700, exist_ok=True)


def forget(place: str, project: str) -> tuple[Allowance, ...]:
    allowed = [(name, entry) for name, entry in _files(place) if entry.project == project]
    with atomic_write.reporting_errors(place):
        for name, _ in allowed:
            os.unlink(f"{place}/{name}")
    return tuple(entry for _, entry in allowed)


def entries(place: str) -> tuple[Allowance, ...]:
    return tuple(sorted(entry for _, entry in _files(place)))


def _files(place: str) -> Iterator[tuple[str, Allowance]]:
    tree = DiskTree(place)
    listing = tree.entries("")
    for one in () if isinstance(listing, Fault) else listing:
        content = tree.read(one.name)
        entry = None if isinstance(content, Fault) else _entry(content)
        if entry:
            yield one.name, entry


def _entry(content: bytes) -> Allowance | None:
    try:
        fields = json.loads(content)
        entry = Allowance(**{**fields, "variables": tuple(fields["variables"])})
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return entry if entry.kind in trust.DEED else None
