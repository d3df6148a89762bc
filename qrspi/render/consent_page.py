"""What a repository names and its user has to allow, as documents and as lines."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from qrspi.core.trust import DEED, NamedThing
from qrspi.render.terminal import one_line
from qrspi.world.consent.allowed_things import Allowance


def document(named: NamedThing, allowed: bool) -> dict[str, Any]:
    return {
        "kind": named.kind,
        "field": named.field,
        "text": named.text,
        "variables": list(named.variables),
        "headers": list(named.headers),
        "allowed": allowed,
    }


def lines(named: Iterable[NamedThing], known: frozenset[NamedThing] = frozenset()) -> list[str]:
    return [line for one in named for line in _lines(one, one in known)]


def _lines(named: NamedThing, known: bool) -> list[str]:
    source = "the text of that file" if named.kind == "role" else named.field
    headers = f"with the headers {', '.join(named.headers)}" if named.headers else ""
    details = [source, named.given, headers, "allowed already" if known else ""]
    return [
        f"  {DEED[named.kind]} {one_line(named.text)}",
        f"      {one_line('; '.join(filter(None, details)))}",
    ]


def entry_lines(entries: Iterable[Allowance]) -> list[str]:
    lines: list[str] = []
    for project, those in groupby(entries, lambda entry: entry.project):
        lines.append(one_line(project))
        for entry in those:
            deed = DEED[entry.kind]
            lines.append(one_line(f"  {deed} {entry.text} (by {entry.by}, {entry.time})"))
    return lines or ["Nothing is allowed yet."]
