"""Changes of one top-level field in YAML text; every other character stays."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qrspi.core.yaml.nodes import Document, Entry
from qrspi.core.yaml.reader import quote


def is_editable(text: str, document: Document, key: str) -> bool:
    """Fields have lines of their own: no `{a: b}`, no `? key`."""
    entry = document.entries.get(key)
    if entry is None:
        return document.block
    return document.block and not text[_line_start(text, entry.start) : entry.start].strip(" ")


def put(text: str, document: Document, key: str, value: str, newline: str) -> str:
    """The value on the key's own line; a new key becomes the last line."""
    entry = document.entries.get(key)
    if entry is None:
        return _appended(text, document, [f"{quote(key)}: {value}"], newline)
    if _is_below(text, entry):
        return f"{text[: entry.colon]} {value}{_value_cut_out(text, entry)}"
    gap = text[entry.colon : entry.value] or " "
    rest = _header_comment(text, entry) + text[entry.end :]
    return f"{text[: entry.colon]}{gap}{value}{rest}"


def put_lines(text: str, document: Document, key: str, lines: Sequence[str], newline: str) -> str:
    """The value on lines of their own below the key, indented like those they replace."""
    entry = document.entries.get(key)
    if entry is None:
        below = [f"  {line}" for line in lines]
        return _appended(text, document, [f"{quote(key)}:", *below], newline)
    old: dict[str, str] = {}
    if _is_below(text, entry):
        start, end = _line_start(text, entry.value), _line_end(text, entry.end)
        indent, old = text[start : entry.value], _items(text[start:end])
    else:
        text = text[: entry.colon] + _header_comment(text, entry) + text[entry.end :]
        start = end = _line_end(text, entry.colon)
        indent = " " * (document.column + 2)
    new = "".join(old.get(line) or f"{indent}{line}{newline}" for line in lines)
    return text[:start] + new + text[end:]


def remove(text: str, entry: Entry) -> str:
    return text[: _line_start(text, entry.start)] + text[_line_end(text, entry.end) :]


def _appended(text: str, document: Document, lines: Sequence[str], newline: str) -> str:
    indent = " " * document.column
    return text + "".join(f"{indent}{line}{newline}" for line in lines)


def _is_below(text: str, entry: Entry) -> bool:
    """The value starts on a later line than its key."""
    return "\n" in text[entry.colon : entry.value]


def _value_cut_out(text: str, entry: Entry) -> str:
    """What stands behind the colon, without the value; a comment behind it keeps its line."""
    start, end = _line_start(text, entry.value), _line_end(text, entry.end)
    tail = text[entry.end : end].lstrip(" \t")
    kept = text[start : entry.value] + tail if tail.strip() else ""
    return text[entry.colon : start] + kept + text[end:]


def _header_comment(text: str, entry: Entry) -> str:
    """The comment behind the `|` or `>` of a block scalar, which stands inside the value."""
    header = re.match(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)?", text[entry.value : entry.end])
    return (header and header[1]) or ""


def _items(text: str) -> dict[str, str]:
    """The lines of a block list by their content, so that an item that stays keeps its comment."""
    lines = text.splitlines(keepends=True)
    return {line.partition(" #")[0].strip(): line for line in lines if line.lstrip()[:2] == "- "}


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    return (text.find("\n", index) + 1) or len(text)
