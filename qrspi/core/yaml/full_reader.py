"""YAML 1.2 in full, from ruamel.yaml's events: there aliases, tags and merge keys are
still visible, and nothing is ever expanded or constructed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.scanner import Scanner, ScannerError

from qrspi.core.tree import FRONTMATTER_LIMIT
from qrspi.core.yaml.nodes import Document, FieldSpan, Node, Scalar, place, shown

DEPTH_LIMIT = 32
VALUES_LIMIT = 2_500  # takes ruamel.yaml a few tenths of a second


class Defect(Exception):
    """Why the text is refused, and where (1-based)."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


# ruamel.yaml treats U+0085, U+2028 and U+2029 as line ends in some places but not in others, and
# ignores a byte order mark. YAML 1.2 has no control characters at all.
_REFUSED = re.compile(
    "[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_DIRECTIVE = re.compile(r"(?<![^\r\n])%")
_GAP = " \t\r\n"
_TOO_DEEP = f"nested deeper than {DEPTH_LIMIT} levels"
_NO_CHARACTER = "an escape that stands for no character"


class _Scanner(Scanner):
    def scan_to_next_token(self) -> Any:
        # ruamel.yaml skips only spaces between block tokens and takes `"x"#y` for a comment;
        # YAML 1.2 allows tabs once a line has begun and wants white space before `#`.
        reader = self.reader
        if reader.column and not self.flow_level:
            run = 0
            while reader.peek(run) in " \t":
                run += 1
            if "\t" in reader.prefix(run):
                reader.forward(run)
                self.allow_simple_key = False
        if reader.peek() == "#" and reader.index and reader.buffer[reader.pointer - 1] not in _GAP:
            raise ScannerError(None, None, "no space before '#'", reader.get_mark())
        return super().scan_to_next_token()

    def fetch_flow_collection_start(self, token: Any, to_push: str) -> None:
        # The scanner runs up to 1024 characters ahead of the events to find the end of a
        # key, in quadratic time over what is open.
        if self.flow_level >= DEPTH_LIMIT:
            raise ScannerError(None, None, _TOO_DEEP, self.reader.get_mark())
        super().fetch_flow_collection_start(token, to_push)

    def scan_flow_scalar_non_spaces(self, double: Any, start_mark: Any) -> Any:
        try:
            return super().scan_flow_scalar_non_spaces(double, start_mark)
        except (ValueError, OverflowError):  # from chr()
            raise ScannerError(None, None, _NO_CHARACTER, self.reader.get_mark()) from None


class _Loader(YAML):
    def __init__(self) -> None:
        super().__init__(typ="safe", pure=True)
        self.Scanner = _Scanner

    def official_plug_ins(self) -> list[str]:
        return []  # ruamel.yaml would search the disk for them each time


def read(text: str, *, begun: bool = False) -> Document:
    """`begun`: a `---` stands before the text."""
    _refuse_unread(text)
    try:
        return _Reader(text, _Loader().parse(text)).document(begun)
    except MarkedYAMLError as error:
        raise _as_defect(error) from None


def _as_defect(error: MarkedYAMLError) -> Defect:
    reason = error.problem or error.context or "not YAML"
    if error.context_mark and reason.endswith(_CUT_OFF):
        return Defect("opened here and never closed", *_place(error.context_mark))
    return Defect(reason, *_place(error.problem_mark or error.context_mark))


_CUT_OFF = (
    "unexpected end of stream",
    "or ']', but got '<stream end>'",
    "'}', but got '<stream end>'",
)


def _refuse_unread(text: str) -> None:
    if len(text) > FRONTMATTER_LIMIT or len(text.encode(errors="replace")) > FRONTMATTER_LIMIT:
        raise Defect(f"larger than {FRONTMATTER_LIMIT // 1024} KiB", 1, 1)
    if match := _REFUSED.search(text):
        reason = f"the character U+{ord(match[0]):04X}, which is not allowed here"
        raise Defect(reason, *place(text, match.start()))
    if match := _DIRECTIVE.search(text):
        raise Defect("a directive ('%'), which is not allowed here", *place(text, match.start()))


def _place(mark: Any) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _defect(reason: str, event: Any) -> Defect:
    return Defect(reason, *_place(event.start_mark))


def _refuse_properties(event: Any) -> None:
    if isinstance(event, AliasEvent):
        raise _defect("an alias ('*'), which is not allowed here", event)
    if event.anchor is not None:
        raise _defect("an anchor ('&'), which is not allowed here", event)
    if event.ctag is not None:
        raise _defect("a tag ('!'), which is not allowed here", event)


# Plain scalars that the core schema of YAML 1.2 does not read as strings.
_NOT_A_STRING = re.compile(
    r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
    r"|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_UNENCODABLE = re.compile("[\0\ud800-\udfff]")


class _Reader:
    def __init__(self, text: str, events: Iterator[Any]) -> None:
        self._text = text
        self._events = events
        self._end = 0  # just after the last thing that was written
        self._values = 0

    def document(self, begun: bool) -> Document:
        next(self._events)
        event = next(self._events)
        if isinstance(event, StreamEndEvent):
            return Document({}, {}, True, 0)
        if event.explicit and begun:
            raise _defect("more than one document", event)
        event = next(self._events)
        _refuse_properties(event)
        if not isinstance(event, MappingStartEvent):
            raise _defect("not a mapping of keys to values", event)
        entries: dict[str, FieldSpan] = {}
        fields = self._mapping(event, 1, entries)
        for more in self._events:
            if isinstance(more, DocumentStartEvent):
                raise _defect("more than one document", more)
        return Document(fields, entries, not event.flow_style, event.start_mark.column)

    def _node(self, event: Any, depth: int) -> Node:
        _refuse_properties(event)
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if depth > DEPTH_LIMIT:
            raise _defect(_TOO_DEEP, event)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(event, depth)
        return self._mapping(event, depth)

    def _value(self, event: Any, depth: int) -> Node:
        self._values += 1
        if self._values > VALUES_LIMIT:
            raise _defect(f"more than {VALUES_LIMIT} values", event)
        return self._node(event, depth)

    def _scalar(self, event: Any) -> Scalar:
        if _UNENCODABLE.search(event.value):
            raise _defect(_NO_CHARACTER, event)
        start = event.start_mark.index
        raw = self._text[start : event.end_mark.index]
        if raw:
            self._end = start + len(raw.rstrip(_GAP))  # a block scalar includes its last line end
        return Scalar(event.value, raw, *_place(event.start_mark))

    def _sequence(self, event: Any, depth: int) -> tuple[Node, ...]:
        self._end = event.end_mark.index
        items = []
        while not isinstance(inner := next(self._events), CollectionEndEvent):
            items.append(self._value(inner, depth + 1))
        self._close(event, inner)
        return tuple(items)

    def _mapping(
        self, event: Any, depth: int, entries: dict[str, FieldSpan] | None = None
    ) -> dict[str, Node]:
        fields: dict[str, Node] = {}
        while not isinstance(at := next(self._events), CollectionEndEvent):
            key, key_end = self._key(at, depth), self._end
            if key in fields:
                raise _defect(f"repeated key {shown(key)}", at)
            behind = next(self._events)
            value = self._value(behind, depth + 1)
            empty = isinstance(value, Scalar) and not value.raw
            fields[key] = Scalar("", "", *_place(at.start_mark)) if empty else value
            if entries is not None:
                entries[key] = self._entry(at, key_end, behind)
        self._close(event, at)
        return fields

    def _entry(self, key: Any, key_end: int, value: Any) -> FieldSpan:
        colon = self._text.find(":", key_end) + 1
        if self._end == key_end:
            return FieldSpan(key.start_mark.index, colon, colon, colon)
        return FieldSpan(key.start_mark.index, colon, value.start_mark.index, self._end)

    def _key(self, event: Any, depth: int) -> str:
        node = self._node(event, depth + 1)
        if not isinstance(node, Scalar):
            raise _defect("a key that is itself a list or a mapping", event)
        if node.text == "<<":
            raise _defect("a merge key ('<<'), which is not allowed here", event)
        if node.plain and _NOT_A_STRING.fullmatch(node.text):
            raise _defect(f"the key {shown(node.raw)}, which is not a string", event)
        return node.text

    def _close(self, opening: Any, closing: Any) -> None:
        if opening.flow_style:
            self._end = closing.end_mark.index
