"""The one door to YAML: text in, one mapping of scalars, lists and mappings out, or a Problem. The
flat reader, below, takes microseconds for nearly every real file; ruamel.yaml reads the rest."""

from __future__ import annotations

from functools import lru_cache

from qrspi.core import patterns
from qrspi.core.model import Problem
from qrspi.core.yaml.nodes import Document, Node, Scalar, place


def parse(text: str, file: str = "", *, first_line: int = 1) -> dict[str, Node] | Problem:
    """A text of nothing but comments is an empty mapping. `first_line` is where the text starts in
    the file, for messages; past line 1 the document has already begun."""
    if first_line == 1:
        text = text.removeprefix("\ufeff")
    fields = read_flat(text)
    if fields is not None:
        return fields
    document = compose(text, file, first_line=first_line)
    return document if isinstance(document, Problem) else document.fields


def compose(text: str, file: str = "", *, first_line: int = 1) -> Document | Problem:
    """As parse, by ruamel.yaml, with the places of the fields."""
    # Imported here: ruamel.yaml costs three bare interpreters, and few files need it.
    from qrspi.core.yaml import full_reader

    try:
        return full_reader.read(text, begun=first_line > 1)
    except full_reader.Defect as defect:
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


# ruamel.yaml's words, and what a person most likely wrote.
_HINTS = {
    "mapping values are not allowed here": "put quotes around a value that contains ': '",
    "could not find expected ':'": "write the line as 'key: value'",
    "found character '\\t' that cannot start any token": "indent with spaces, not with tabs",
    **dict.fromkeys(
        (f"found character '{odd}' that cannot start any token" for odd in "`@%"),
        "put quotes around the value",
    ),
    "expected the node content, but found '<stream end>'": "close what was opened with [ or {",
    "sequence entries are not allowed here": "begin the list on a line of its own",
}


# The flat reader

_SIZE_LIMIT = 4 * 1024  # characters: too few to reach the limits on bytes and values
_LONG_LIMIT = 16 * 1024  # the same for bytes alone
_MARKS_LIMIT = 2_000  # one stands before every value but the first
_KEY_LIMIT = 128  # far below the 1024 at which YAML no longer sees a key
_DEPTH_LIMIT = 6

_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_NOT_PLAIN = _INDICATORS | {" "}
_BRACKETS = frozenset("?[]{}")
_NOT_STRINGS = frozenset("null Null NULL true True TRUE false False FALSE".split())

# A list of words that have no other meaning in YAML, separated by one comma and one space. `re`
# compiles it with the first list, since not every command reads one.
_CALM_WORD = r"[A-Za-z0-9_./](?:[A-Za-z0-9_./:-]*[A-Za-z0-9_./-])?"
_CALM_LIST = rf"\[{_CALM_WORD}(?:, {_CALM_WORD})*\]"

_scalar = tuple.__new__  # half the time of Scalar(…), and this is the hot line


class _Unsure(Exception):
    """This is left to ruamel.yaml."""


def read_flat(text: str) -> dict[str, Node] | None:
    """YAML as in nearly all frontmatter: one field a line, one-line scalars, lists of scalars,
    mappings by indentation. None for anything that is not certainly that."""
    marks = sum(map(text.count, "\n,:[{-")) if len(text) > _SIZE_LIMIT else 0
    if len(text) > _LONG_LIMIT or marks > _MARKS_LIMIT:
        return None
    lines = text.split("\r\n" if "\r" in text else "\n")
    if not "".join(lines).isprintable():  # a tab, a lone line end, anything invisible
        return None
    try:
        return _Block(lines).mapping(0, 1)
    except _Unsure:
        return None


class _Block:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._next = 0

    def mapping(self, indent: int, depth: int) -> dict[str, Node]:
        """The fields at this indentation, up to the first line that is indented less."""
        fields: dict[str, Node] = {}
        while True:
            if not indent:
                self._plain_fields(fields)
            column = self._content()
            if column < indent:
                return fields
            line = self._lines[self._next]
            self._next += 1
            key, colon, rest = line[indent:].partition(":")
            if key in fields or not colon or not _is_key(key):  # nor a line that is indented more
                raise _Unsure
            value = rest.strip(" ")
            if not value or (value[0] == "#" and rest[0] == " "):
                fields[key] = self._below(indent, depth)
            elif rest[0] == " ":
                fields[key] = _one_line(line, value, self._next, indent + len(key) + 2)
            else:
                raise _Unsure

    def _plain_fields(self, fields: dict[str, Node]) -> None:
        """A run of the usual lines, `word: plain value` or `word: [a, b]`, without ceremony."""
        lines = self._lines
        for number in range(self._next, len(lines)):
            line = lines[number]
            if line[:1] == "#":
                continue
            key, _, value = line.partition(": ")
            if key in fields or not _is_key(key):
                break
            if not _is_odd(value):
                fields[key] = _scalar(Scalar, (value, value, number + 1, len(key) + 3))
            elif value[:1] == "[" and patterns.fullmatch(_CALM_LIST, value):
                fields[key] = _calm_list(value, number + 1, len(key) + 3)
            else:
                break
        else:
            number = len(lines)
        self._next = number

    def _content(self) -> int:
        """Goes to the next line with content; its indentation, -1 at the end."""
        lines = self._lines
        for number in range(self._next, len(lines)):
            line = lines[number]
            if line and line[0] not in " #":
                self._next = number
                return 0
            stripped = line.lstrip(" ")
            if stripped and stripped[0] != "#":
                self._next = number
                return len(line) - len(stripped)
        self._next = len(lines)
        return -1

    def _below(self, indent: int, depth: int) -> Node:
        """The value of a key with nothing after its colon."""
        number = self._next
        column = self._content()
        if column >= indent and self._lines[self._next].startswith("- ", column):
            return self._sequence(column)
        if column <= indent:
            return Scalar("", "", number, indent + 1)
        if depth > _DEPTH_LIMIT:
            raise _Unsure
        return self.mapping(column, depth + 1)

    def _sequence(self, indent: int) -> tuple[Node, ...]:
        items: list[Node] = []
        while True:
            self._plain_items(indent, items)
            column = self._content()
            if column != indent or not self._lines[self._next].startswith("- ", indent):
                return tuple(items)
            line = self._lines[self._next]
            self._next += 1
            items.append(_one_line(line, line[indent + 2 :].strip(" "), self._next, indent + 2))

    def _plain_items(self, indent: int, items: list[Node]) -> None:
        lines, dash = self._lines, " " * indent + "- "
        for number in range(self._next, len(lines)):
            line = lines[number]
            value = line[indent + 2 :]
            if not line.startswith(dash) or _is_odd(value):
                self._next = number
                return
            items.append(_scalar(Scalar, (value, value, number + 1, indent + 3)))
        self._next = len(lines)


