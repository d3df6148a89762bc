"""Frontmatter: split it from the body, read it, set one field and keep every other byte."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from qrspi.core.model import Problem, Status
from qrspi.core.tree import FRONTMATTER_LIMIT, Fault
from qrspi.core.yaml import edit as yaml_edit
from qrspi.core.yaml import reader as yaml
from qrspi.core.yaml.nodes import Document, Node, Scalar, shown

_BOM = b"\xef\xbb\xbf"
_HEAD = FRONTMATTER_LIMIT + 64  # what Tree.head gives at most
_STATUSES: Mapping[str, Status] = {
    f"{quote}{word}{quote}": word
    for word in ("draft", "approved", "replan-draft")
    for quote in ("", '"', "'")
}
_TOO_LARGE = f"frontmatter larger than {FRONTMATTER_LIMIT // 1024} KiB"
_NO_END = "frontmatter without an end: no further line is '---' alone"
_EXPECTED = "draft, approved or replan-draft"


class Front(NamedTuple):
    """Byte offsets: the YAML text is data[start:end], the body data[body:]."""

    fields: dict[str, Node]
    start: int
    end: int
    body: int


class _Block(NamedTuple):
    start: int
    end: int
    body: int


def _block(data: bytes) -> _Block | str | None:
    """Where the block lies, what is wrong with it, or None when there is none."""
    if data[:4] == b"---\n":  # as nearly every file begins: half the time of the careful way
        end = data.find(b"\n---", 3, FRONTMATTER_LIMIT)
        if end > 0 and data[end + 4 : end + 5] == b"\n":
            return _Block(4, end + 1, end + 5)
    start = _behind_marker(data, len(_BOM) if data.startswith(_BOM) else 0)
    if start is None:
        return None
    end = start - 1
    while (end := data.find(b"\n---", end, _HEAD) + 1) > 0:
        if end - start > FRONTMATTER_LIMIT:
            return _TOO_LARGE
        behind = _behind_marker(data, end)
        if behind is not None:
            return _Block(start, end, behind)
    return _TOO_LARGE if len(data) >= _HEAD else _NO_END


def _behind_marker(data: bytes, start: int) -> int | None:
    """The start of the next line, if this one is `---` alone, white space aside."""
    end = data.find(b"\n", start, _HEAD)
    if end < 0 and len(data) >= _HEAD:
        return None  # the line goes on where a head is cut
    line = data[start : end if end >= 0 else len(data)]
    if not line.startswith(b"---") or line[3:].strip(b" \t\r"):
        return None
    return end + 1 if end >= 0 else len(data)


def read(data: bytes, file: str = "") -> Front | Problem | None:
    """None when the file has no frontmatter at all."""
    block = _block(data)
    if block is None:
        return None
    if isinstance(block, str):
        return _invalid(yaml.problem(block, file, 1, 1))
    text = yaml.decode(data[block.start : block.end], file, first_line=2)
    fields = yaml.parse(text, file, first_line=2) if isinstance(text, str) else text
    return _invalid(fields) if isinstance(fields, Problem) else Front(fields, *block)


def _invalid(problem: Problem) -> Problem:
    return problem._replace(code="invalid-frontmatter")


def text(fields: Mapping[str, Node], key: str) -> str | None:
    """The scalar's content; None when it is absent or not a scalar."""
    node = fields.get(key)
    return node.text if isinstance(node, Scalar) else None


def status(content: bytes | Fault, file: str) -> tuple[Status, Problem | None]:
    """The status of an artifact from the start of its file, and what is odd about it."""
    if isinstance(content, Fault):
        return _status_without_bytes(content, file)
    block = _block(content)
    known = None
    if isinstance(block, _Block) and block.end - block.start <= _USUAL:
        known = _plain_status(content[block.start : block.end])
    return (known, None) if known else _doubtful_status(content, file)


_USUAL = 4096  # bytes; a larger block is read once, since ruamel.yaml may take a while for it


@lru_cache(maxsize=256)  # most artifacts of most runs say `status: approved` and nothing else
def _plain_status(source: bytes) -> Status | None:
    """The status that this block has beyond doubt."""
    text = yaml.decode(source)
    fields = yaml.parse(text, first_line=2) if isinstance(text, str) else text
    node = None if isinstance(fields, Problem) else fields.get("status")
    if not isinstance(text, str) or not isinstance(node, Scalar):
        return None
    return _STATUSES.get(node.raw) if _is_beside_key(text, node) else None


def _doubtful_status(content: bytes, file: str) -> tuple[Status, Problem | None]:
    front = read(content, file)
    if isinstance(front, Problem):
        return "invalid", front
    if front is None:
        return "draft", _doubt("no-frontmatter", "no frontmatter, so no status", file)
    node = front.fields.get("status")
    if node is None:
        return "draft", _doubt("no-status", "no 'status' in the frontmatter", file)
    if not isinstance(node, Scalar):
        found = "a list" if isinstance(node, tuple) else "a mapping"
        return "draft", _doubt("unknown-status", f"status is {found}", file, found=found)
    if node.raw in _STATUSES:
        if _is_beside_key(content[front.start : front.end].decode(), node):
            return _STATUSES[node.raw], None
        remark = " but not behind 'status:' on the same line"
        return "draft", _unknown_status(node, file, remark)
    return "draft", _unknown_status(node, file)


def _is_beside_key(source: str, value: Scalar) -> bool:
    """The value and its key, written as such, are on one line."""
    line = source.splitlines()[value.line - 1]
    key = line[: value.column - 1].rstrip(" \t").removesuffix(":")
    word = key.replace("{", " ").replace(",", " ").split()[-1:]
    return word in (["status"], ['"status"'], ["'status'"])


