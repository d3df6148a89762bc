"""An installation as a list of changed files, and the record that is needed to undo it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from qrspi.core.hints import Any
from qrspi.core.installing import file_edit
from qrspi.core.installing.file_edit import Edited, Unfit
from qrspi.core.installing.host_parts import Content, HostName, Part
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple


class Put(NamedTuple):
    hosts: tuple[str, ...]
    inserted: tuple[str, ...]
    made: bool = True  # we made the file; before, it did not exist


Record = Mapping[str, Put]  # by file
Texts = Callable[[str], str | None]


class FileChange(NamedTuple):
    file: str
    before: str | None
    after: str | None

    @property
    def is_change(self) -> bool:
        return self.before != self.after


class Plan(NamedTuple):
    changes: tuple[FileChange, ...]
    record: Record


def install(
    host: HostName, parts: tuple[Part, ...], record: Record, texts: Texts
) -> Plan | Problem:
    changes: list[FileChange] = []
    kept = dict(record)
    for part in parts:
        known = record.get(part.file, Put((), ()))
        before = texts(part.file)
        bare = _bare(before, part.content, known)
        edited = file_edit.with_part(bare, part.content)
        if isinstance(edited, Unfit):
            text = f"{part.file} is left as it is, and so is everything else: {edited.why}"
            return Problem("unfit-file", text, file=part.file, found=edited.why)
        hosts = tuple(sorted({*known.hosts, host}))
        kept[part.file] = Put(hosts, edited.inserted, made=bare is None)
        changes.append(FileChange(part.file, before, edited.text))
    return Plan(tuple(changes), kept)


def _bare(text: str | None, content: Content, known: Put) -> str | None:
    """The file as it would be without us; None for no file."""
    if text is None or not file_edit.holds_part(text, content):
        return text
    bare = file_edit.without_part(text, content, known.inserted)
    return None if known.made and file_edit.is_blank(bare, content) else bare


def uninstall(host: HostName, parts: tuple[Part, ...], record: Record, texts: Texts) -> Plan:
    """A file that another host shares stays as it is."""
    changes: list[FileChange] = []
    kept = dict(record)
    for part in parts:
        known = record.get(part.file, Put((host,), ()))
        before = texts(part.file)
        others = tuple(name for name in known.hosts if name != host)
        if others:
            kept[part.file] = known._replace(hosts=others)
            continue
        kept.pop(part.file, None)
        if before is not None and file_edit.holds_part(before, part.content):
            changes.append(FileChange(part.file, before, _bare(before, part.content, known)))
    return Plan(tuple(changes), kept)


def is_current(part: Part, text: str | None) -> bool | None:
    """None when nothing of ours is there; False for another version, or for only a part of it."""
    if text is None or not file_edit.holds_part(text, part.content):
        return None
    bare = file_edit.without_part(text, part.content, ())
    edited = file_edit.with_part(bare or None, part.content)
    return isinstance(edited, Edited) and _same(edited.text, text)


def _same(first: str, two: str) -> bool:
    if first.split() == two.split():
        return True
    try:
        return bool(json.loads(first) == json.loads(two))
    except ValueError:
        return False


def read_record(data: bytes) -> Record:
    """A record that cannot be read says nothing; our parts are then recognised by their content."""
    try:
        document: Any = json.loads(data)
        return {
            str(file): Put(
                tuple(map(str, one["hosts"])), tuple(map(str, one["inserted"])), bool(one["made"])
            )
            for file, one in document["files"].items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def record_text(record: Record) -> bytes:
    files = {file: put._asdict() for file, put in sorted(record.items())}
    document = {"schema": "qrspi/install-record/v1", "files": files}
    return json.dumps(document, indent=1).encode() + b"\n"
