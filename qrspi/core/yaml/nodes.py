"""What YAML text holds: scalars that remember how they were written, lists, mappings."""

from qrspi.core import patterns
from qrspi.core.hints import Any, TypeAlias
from qrspi.core.named_tuple import NamedTuple


class Scalar(NamedTuple):
    """The position is 1-based. An empty value of a mapping stands where its key stands."""

    text: str
    raw: str  # as written, quotes included
    line: int
    column: int

    @property
    def plain(self) -> bool:
        return self.raw[:1] not in ('"', "'", "|", ">")


Node: TypeAlias = Scalar | tuple["Node", ...] | dict[str, "Node"]


def items(node: Node | None) -> tuple[Node, ...] | None:
    """A list's items. A Scalar is a tuple as well, so `isinstance` alone would take it too."""
    return node if isinstance(node, tuple) and not isinstance(node, Scalar) else None


class FieldSpan(NamedTuple):
    """Where one top-level field stands in the text, as character offsets."""

    start: int  # of the key
    colon: int  # just behind the key's colon
    value: int  # start of the value; equals `end` when there is none
    end: int  # just behind the value's last character


class Document(NamedTuple):
    fields: dict[str, Node]
    entries: dict[str, FieldSpan]
    block: bool  # one field a line, not `{a: b}`
    column: int  # of the first key, 0-based


def place(text: str, index: int) -> tuple[int, int]:
    """The line and the column of a character, from 1."""
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def shown(text: str) -> str:
    """A piece of the source for a message: short, on one line."""
    return repr(text if len(text) <= 60 else text[:59] + "…")


_JSON_WORDS = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = r"[-+]?[0-9]{1,15}"
_DECIMAL = r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]{1,2})?"


def json_value(node: Node) -> Any:
    """By YAML 1.2's core schema. Numbers that JSON cannot hold exactly stay texts."""
    if isinstance(node, dict):
        return {key: json_value(item) for key, item in node.items()}
    if not isinstance(node, Scalar):
        return [json_value(item) for item in node]
    if not node.plain:
        return node.text
    if node.text in _JSON_WORDS:
        return _JSON_WORDS[node.text]
    if patterns.fullmatch(_WHOLE, node.text):
        return int(node.text)
    return float(node.text) if patterns.fullmatch(_DECIMAL, node.text) else node.text
