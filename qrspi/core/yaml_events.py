"""YAML 1.2 in full, from ruamel.yaml's events: there aliases, tags and merge keys are
still visible, and nothing is ever expanded or constructed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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

from qrspi.core.nodes import Document, Entry, Node, Scalar

DEPTH_LIMIT = 32
Note = Callable[[str, Any, int, Any], None]


class Defect(Exception):
    """Why the text is refused, and where (1-based)."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


_GAP = " \t\r\n"


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


def read(text: str, *, begun: bool = False) -> Document:
    """The one mapping in the text, or a Defect. `begun`: a `---` stands before the text."""
    loader = YAML(typ="safe", pure=True)
    loader.Scanner = _Scanner
    try:
        return _Reader(text, loader.parse(text)).document(begun)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Defect(error.problem or error.context or "not YAML", *_place(mark)) from None
    except (ValueError, OverflowError) as error:  # an escape beyond Unicode
        raise Defect(str(error), *_place(loader.reader.get_mark())) from None


def _place(mark: Any) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _defect(reason: str, event: Any) -> Defect:
    return Defect(reason, *_place(event.start_mark))


# Plain scalars that the core schema of YAML 1.2 does not read as strings.
_NOT_A_STRING = re.compile(
    r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
    r"|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


class _Reader:
    def __init__(self, text: str, events: Iterator[Any]) -> None:
        self._text = text
        self._events = events
        self._end = 0  # just behind the last thing that was written

    def document(self, begun: bool) -> Document:
        next(self._events)
        event = next(self._events)
        if isinstance(event, StreamEndEvent):
            return Document({}, {}, True, 0)
        if event.version or event.tags:
            raise _defect("a directive, which is not allowed here", event)
        if event.explicit and begun:
            raise _defect("more than one document", event)
        event = next(self._events)
        if not isinstance(event, MappingStartEvent):
            raise _defect("not a mapping of keys to values", event)
        document = self._top(event)
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                raise _defect("more than one document", event)
        return document

    def _top(self, event: Any) -> Document:
        entries: dict[str, Entry] = {}

        def note(key: str, at: Any, colon: int, value: Any) -> None:
            written = self._end > colon
            start = value.start_mark.index if written else colon
            entries[key] = Entry(at.start_mark.index, colon, start, self._end if written else colon)

        fields = self._mapping(event, 1, note)
        return Document(fields, entries, not event.flow_style, event.start_mark.column)

    def _node(self, event: Any, depth: int) -> Node:
        if isinstance(event, AliasEvent):
            raise _defect("an alias ('*'), which is not allowed here", event)
        if event.anchor is not None:
            raise _defect("an anchor ('&'), which is not allowed here", event)
        if event.ctag is not None:
            raise _defect("a tag ('!'), which is not allowed here", event)
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if depth > DEPTH_LIMIT:
            raise _defect(f"nested deeper than {DEPTH_LIMIT} levels", event)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(event, depth)
        return self._mapping(event, depth)

    def _scalar(self, event: Any) -> Scalar:
        start, end = event.start_mark.index, event.end_mark.index
        if _NO_CHARACTER.search(event.value):
            raise _defect("an escape that stands for no character", event)
        if end > start:
            self._end = end
        return Scalar(event.value, self._text[start:end], *_place(event.start_mark))

    def _sequence(self, event: Any, depth: int) -> tuple[Node, ...]:
        self._end = event.end_mark.index
        items = []
        while not isinstance(inner := next(self._events), CollectionEndEvent):
            items.append(self._node(inner, depth + 1))
        self._close(event, inner)
        return tuple(items)

    def _mapping(self, event: Any, depth: int, note: Note | None = None) -> dict[str, Node]:
        fields: dict[str, Node] = {}
        while not isinstance(at := next(self._events), CollectionEndEvent):
            key = self._key(at, depth)
            if key in fields:
                raise _defect(f"repeated key {key!r}", at)
            colon = self._end = self._text.find(":", self._end) + 1
            event_of_value = next(self._events)
            value = self._node(event_of_value, depth + 1)
            if isinstance(value, Scalar) and not value.raw:
                value = Scalar("", "", *_place(at.start_mark))
            fields[key] = value
            if note:
                note(key, at, colon, event_of_value)
        self._close(event, at)
        return fields

    def _key(self, event: Any, depth: int) -> str:
        node = self._node(event, depth + 1)
        if not isinstance(node, Scalar):
            raise _defect("a key that is itself a list or a mapping", event)
        if node.text == "<<":
            raise _defect("a merge key ('<<'), which is not allowed here", event)
        if node.plain and _NOT_A_STRING.fullmatch(node.text):
            raise _defect(f"the key {node.raw!r}, which is not a string", event)
        return node.text

    def _close(self, opening: Any, closing: Any) -> None:
        if opening.flow_style:
            self._end = closing.end_mark.index
