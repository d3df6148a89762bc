"""YAML that fails only because of an unquoted colon or quote in a field that decides nothing."""

import re
from collections.abc import Iterator

from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml import frontmatter, reader
from qrspi.core.yaml.nodes import Node, Scalar


class Loose(NamedTuple):
    fields: dict[str, Node]
    unquoted: tuple[str, ...]  # the keys whose values were taken literally


class _Entry(NamedTuple):
    key: str  # '' for lines that belong to no field
    lines: list[str]

    @property
    def value(self) -> str:
        first = self.lines[0][len(self.key) + 1 :]
        return " ".join(line.strip() for line in (first, *self.lines[1:])).strip()


_KEY = r"([A-Za-z_][A-Za-z0-9_-]*):(?=[ \t]|$)"


def _entries(text: str) -> Iterator[_Entry]:
    entry = _Entry("", [])
    for line in text.replace("\r\n", "\n").split("\n"):
        match = re.match(_KEY, line)
        if match or (line and line[0] not in " \t"):
            yield entry
            entry = _Entry(match[1] if match else "", [])
        entry.lines.append(line)
    yield entry


def block(data: bytes) -> str | None:
    """The text of a complete frontmatter block, whether or not it is YAML."""
    head = data[: len(data) - len(frontmatter.body(data))]
    _, newline, inner = head.partition(b"\n")
    end = inner.rfind(b"---")
    return inner[:end].decode(errors="replace") if newline and end >= 0 else None


def keys(text: str) -> list[str]:
    """In order and with repetitions."""
    return [entry.key for entry in _entries(text) if entry.key]


def read(text: str, deciding: frozenset[str]) -> Loose | None:
    """None when the text is broken in any other way, or in a field that decides something."""
    entries = list(_entries(text))
    named = [entry.key for entry in entries if entry.key]
    loose: dict[str, Node] = {
        entry.key: Scalar(entry.value, entry.value, 1, 1)
        for entry in entries
        if entry.key and entry.key not in deciding and _wants_quotes(entry.value)
    }
    if not loose or len(set(named)) < len(named):
        return None
    rest = "\n".join(line for entry in entries if entry.key not in loose for line in entry.lines)
    fields = reader.parse(rest)
    return None if isinstance(fields, Problem) else Loose(fields | loose, tuple(loose))


def _wants_quotes(value: str) -> bool:
    # A value that begins with &, * or ! is an anchor, an alias or a tag, and is never accepted.
    if value[:1] in ("&", "*", "!", "|", ">"):
        return False
    return ": " in value or value.endswith(":") or any(mark in value for mark in "\"'`")
