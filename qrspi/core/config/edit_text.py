"""Change one field of config.md in place: every other byte stays, with comments and order.

Each change is read back and compared with what was meant. Where a change would touch something
else, it is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.config.fields import is_string
from qrspi.core.config.problems import ABORT, FILE, quoted, unreadable
from qrspi.core.hints import TypeAlias
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml import frontmatter, reader, writer
from qrspi.core.yaml.nodes import Document, FieldSpan, Node, Scalar, items

Path: TypeAlias = tuple[str, ...]
Mapped: TypeAlias = dict[str, Node]
Shape: TypeAlias = str | tuple["Shape", ...]


def put(data: bytes, path: Path, source: str) -> bytes | Problem:
    """The field set to `source`, YAML for one line; added when it is absent."""
    value = writer.parse_value(source)
    if value is None:
        message = f"{FILE}: what {'.'.join(path)} should become is not one YAML value on one line"
        return Problem("field-invalid", message, FILE, ".".join(path), expected="one YAML value")
    return _change(
        data,
        path,
        lambda text, newline: _put(text, _place(text, 0, len(text)), path, source, newline),
        lambda fields: _with(fields, path, value),
    )


def put_route(data: bytes, words: tuple[str, ...]) -> bytes | Problem:
    """Where each word has its own line, the lines of the words that stay are kept."""
    key = "route"
    value = tuple(Scalar(word, word, 0, 0) for word in words)
    return _change(
        data,
        (key,),
        lambda text, newline: _put_words(text, key, words, newline),
        lambda fields: _with(fields, (key,), value),
    )


def rename(data: bytes, key: str, new: str) -> bytes | Problem:
    return _change(
        data,
        (key,),
        lambda text, _: _rename(text, key, new),
        lambda fields: {new if name == key else name: node for name, node in fields.items()},
    )


def _change(
    data: bytes, path: Path, edit: writer.Change, meant: Callable[[Mapped], Mapped]
) -> bytes | Problem:
    front = frontmatter.read(data, FILE)
    if not isinstance(front, frontmatter.Front):
        return front or unreadable(f"{FILE}:1:1: no frontmatter")
    changed = writer.rewritten(data, front, edit, meant(front.fields), _shape)
    return changed or _not_in_place(path)


def _not_in_place(path: Path) -> Problem:
    field = ".".join(path)
    text = (
        f"{FILE}: {quoted(field)} cannot be changed here without touching what stands around it; "
        "expected it on a line of its own"
    )
    expected = "the field on a line of its own"
    hint = f"edit {FILE} by hand, then run: qrspi config validate"
    ways = (f"Edit {FILE} by hand, then check it: qrspi config validate", ABORT)
    return Problem("not-editable", text, FILE, field, "", expected, hint, ways)


def _with(fields: Mapped, path: Path, value: Node) -> Mapped:
    key, rest = path[0], path[1:]
    inner = fields.get(key)
    node = _with(inner if isinstance(inner, dict) else {}, rest, value) if rest else value
    return {**fields, key: node}


def _shape(node: Node) -> Shape:
    """What the field says, however it is written; `"true"` and `true` differ."""
    if isinstance(node, Scalar):
        return node.text if is_string(node) else ("other", node.raw)
    if isinstance(node, dict):
        return ("map", *((key, _shape(value)) for key, value in node.items()))
    return ("list", *(_shape(item) for item in node))


class _Place(NamedTuple):
    document: Document
    start: int
    end: int
    shift: int  # from offsets in the document to offsets in the text

    def entry(self, key: str) -> FieldSpan | None:
        entry = self.document.entries.get(key)
        return entry and FieldSpan(*(offset + self.shift for offset in entry))

    @property
    def last(self) -> int:
        return self.shift + max(entry.end for entry in self.document.entries.values())


def _place(text: str, start: int, end: int) -> _Place | None:
    column = start - text.rfind("\n", 0, start) - 1
    document = reader.compose(" " * column + text[start:end], FILE, first_line=2)
    if isinstance(document, Problem):
        return None
    return _Place(document, start, end, start - column)


def _put(text: str, place: _Place | None, path: Path, source: str, newline: str) -> str | None:
    if place is None:
        return None
    key, rest = path[0], path[1:]
    entry = place.entry(key)
    if entry is None:
        return _add(text, place, path, source, newline)
    if rest and entry.value < entry.end:
        return _put(text, _place(text, entry.value, entry.end), rest, source, newline)
    return _replace(text, entry, _flow(rest, source))


def _flow(path: Path, source: str) -> str:
    for key in reversed(path):
        source = f"{{{writer.quote(key)}: {source}}}"
    return source


def _replace(text: str, entry: FieldSpan, source: str) -> str | None:
    gap, old = text[entry.colon : entry.value], text[entry.value : entry.end]
    if "\n" in old and "#" in old:
        return None
    if gap and not gap.strip(" "):
        return text[: entry.value] + source + text[entry.end :]
    return f"{text[: entry.colon]} {source}{gap.rstrip()}{text[entry.end :]}"


def _add(text: str, place: _Place, path: Path, source: str, newline: str) -> str:
    key, rest = path[0], path[1:]
    if not place.document.block:
        empty = not place.document.entries
        at = text.index("{", place.start) + 1 if empty else place.last
        item = f"{writer.quote(key)}: {_flow(rest, source)}"
        return f"{text[:at]}{'' if empty else ', '}{item}{text[at:]}"
    at = place.end if place.start == 0 else _line_end(text, place.last)
    lines = _lines(place.document.column, path, source)
    return text[:at] + "".join(line + newline for line in lines) + text[at:]


def _line_end(text: str, at: int) -> int:
    return at if text[at - 1 : at] == "\n" else text.index("\n", at) + 1


def _lines(column: int, path: Path, source: str) -> list[str]:
    indents = [" " * (column + 2 * depth) for depth in range(len(path))]
    lines = [f"{indent}{writer.quote(key)}:" for indent, key in zip(indents, path, strict=True)]
    lines[-1] += f" {source}"
    return lines


def _rename(text: str, key: str, new: str) -> str | None:
    place = _place(text, 0, len(text))
    entry = place.entry(key) if place else None
    return f"{text[: entry.start]}{new}:{text[entry.colon :]}" if entry else None


def _put_words(text: str, key: str, words: tuple[str, ...], newline: str) -> str | None:
    place = _place(text, 0, len(text))
    old = place.document.fields.get(key) if place else None
    lines = text.split("\n")
    rows = _rows(lines, items(old) or ()) if old is not None else {}
    if not rows:
        return _put(text, place, (key,), f"[{', '.join(words)}]", newline)
    return "\n".join(_reworded(lines, rows, words))


def _rows(lines: list[str], listing: tuple[Node, ...]) -> dict[str, int]:
    """The line of each word, or nothing unless every word is `- word` on its own line."""
    rows: dict[str, int] = {}
    for item in listing:
        if not isinstance(item, Scalar) or item.text in rows or item.line > len(lines):
            return {}
        if lines[item.line - 1][: item.column - 1].strip() != "-":
            return {}
        rows[item.text] = item.line - 1
    return rows


def _reworded(lines: list[str], rows: dict[str, int], words: tuple[str, ...]) -> list[str]:
    taken = set(rows.values())
    at = min(taken)
    prefix = lines[at][: lines[at].index("-") + 1]
    end = "\r" if lines[at].endswith("\r") else ""
    result = lines[:at]
    for word in words:
        row = rows.get(word)
        if row is None:
            result.append(f"{prefix} {word}{end}")
            continue
        result += [lines[between] for between in range(at, row) if between not in taken]
        result.append(lines[row])
        at = max(at, row + 1)
    return result + [lines[after] for after in range(at, len(lines)) if after not in taken]