def _status_without_bytes(fault: Fault, file: str) -> tuple[Status, Problem | None]:
    detail = f" ({fault.detail})" if fault.detail else ""
    match fault.kind:
        case "absent":
            return "missing", None
        case "not-a-file":
            message = f"{file}: not a regular file{detail}"
            return "invalid", Problem("not-a-file", message, file, hint="put a file in its place")
        case "unreadable" | "too-large":
            message = f"{file}: cannot be read{detail}"
            return "invalid", Problem("unreadable", message, file, hint="make it readable")


def _unknown_status(node: Scalar, file: str, remark: str = "") -> Problem:
    found = node.raw.strip(" \t\r\n")
    value = shown(found) + _look_alike(found) if found else "empty"
    where = f":{node.line + 1}:{node.column}"
    return _doubt("unknown-status", f"status is {value}{remark}", file, where, found)


def _doubt(code: str, what: str, file: str, where: str = "", found: str = "") -> Problem:
    message = f"{file}{where}: {what}, expected {_EXPECTED}; read as draft"
    return Problem(code, message, file, field="status", found=found, expected=_EXPECTED)


def _look_alike(found: str) -> str:
    """Names a character that is easily taken for another."""
    odd = next((char for char in found if not char.isascii()), "")
    return f" with the character U+{ord(odd):04X}" if odd else ""


def set_field(data: bytes, key: str, value: str, file: str = "") -> bytes | Problem:
    """`value` is YAML source for one line. A new key becomes the last line of the block."""
    node = yaml.parse_value(value)
    if node is None:
        return _bad_value(key, value, "one YAML value on one line", file)

    def change(source: str, document: Document, newline: str) -> str:
        return yaml_edit.put(source, document, key, value, newline)

    return _changed(data, key, node, change, file)


def set_lines(data: bytes, key: str, lines: Sequence[str], file: str = "") -> bytes | Problem:
    """Sets a value that has lines of its own below the key: `["- goals", "- plan"]`."""
    node = yaml.parse_lines(lines)
    if node is None:
        return _bad_value(key, "\n".join(lines), "the lines of one YAML list or mapping", file)

    def change(source: str, document: Document, newline: str) -> str:
        return yaml_edit.put_lines(source, document, key, lines, newline)

    return _changed(data, key, node, change, file)


def remove_field(data: bytes, key: str, file: str = "") -> bytes | Problem:
    front = read(data, file)
    if isinstance(front, Problem):
        return front
    if front is None or key not in front.fields:
        return data

    def change(source: str, document: Document, newline: str) -> str:
        return yaml_edit.remove(source, document.entries[key])

    return _changed(data, key, None, change, file)


_Change = Callable[[str, Document, str], str]


def _changed(
    data: bytes, key: str, node: Node | None, change: _Change, file: str
) -> bytes | Problem:
    """The file after the change, if reading it back shows this change and no other."""
    if _block(data) is None:
        data = _with_block(data)
    front = read(data, file)
    if not isinstance(front, Front):
        return front or _not_editable(key, file)
    source = data[front.start : front.end].decode()
    document = yaml.locate(source, key)
    if isinstance(document, Problem) or not yaml_edit.is_editable(source, document, key):
        return _not_editable(key, file)
    newline = "\r\n" if data[: front.start].endswith(b"\r\n") else "\n"
    changed = change(source, document, newline).encode()
    result = data[: front.start] + changed + data[front.end :]
    expected = {**front.fields, key: node} if node is not None else _without(front.fields, key)
    return result if _reads_as(result, expected) else _not_editable(key, file)


def _without(fields: Mapping[str, Node], key: str) -> dict[str, Node]:
    return {name: value for name, value in fields.items() if name != key}


def _reads_as(data: bytes, fields: dict[str, Node]) -> bool:
    front = read(data)
    return isinstance(front, Front) and yaml.written(front.fields) == yaml.written(fields)


def _with_block(data: bytes) -> bytes:
    rest = data.removeprefix(_BOM)
    newline = b"\r\n" if rest.partition(b"\n")[0].endswith(b"\r") else b"\n"
    return data[: len(data) - len(rest)] + b"---" + newline + b"---" + newline + rest


def _bad_value(key: str, value: str, expected: str, file: str) -> Problem:
    message = f"{file}: cannot set {key!r} to {shown(value)}, expected {expected}"
    return Problem("invalid-value", message, file, key, value, expected)


def _not_editable(key: str, file: str) -> Problem:
    message = f"{file}: cannot change {key!r} and keep the rest as it is written"
    return Problem("not-editable", message, file, key, hint="change it in an editor")


def body(data: bytes, file: str = "") -> bytes:
    """The file without its frontmatter, whether that can be read or not."""
    block = _block(data)
    return data[block.body :] if isinstance(block, _Block) else data.removeprefix(_BOM)


def text_of(data: bytes) -> bytes:
    """What counts of a file when texts are compared: the body, white space at line ends aside."""
    return _without_line_ends(body(data))


def body_hash(bodies: Iterable[bytes]) -> str:
    """SHA-256 over the bodies, white space at line ends aside."""
    import hashlib  # loads OpenSSL, which most commands never need

    return hashlib.sha256(b"\0".join(map(_without_line_ends, bodies))).hexdigest()


def _without_line_ends(text: bytes) -> bytes:
    if not (b" \n" in text or b"\t\n" in text or b"\r" in text or text[-1:] in (b" ", b"\t")):
        return text
    return b"\n".join(line.rstrip(b" \t\r") for line in text.split(b"\n"))
