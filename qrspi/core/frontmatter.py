"""Frontmatter: split it from the body, read it, set one field and keep every other byte."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from qrspi.core import yaml
from qrspi.core.model import Problem, Status
from qrspi.core.tree import FRONTMATTER_LIMIT, Fault
from qrspi.core.yaml import Node, Scalar

BOM = b"\xef\xbb\xbf"
HEAD = FRONTMATTER_LIMIT + 64
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_CLOSING = re.compile(rb"^---[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)


class Front(NamedTuple):
    """Byte offsets: the YAML text is data[start:end], the body data[body:]."""

    fields: dict[str, Node]
    start: int
    end: int
    body: int


class _Split(NamedTuple):
    start: int
    end: int
    body: int


def _split(data: bytes) -> _Split | str | None:
    """Where the block lies, None when there is none, or what is wrong with it."""
    opening = _OPENING.match(data)
    if not opening:
        return None
    closing = _CLOSING.search(data, opening.end(), HEAD)
    if closing and closing.end() == HEAD and not closing[0].endswith(b"\n"):
        closing = None
    if closing and closing.start() - opening.end() <= FRONTMATTER_LIMIT:
        return _Split(opening.end(), closing.start(), closing.end())
    if closing or len(data) >= HEAD:
        return f"frontmatter larger than {FRONTMATTER_LIMIT // 1024} KiB"
    return "frontmatter without an end: no line that is '---' alone"


def read(data: bytes, file: str = "") -> Front | Problem | None:
    split = _split(data)
    if split is None:
        return None
    if isinstance(split, str):
        return _invalid(f"{file}:1:1: {split}", file)
    try:
        text = data[split.start : split.end].decode()
    except UnicodeDecodeError as error:
        before = data[split.start : split.start + error.start]
        column = len(before) - before.rfind(b"\n")
        return _invalid(f"{file}:{before.count(10) + 2}:{column}: bytes that are not UTF-8", file)
    fields = yaml.parse(text, file, first_line=2)
    if isinstance(fields, Problem):
        return fields._replace(code="invalid-frontmatter")
    return Front(fields, *split)


def _invalid(message: str, file: str) -> Problem:
    return Problem("invalid-frontmatter", message, file=file)


def status(content: bytes | Fault, file: str) -> tuple[Status, Problem | None]:
    if isinstance(content, Fault):
        if content.kind == "absent":
            return "missing", None
        return "invalid", Problem(content.kind, f"{file}: {content.detail or content.kind}", file)
    front = read(content, file)
    if isinstance(front, Problem):
        return "invalid", front
    if front is None:
        return "draft", Problem("no-frontmatter", f"{file}: no frontmatter; taken as draft", file)
    node = front.fields.get("status")
    if node is None:
        return "draft", Problem("no-status", f"{file}: no 'status'; taken as draft", file, "status")
    if isinstance(node, Scalar):
        match node.raw:
            case "approved" | '"approved"' | "'approved'":
                return "approved", None
            case "draft" | '"draft"' | "'draft'":
                return "draft", None
            case "replan-draft" | '"replan-draft"' | "'replan-draft'":
                return "replan-draft", None
    return "draft", Problem("unknown-status", f"{file}: unknown status; taken as draft", file)


def set_field(data: bytes, key: str, value: str, file: str = "") -> bytes | Problem:
    front = read(data, file)
    if isinstance(front, Problem):
        return front
    line = f"{key}: {value}"
    if front is None:
        return f"---\n{line}\n---\n".encode() + data
    text = data[front.start : front.end].decode()
    document = yaml.compose(text, file, first_line=2)
    if isinstance(document, Problem):
        return document
    if entry := document.entries.get(key):
        text = f"{text[: entry.colon]} {value}{text[entry.end :]}"
    else:
        text = f"{text}{line}\n"
    return data[: front.start] + text.encode() + data[front.end :]


def body(data: bytes, file: str = "") -> bytes:
    split = _split(data)
    return data[split.body :] if isinstance(split, _Split) else data.removeprefix(BOM)


def body_hash(bodies: Iterable[bytes]) -> str:
    return hashlib.sha256(b"\0".join(map(_without_line_ends, bodies))).hexdigest()


def _without_line_ends(text: bytes) -> bytes:
    return b"\n".join(line.rstrip(b" \t\r") for line in text.split(b"\n"))


def text(fields: Mapping[str, Node], key: str) -> str | None:
    """The scalar's content; None when it is absent or not a scalar."""
    node = fields.get(key)
    return node.text if isinstance(node, Scalar) else None
