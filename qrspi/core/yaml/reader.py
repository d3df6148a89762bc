"""The one door to YAML: text in, one mapping of scalars, lists and mappings out, or a Problem.

Two readers stand behind it. The flat one takes what it surely understands, which is
nearly every real file, in microseconds; the rest goes to ruamel.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.model import Problem
from qrspi.core.yaml import flat_reader as flat
from qrspi.core.yaml.nodes import Document, Entry, place
from qrspi.core.yaml.nodes import Node as Node
from qrspi.core.yaml.nodes import Scalar as Scalar


def parse(text: str, file: str = "", *, first_line: int = 1) -> dict[str, Node] | Problem:
    """Exactly one mapping; a text of nothing but comments is an empty one.

    `first_line` is where the text starts in the file, for messages; past line 1 the
    document has already begun.
    """
    if first_line == 1:
        text = text.removeprefix("\ufeff")
    fields = flat.read(text)
    if fields is not None:
        return fields
    document = compose(text, file, first_line=first_line)
    return document if isinstance(document, Problem) else document.fields


def compose(text: str, file: str = "", *, first_line: int = 1) -> Document | Problem:
    """As parse, by ruamel.yaml, with the places of the fields."""
    # Imported here: ruamel.yaml costs three bare interpreters, and few files need it.
    from qrspi.core.yaml import full_reader as yaml_events

    try:
        return yaml_events.read(text, begun=first_line > 1)
    except yaml_events.Defect as defect:
        return problem(defect.reason, file, defect.line + first_line - 1, defect.column)


def decode(data: bytes, file: str = "", *, first_line: int = 1) -> str | Problem:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line, column = place(before, len(before))
        reason = f"the byte 0x{data[error.start]:02X}, which is not UTF-8"
        return problem(reason, file, line + first_line - 1, column)


def problem(reason: str, file: str, line: int, column: int) -> Problem:
    where = f"{file}:{line}:{column}" if file else f"line {line}, column {column}"
    return Problem("invalid-yaml", f"{where}: {reason}", file, hint=_HINTS.get(reason, ""))


# ruamel.yaml's words, and what a person has most likely written.
_HINTS = {
    "mapping values are not allowed here": "put quotes around a value that contains ': '",
    "could not find expected ':'": "write the line as 'key: value'",
    "found character '\\t' that cannot start any token": "indent with spaces, not with tabs",
    "found character '`' that cannot start any token": "put quotes around the value",
    "found character '@' that cannot start any token": "put quotes around the value",
    "found character '%' that cannot start any token": "put quotes around the value",
    "expected the node content, but found '<stream end>'": "close what was opened with [ or {",
    "sequence entries are not allowed here": "begin the list on a line of its own",
}


def locate(text: str, key: str) -> Document | Problem:
    """The document, with the place of at least this field."""
    fields = flat.read(text)
    if fields is None:
        return compose(text)
    node = fields.get(key)
    if node is None:
        return Document(fields, {}, block=True, column=0)
    if not isinstance(node, Scalar) or not node.raw:
        return compose(text)
    return Document(fields, {key: _entry(text, node)}, block=True, column=0)


def _entry(text: str, node: Scalar) -> Entry:
    """Of a scalar on its key's line, as the flat reader knows them."""
    start = 0
    for _ in range(node.line - 1):
        start = text.index("\n", start) + 1
    value = start + node.column - 1
    return Entry(start, text.index(":", start) + 1, value, value + len(node.raw))


def parse_value(source: str) -> Node | None:
    """The one value that this is when it stands behind a key, on one line."""
    if source[:1] in ("", "|", ">") or not _is_line(source):
        return None
    document = locate(f"x: {source}\n", "x")
    if isinstance(document, Problem) or len(document.fields) != 1:
        return None
    entry = document.entries["x"]
    whole = (entry.value, entry.end) == (len("x: "), len("x: ") + len(source))
    return document.fields["x"] if whole else None


def parse_lines(lines: Sequence[str]) -> Node | None:
    """The list or mapping that these are when they stand below a key."""
    if not all(map(_is_line, lines)):
        return None
    fields = parse("".join(["x:\n", *(f"  {line}\n" for line in lines)]))
    node = fields.get("x") if isinstance(fields, dict) and len(fields) == 1 else None
    return None if isinstance(node, Scalar) else node


def _is_line(text: str) -> bool:
    return "\n" not in text and "\r" not in text


def written(node: Node) -> object:
    """The node without positions: two that are written alike are equal."""
    if isinstance(node, Scalar):
        return node.text, node.raw
    if isinstance(node, dict):
        return [(key, written(value)) for key, value in node.items()]
    return [written(item) for item in node]


_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./ -")
_NOT_STRINGS = frozenset("null true false yes no on off y n".split())


def quote(text: str) -> str:
    """A scalar on one line that every reader takes for this string."""
    calm = text[:1].isalpha() and text[-1] != " " and _PLAIN.issuperset(text)
    if calm and text.lower() not in _NOT_STRINGS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def sentence(text: str) -> str:
    """A line of prose as it stands, where that reads back as the very same; else quoted."""
    node = parse_value(text)
    plain = isinstance(node, Scalar) and node.plain and node.text == text
    return text if plain else quote(text)


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"
