"""Lines of the record of decisions, before they are records; and a long record, whose lines are
parsed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from qrspi.core import patterns, plain_json
from qrspi.core.hints import Any, TypeVar
from qrspi.core.named_tuple import NamedTuple

T = TypeVar("T")

# The fields of a plain line in their order, and whether it can be without them.
_FIELDS = ("event", "step", "body_hash", "round", "who", "when", "surface")
_MORE = ("feedback", "user", "route", "safeguards")


def fields(line: bytes) -> dict[str, str] | None:
    """Those of a line as most commands write it. This takes a fifth of the time of JSON, and a cold
    start need not compile a pattern."""
    text = line.decode("ascii", "replace")
    if not (text.isascii() and text.isprintable()) or "\\" in text:
        return None
    between, quoted = text.split('"')[::2], text.split('"')[1::2]
    number = between[7:8][0][2:-2] if len(between) > 7 else ""
    if not _is_whole(number):
        return None
    values = [*quoted[1:6:2], number, *quoted[8::2]]
    names = [*quoted[:6:2], quoted[6] if len(quoted) > 6 else "", *quoted[7::2]]
    more = tuple(name for name in _MORE if name in names[7:])
    shape = ["{", *[": ", ", "] * 3, f": {number}, ", *[": ", ", "] * (2 + len(more)), ": ", "}"]
    if between != shape or tuple(names) != (*_FIELDS, *more):
        return None
    return dict(zip(names, values, strict=True))


def _is_whole(text: str) -> bool:
    return text.isdigit() and len(text) < 10 and (text == "0" or text[0] != "0")


def is_torn(tail: bytes) -> bool:
    """Whether a write that was cut off can have left this after the last newline."""
    if not tail or not (tail.startswith(_BEGINNING) or _BEGINNING.startswith(tail)):
        return False
    try:
        plain_json.loads(tail)
    except (ValueError, RecursionError):
        return True
    return False


_BEGINNING = b'{"event": "'  # of every line that `render` makes

_ANY = rb'"(?:[ !#-\[\]-~\x80-\xff]++|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*+"'  # in UTF-8
_WHOLE = rb"(?:0|[1-9][0-9]{0,8})"
_MARK = rb'\{"step": %b, "body_hash": %b, "round": %b\}' % (_ANY, _ANY, _WHOLE)
_MADE = rb'\{"file": %b, "file_hash": %b, "made_from": %b\}' % (_ANY, _ANY, _ANY)
_PART = rb'\{"file": %b, "section": %b, "part_hash": %b\}' % (_ANY, _ANY, _ANY)
_WORDS = rb"who|when|surface|note|feedback|finding|replan|user|option|file|file_hash|tests"
_WRITTEN = (
    rb'(?:\{"event": %b, "step": %b, "body_hash": %b, "round": %b'
    rb'(?:, "(?:%b|route|safeguards|reason|as)": %b|, "phase": %b'
    rb'|, "resets": \[%b(?:, %b)*+\]|, "made": \[%b(?:, %b)*+\]'
    rb'|, "parts": \[%b(?:, %b)*+\])*+\}\n)*+'
) % (_ANY, _ANY, _ANY, _WHOLE, _WORDS, _ANY, _WHOLE, _MARK, _MARK, _MADE, _MADE, _PART, _PART)


class BadLine(NamedTuple):
    number: int
    found: str  # what it is instead of a record


# A record, what is wrong with a line that is none, or None for an empty line.
Parse = Callable[[bytes], T | str | None]


def read_long(data: bytes, parse: Parse[T]) -> Sequence[T] | BadLine | None:
    """Every line is looked at, and only those are parsed that the engine writes otherwise. None
    when the text is not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    odd: dict[int, T | None] = {}
    at = _end_of_written(data, 0)
    while at < len(data):
        end = data.find(b"\n", at)
        parsed = parse(data[at:] if end < 0 else data[at:end])
        if isinstance(parsed, str):
            return BadLine(data.count(b"\n", 0, at) + 1, parsed)
        odd[at] = parsed
        at = len(data) if end < 0 else _end_of_written(data, end + 1)
    return LongRecord(data, odd, parse)


def _end_of_written(data: bytes, start: int) -> int:
    """Where the first line begins, from this one on, that is not surely a record as the engine
    writes it. This takes a tenth of the time of parsing."""
    match = patterns.compile(_WRITTEN).match(data, start)
    assert match  # it matches no lines at all, too
    return match.end()


class LongRecord(Sequence[T]):
    """Thousands of decisions, in their order. All lines are known to be records, and hardly any of
    them is asked for, so each is parsed at its first use."""

    def __init__(self, data: bytes, odd: Mapping[int, T | None], parse: Parse[T]) -> None:
        """`odd`: lines that the engine writes otherwise, by their start; None for an empty one."""
        self._data, self._parse = data, parse
        self._parsed = dict(odd)
        self._odd = sorted(odd)
        self._empty = sum(one is None for one in odd.values())

    def newest_first(self, *texts: str) -> Iterator[T]:
        """Those whose line has one of these texts as the engine writes it. Lines that it did not
        write may say the same in other words, so they are among them whatever they say."""
        wanted = [text.encode() for text in texts] or [b"\n"]
        start = len(self._data)
        while (start := self._line_before(start, wanted)) >= 0:
            if record := self._at(start):
                yield record

    def _line_before(self, end: int, wanted: list[bytes]) -> int:
        from bisect import bisect_left  # a short record does not need it

        at = max(self._data.rfind(text, 0, end) for text in wanted)
        written = self._data.rfind(b"\n", 0, at) + 1 if at >= 0 else -1
        odd = bisect_left(self._odd, end)
        return max(written, self._odd[odd - 1] if odd else -1)

    def _at(self, start: int) -> T | None:
        if start not in self._parsed:
            parsed = self._parse(self._data[start : self._data.index(b"\n", start)])
            assert not isinstance(parsed, str), f"taken for a record, and is {parsed}"
            self._parsed[start] = parsed
        return self._parsed[start]

    def __reversed__(self) -> Iterator[T]:
        return self.newest_first()

    def __iter__(self) -> Iterator[T]:
        return reversed(list(self.newest_first()))

    def __len__(self) -> int:
        unended = bool(self._data) and not self._data.endswith(b"\n")
        return self._data.count(b"\n") + unended - self._empty

    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]
