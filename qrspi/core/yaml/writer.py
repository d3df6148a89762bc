"""YAML as text: quote a value, set or remove one field and keep every other byte. Each change is
read back, and refused if it would touch anything else."""

from __future__ import annotations

import re
from collections.abc import Callable

from qrspi.core.model import Problem
from qrspi.core.yaml import frontmatter, reader
from qrspi.core.yaml.frontmatter import BOM, Front
from qrspi.core.yaml.nodes import Document, FieldSpan, Node, Scalar, shown

Change = Callable[[str, str], str | None]  # of a block's text, given how its lines end


_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./ -")
_NOT_STRINGS = frozenset("null true false yes no on off y n".split())


def quote(text: str) -> str:
    """A scalar on one line that every reader takes for this string."""
    calm = text[:1].isalpha() and text[-1] != " " and _PLAIN.issuperset(text)
    if calm and text.lower() not in _NOT_STRINGS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def sentence(text: str) -> str:
    """A line of prose as it is, if it reads back exactly; otherwise quoted."""
    node = parse_value(text)
    plain = isinstance(node, Scalar) and node.plain and node.text == text
    return text if plain else quote(text)


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def parse_value(source: str) -> Node | None:
    """The one value that this is when it follows a key, on one line."""
    if source[:1] in ("", "|", ">") or "\n" in source or "\r" in source:
        return None
    document = _locate(f"x: {source}\n", "x")
    if isinstance(document, Problem) or len(document.fields) != 1:
        return None
    entry = document.entries["x"]
    whole = (entry.value, entry.end) == (len("x: "), len("x: ") + len(source))
    return document.fields["x"] if whole else None


def set_field(data: bytes, key: str, value: str, file: str = "") -> bytes | Problem:
    """`value` is YAML source for one line. A new key becomes the last line of the block."""
    node = parse_value(value)
    if node is None:
        return _bad_value(key, value, file)
    front = frontmatter.read(data, file)
    if front is None:
        data = _with_block(data)
        front = frontmatter.read(data, file)
    if not isinstance(front, Front):
        return front or _not_editable(key, file)
    meant = {**front.fields, key: node}
    changed = rewritten(data, front, lambda text, newline: _put(text, key, value, newline), meant)
    return changed or _not_editable(key, file)


def remove_field(data: bytes, key: str, file: str = "") -> bytes | Problem:
    front = frontmatter.read(data, file)
    if isinstance(front, Problem):
        return front
    if front is None or key not in front.fields:
        return data
    meant = {name: node for name, node in front.fields.items() if name != key}
    changed = rewritten(data, front, lambda text, _: _remove(text, key), meant)
    return changed or _not_editable(key, file)


def rewritten(
    data: bytes,
    front: Front,
    change: Change,
    meant: dict[str, Node],
    says: Callable[[Node], object] | None = None,
) -> bytes | None:
    """The file after the change, if its fields then read as meant. `says` is what must be equal:
    the fields as they are written, or a part of them."""
    newline = "\r\n" if data[: front.start].endswith(b"\r\n") else "\n"
    text = change(data[front.start : front.end].decode(), newline)
    if text is None:
        return None
    block, says = text.encode(), says or _written
    result = data[: front.start] + block + data[front.end :]
    after = frontmatter.read(result)
    if not isinstance(after, Front) or after.end != front.start + len(block):
        return None
    return result if says(after.fields) == says(meant) else None


def _written(node: Node) -> object:
    """The node without positions: two that are written alike are equal."""
    if isinstance(node, Scalar):
        return node.text, node.raw
    if isinstance(node, dict):
        return [(key, _written(value)) for key, value in node.items()]
    return [_written(item) for item in node]


def _with_block(data: bytes) -> bytes:
    rest = data.removeprefix(BOM)
    newline = b"\r\n" if rest.partition(b"\n")[0].endswith(b"\r") else b"\n"
    return data[: len(data) - len(rest)] + b"---" + newline + b"---" + newline + rest


def _bad_value(key: str, value: str, file: str) -> Problem:
    expected = "one YAML value on one line"
    message = f"{file}: cannot set {key!r} to {shown(value)}, expected {expected}"
    return Problem("invalid-value", message, file=file, field=key, found=value, expected=expected)


def _not_editable(key: str, file: str) -> Problem:
    message = f"{file}: cannot change {key!r} and keep the rest as it is written"
    return Problem("not-editable", message, file, key, hint="change it in an editor")


# Where a field stands, and its text changed


def _locate(text: str, key: str) -> Document | Problem:
    """The document, with the place of at least this field."""
    fields = reader.read_flat(text)
    if fields is None:
        return reader.compose(text)
    node = fields.get(key)
    if node is None:
        return Document(fields, {}, block=True, column=0)
    if not isinstance(node, Scalar) or not node.raw:
        return reader.compose(text)
    return Document(fields, {key: _entry_of(text, node)}, block=True, column=0)


def _entry_of(text: str, node: Scalar) -> FieldSpan:
    """Of a scalar on its key's line, as the flat reader knows them."""
    start = 0
    for _ in range(node.line - 1):
        start = text.index("\n", start) + 1
    value = start + node.column - 1
    return FieldSpan(start, text.index(":", start) + 1, value, value + len(node.raw))


def _editable(text: str, key: str) -> Document | None:
    """None unless fields have lines of their own: no `{a: b}`, no `? key`."""
    document = _locate(text, key)
    if isinstance(document, Problem) or not document.block:
        return None
    entry = document.entries.get(key)
    if entry and text[_line_start(text, entry.start) : entry.start].strip(" "):
        return None
    return document


def _put(text: str, key: str, value: str, newline: str) -> str | None:
    """The value on the key's own line; a new key becomes the last line."""
    document = _editable(text, key)
    if document is None:
        return None
    entry = document.entries.get(key)
    if entry is None:
        return f"{text}{' ' * document.column}{quote(key)}: {value}{newline}"
    if "\n" in text[entry.colon : entry.value]:  # the value starts on a later line
        return f"{text[: entry.colon]} {value}{_value_cut_out(text, entry)}"
    gap = text[entry.colon : entry.value] or " "
    rest = _header_comment(text, entry) + text[entry.end :]
    return f"{text[: entry.colon]}{gap}{value}{rest}"


def _remove(text: str, key: str) -> str | None:
    document = _editable(text, key)
    if document is None:
        return None
    entry = document.entries[key]
    return text[: _line_start(text, entry.start)] + text[_line_end(text, entry.end) :]


def _value_cut_out(text: str, entry: FieldSpan) -> str:
    """What follows the colon, without the value. A comment there keeps its line."""
    start, end = _line_start(text, entry.value), _line_end(text, entry.end)
    tail = text[entry.end : end].lstrip(" \t")
    kept = text[start : entry.value] + tail if tail.strip() else ""
    return text[entry.colon : start] + kept + text[end:]


def _header_comment(text: str, entry: FieldSpan) -> str:
    """The comment behind the `|` or `>` of a block scalar, which stands inside the value."""
    header = re.match(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)?", text[entry.value : entry.end])
    return (header and header[1]) or ""


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    return (text.find("\n", index) + 1) or len(text)
