"""A reader for the flat YAML that frontmatter nearly always is. What it does not surely
understand it leaves alone (None), and ruamel.yaml reads it."""

from __future__ import annotations

import re

from qrspi.core.nodes import Node, Scalar

_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,127}): +([A-Za-z0-9_./][^\n]*?) *")
_WORDS = frozenset("null Null NULL true True TRUE false False FALSE".split())


def read(text: str) -> dict[str, Node] | None:
    fields: dict[str, Node] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if not match or not line.isprintable():
            return None
        key, value = match.groups()
        if key in fields or key in _WORDS or ": " in value or " #" in value or value[-1] == ":":
            return None
        fields[key] = Scalar(value, value, number, match.start(2) + 1)
    return fields
