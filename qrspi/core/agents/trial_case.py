"""A case of the trial: texts for one reviewer, with what was planted in them and where. The cases
themselves are data/trial."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from qrspi.core.agents import roles
from qrspi.core.model import ChangeType, Severity
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.citations import Citation

# Lines between: who cites the heading above, or the line below, may mean the same place.
NEARNESS = (0, 1)


class Planted(NamedTuple):
    """A fault, or something that looks like one and is none."""

    id: str
    is_fault: bool
    places: tuple[Citation, ...]
    says: tuple[str, ...]  # where a place is not enough: one of these words is in the message
    but_not: tuple[str, ...]
    severity: Severity
    change_type: ChangeType
    claim: str  # as a reviewer would report it, rightly or wrongly
    why: str  # it is a fault, or none

    def is_meant(self, cited: tuple[Citation, ...], message: str, slack: int = 0) -> bool:
        told = message.lower()
        if self.says and not any(word in told for word in self.says):
            return False
        if any(word in told for word in self.but_not):
            return False
        return any(_touch(place, one, slack) for place in self.places for one in cited)


def _touch(place: Citation, cited: Citation, slack: int) -> bool:
    if place.path != cited.path.removeprefix("./"):
        return False
    if place.start is None or place.end is None:
        return True
    if cited.start is None or cited.end is None:
        return False
    return cited.start - slack <= place.end and place.start <= cited.end + slack


class Case(NamedTuple):
    name: str
    role: str
    step: str
    artifact: str
    body: tuple[str, ...]  # what is under review
    upstream: tuple[str, ...]
    planted: tuple[Planted, ...]
    files: Mapping[str, bytes]  # all of them, images too

    @property
    def tag(self) -> str:
        return f"{self.role.removeprefix('reviewer-')}-claude"

    @property
    def is_about_code(self) -> bool:
        return self.artifact not in self.body

    @property
    def faults(self) -> tuple[Planted, ...]:
        return tuple(one for one in self.planted if one.is_fault)


def read(name: str, text: bytes, files: Mapping[str, bytes]) -> Case:
    """Our own data: a mistake in it is a bug, and a KeyError or ValueError says where."""
    table = json.loads(text)
    assert roles.is_name(table["role"]), name
    return Case(
        name=name,
        role=table["role"],
        step=table["step"],
        artifact=table["artifact"],
        body=tuple(table["body"]),
        upstream=tuple(table["upstream"]),
        planted=tuple(_planted(item, files) for item in table["items"]),
        files=files,
    )


def _planted(item: Mapping[str, Any], files: Mapping[str, bytes]) -> Planted:
    return Planted(
        id=item["id"],
        is_fault=item["fault"],
        places=tuple(_place(files, *place) for place in item["at"]),
        says=tuple(item.get("says", ())),
        but_not=tuple(item.get("but_not", ())),
        severity=item["severity"],
        change_type=item["change_type"],
        claim=item["claim"],
        why=item["why"],
    )


def _place(
    files: Mapping[str, bytes], path: str, first: str | None, last: str | None = None
) -> Citation:
    """Lines are named by words in them, so that editing a text moves its places along."""
    if first is None:
        return Citation(path) if path in files else Citation(_missing(path, "the file"))
    lines = files[path].decode().split("\n")
    start = _only(lines, path, first)
    if last is None:
        return Citation(path, start, start)
    end = next((at for at, line in enumerate(lines, 1) if at >= start and last in line), 0)
    return Citation(path, start, end or _missing(path, last))


def _only(lines: list[str], path: str, words: str) -> int:
    found = list(_lines_with(lines, words))
    if len(found) != 1:
        raise ValueError(f"{path}: {words!r} is in {len(found)} lines, expected one")
    return found[0]


def _lines_with(lines: list[str], words: str) -> Iterator[int]:
    yield from (at for at, line in enumerate(lines, 1) if words in line)


def _missing(path: str, words: str) -> Any:
    raise ValueError(f"{path}: {words!r} is not there")
