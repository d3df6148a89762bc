"""JSON as text: entries are added and removed, and every other byte stays where it is. Only strict
JSON: a host that ignores a file with comments would ignore our part too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from qrspi.core.hints import Any, Literal
from qrspi.core.named_tuple import NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BARE = re.compile(r"[^\s,\]}]+")


class Child(NamedTuple):
    key: str  # '' in an array
    start: int  # of the key, or of the value in an array
    value: Node


class Node(NamedTuple):
    kind: Literal["object", "array", "other"]
    start: int
    end: int
    children: tuple[Child, ...] = ()

    def at(self, key: str) -> Node | None:
        return next((child.value for child in self.children if child.key == key), None)


class Insertion(NamedTuple):
    at: int
    text: str


def scan(text: str) -> Node:
    """The tree of a text that `json.loads` has accepted."""
    return _value(text, _skip(text, 0))


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int) -> Node:
    if text[at] not in "{[":
        match = (_STRING if text[at] == '"' else _BARE).match(text, at)
        return Node("other", at, match.end() if match else at + 1)
    is_object = text[at] == "{"
    children: list[Child] = []
    start, at = at, _skip(text, at + 1)
    while text[at] not in "}]":
        child = _child(text, at, is_object)
        children.append(child)
        at = _skip(text, child.value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Node("object" if is_object else "array", start, at + 1, tuple(children))


def _child(text: str, at: int, is_object: bool) -> Child:
    if not is_object:
        return Child("", at, _value(text, at))
    name = _STRING.match(text, at)
    assert name is not None
    colon = _skip(text, name.end())
    return Child(json.loads(name[0]), at, _value(text, _skip(text, colon + 1)))


def insertion(text: str, path: tuple[str, ...], key: str, value: Any) -> Insertion | str:
    """Puts `value` under `key` into the object at `path`; with the key '', at the end of the array.
    Missing objects on the way are created; a value of another kind there is an error."""
    node = scan(text)
    for at, name in enumerate(path):
        if node.kind != "object":
            return _other_kind(path[:at], "an object")
        following = node.at(name)
        if following is None:
            inner = {key: value} if key else [value]
            for missing in reversed(path[at + 1 :]):
                inner = {missing: inner}
            return _put(text, node, name, inner)
        node = following
    wanted = "object" if key else "array"
    if node.kind != wanted:
        return _other_kind(path, f"an {wanted}")
    return _put(text, node, key, value)


def _other_kind(path: tuple[str, ...], expected: str) -> str:
    return f"{'.'.join(path) or 'the whole'} is not {expected}"


def _put(text: str, node: Node, key: str, value: Any) -> Insertion:
    newline = "\r\n" if "\r\n" in text else "\n"
    inside = text[node.start + 1 : node.end - 1]
    flat = node.children and "\n" not in inside
    unit = _unit(text)
    outer = _indent(text, node.start)
    name = f"{json.dumps(key)}: " if key else ""
    if flat:
        return Insertion(node.children[-1].value.end, f", {name}{json.dumps(value)}")
    inner = _indent(text, node.children[-1].start) if node.children else outer + unit
    shown = json.dumps(value, indent=unit).replace("\n", newline + inner)
    if node.children:
        return Insertion(node.children[-1].value.end, f",{newline}{inner}{name}{shown}")
    end = "" if "\n" in inside else newline + outer
    return Insertion(node.start + 1, f"{newline}{inner}{name}{shown}{end}")


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


Trail = tuple[tuple[Node, int], ...]  # from the whole down: a container, and which child of it
IsOurs = Callable[[tuple[str, ...], Any], bool]


def removed(text: str, is_ours: IsOurs) -> str:
    """Also without containers that held nothing but our values."""
    while (trail := next(_trails(text, scan(text), (), is_ours), None)) is not None:
        while len(trail) > 1 and _holds_nothing_else(*trail[-1]):
            trail = trail[:-1]
        start, end = _span(*trail[-1])
        text = text[:start] + text[end:]
    return text


def _trails(text: str, node: Node, keys: tuple[str, ...], is_ours: IsOurs) -> Iterator[Trail]:
    for at, child in enumerate(node.children):
        path, value = (*keys, child.key), child.value
        if is_ours(path, json.loads(text[value.start : value.end])):
            yield ((node, at),)
        else:
            below = _trails(text, value, path, is_ours)
            yield from (((node, at), *trail) for trail in below)


def _holds_nothing_else(node: Node, at: int) -> bool:
    """A matcher without hooks counts as empty."""
    others = [child.key for place, child in enumerate(node.children) if place != at]
    return others in ([], ["matcher"])


def _span(node: Node, at: int) -> tuple[int, int]:
    """A child with one comma; an only child with all white space around it."""
    children = node.children
    if len(children) == 1:
        return node.start + 1, node.end - 1
    if at + 1 < len(children):
        return children[at].start, children[at + 1].start
    return children[at - 1].value.end, children[at].value.end