@lru_cache(maxsize=256)
def _is_key(key: str) -> bool:
    """A word of letters, digits, `_`, `-` and `.`, which YAML reads as a string: not `-.inf`."""
    if "." in key and key[0] in ".-":
        return False
    word = key.replace("-", "_").replace(".", "_")
    return word.isidentifier() and len(key) <= _KEY_LIMIT and key not in _NOT_STRINGS


def _is_odd(value: str) -> bool:
    """Whether it needs a closer look."""
    return (
        not value or value[0] in _NOT_PLAIN or value[-1] in " :" or " #" in value or ": " in value
    )


def _calm_list(value: str, number: int, column: int) -> tuple[Node, ...]:
    items: list[Node] = []
    for item in value[1:-1].split(", "):
        column += 1
        items.append(_scalar(Scalar, (item, item, number, column)))
        column += len(item) + 1
    return tuple(items)


def _one_line(line: str, value: str, number: int, start: int) -> Node:
    """The value in the rest of the line from `start`, white space around it removed."""
    if not value:
        raise _Unsure
    first = value[0]
    if first not in _INDICATORS:
        if " #" in value:
            value = value[: value.index(" #")].rstrip(" ")
        if ": " in value or value[-1] == ":":
            raise _Unsure
        return Scalar(value, value, number, line.index(value, start) + 1)
    node, end = _flow(line, line.index(first, start), number)
    rest = line[end:].lstrip(" ")
    if rest and (rest[0] != "#" or line[end] != " "):
        raise _Unsure
    return node


def _flow(line: str, start: int, number: int) -> tuple[Node, int]:
    """What starts with a quote or a bracket, and where it ends."""
    match line[start]:
        case '"' | "'":
            return _quoted(line, start, number)
        case "[":
            return _flow_sequence(line, _skip(line, start + 1), number)
        case "{":
            return _flow_mapping(line, _skip(line, start + 1), number)
        case _:
            raise _Unsure


def _quoted(line: str, start: int, number: int) -> tuple[Scalar, int]:
    quote = line[start]
    end = line.find(quote, start + 1) + 1
    raw = line[start:end]
    if not end or "\\" in raw:
        raise _Unsure
    return Scalar(raw[1:-1], raw, number, start + 1), end


def _flow_sequence(line: str, at: int, number: int) -> tuple[tuple[Node, ...], int]:
    items: list[Node] = []
    while not line.startswith("]", at):
        item, at = _item(line, at, number, "]")
        items.append(item)
    return tuple(items), at + 1


@lru_cache(maxsize=64)  # the models of a config: the same lines in every run of a project
def _flow_mapping(line: str, at: int, number: int) -> tuple[dict[str, Node], int]:
    fields: dict[str, Node] = {}
    while not line.startswith("}", at):
        key, colon, _ = line[at:].partition(": ")
        if not colon or key in fields or not _is_key(key):
            raise _Unsure
        fields[key], at = _item(line, _skip(line, at + len(key) + 1), number, "}")
    return fields, at + 1


def _item(line: str, start: int, number: int, closing: str) -> tuple[Scalar, int]:
    """A scalar, and where the next one or the closing bracket is."""
    if line.startswith(('"', "'"), start):
        item, end = _quoted(line, start, number)
    else:
        item, end = _plain_item(line, start, number, closing)
    end = _skip(line, end)
    if line.startswith(closing, end):
        return item, end
    if not line.startswith(",", end):
        raise _Unsure
    return item, _skip(line, end + 1)


def _plain_item(line: str, start: int, number: int, closing: str) -> tuple[Scalar, int]:
    close, comma = line.find(closing, start), line.find(",", start)
    end = comma if 0 <= comma < close else close
    raw = line[start:end].rstrip(" ")
    if end < 0 or _is_odd(raw) or not _BRACKETS.isdisjoint(raw):
        raise _Unsure
    return Scalar(raw, raw, number, start + 1), end


def _skip(line: str, at: int) -> int:
    while line.startswith(" ", at):
        at += 1
    return at
