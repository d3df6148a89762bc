"""Frontmatter: split it from the body, and read it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache

from qrspi.core import patterns
from qrspi.core.hints import Any
from qrspi.core.model import Code, Problem, Status
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import FRONTMATTER_LIMIT, Fault
from qrspi.core.yaml import reader
from qrspi.core.yaml.nodes import Node, Scalar, shown

BOM = b"\xef\xbb\xbf"
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
    start = _behind_marker(data, len(BOM) if data.startswith(BOM) else 0)
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
    """The start of the next line, if this one is `---` and nothing else but white space."""
    end = data.find(b"\n", start, _HEAD)
    if end < 0 and len(data) >= _HEAD:
        return None  # the line may go on after the end of the head
    line = data[start : end if end >= 0 else len(data)]
    if not line.startswith(b"---") or line[3:].strip(b" \t\r"):
        return None
    return end + 1 if end >= 0 else len(data)


def read(data: bytes, file: str = "") -> Front | Problem | None:
    block = _block(data)
    if block is None:
        return None
    if isinstance(block, str):
        return _invalid(reader.problem(block, file, 1, 1))
    text = reader.decode(data[block.start : block.end], file, first_line=2)
    fields = reader.parse(text, file, first_line=2) if isinstance(text, str) else text
    return _invalid(fields) if isinstance(fields, Problem) else Front(fields, *block)


def _invalid(problem: Problem) -> Problem:
    return problem._replace(code="invalid-frontmatter")


def fields(content: bytes | Fault) -> Mapping[str, Node]:
    """For a caller to whom unreadable frontmatter says nothing."""
    front = None if isinstance(content, Fault) else read(content)
    return front.fields if isinstance(front, Front) else {}


def filled(fields: Mapping[str, Node], key: str) -> str:
    """The text of a field; '' also for a null, which somebody still has to fill in."""
    node = fields.get(key)
    is_null = isinstance(node, Scalar) and node.plain and node.text in ("null", "~", "Null")
    return "" if is_null else text(fields, key) or ""


def text(fields: Mapping[str, Node], key: str) -> str | None:
    node = fields.get(key)
    return node.text if isinstance(node, Scalar) else None


def number(fields: Mapping[str, Node], key: str) -> int:
    """A number of up to five digits; 0 when the field is not one."""
    digits = text(fields, key) or ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 0


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
    text = reader.decode(source)
    fields = reader.parse(text, first_line=2) if isinstance(text, str) else text
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
    """Whether the value stands on one line with its key, and the key is written plainly."""
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
            message = f"{file}: cannot be read ({fault.reason})"
            return "invalid", Problem("unreadable", message, file, hint="make it readable")


def _unknown_status(node: Scalar, file: str, remark: str = "") -> Problem:
    found = node.raw.strip(" \t\r\n")
    value = shown(found) + _look_alike(found) if found else "empty"
    where = f":{node.line + 1}:{node.column}"
    return _doubt("unknown-status", f"status is {value}{remark}", file, where, found)


def _doubt(code: Code, what: str, file: str, where: str = "", found: str = "") -> Problem:
    message = f"{file}{where}: {what}, expected {_EXPECTED}; read as draft"
    return Problem(code, message, file, field="status", found=found, expected=_EXPECTED)


def _look_alike(found: str) -> str:
    """The name of a character that is easily mistaken for another."""
    odd = next((char for char in found if not char.isascii()), "")
    return f" with the character U+{ord(odd):04X}" if odd else ""


def body(data: bytes) -> bytes:
    """The file without its frontmatter, whether that can be read or not."""
    block = _block(data)
    return data[block.body :] if isinstance(block, _Block) else data.removeprefix(BOM)


def without(data: bytes, keys: tuple[str, ...]) -> bytes:
    """The frontmatter's text without the lines of these fields, a NUL, and the body. A comment
    after a value stays, and so does a value of several lines: only what the engine writes itself
    is left out."""
    return b"\0".join(next(each_without((data,), keys)))


def each_without(texts: Iterable[bytes], keys: tuple[str, ...]) -> Iterator[tuple[bytes, bytes]]:
    """What is before the NUL and behind it, of each. Texts of one step mostly begin alike."""
    before = kept = b""
    for data in texts:
        size = len(before)
        if size and data[:size] == before:
            yield kept, data[size:]
            continue
        block = _block(data)
        if not isinstance(block, _Block):
            yield b"", data.removeprefix(BOM)
            continue
        kept = _left_out_of(data[block.start : block.end], keys)
        yield kept, data[block.body :]
        # A last line that was cut off may go on in the next text.
        before = data[: block.body] if data[block.body - 1 : block.body] == b"\n" else b""


def _left_out_of(source: bytes, keys: tuple[str, ...]) -> bytes:
    return (_left_out if len(source) <= _USUAL else _left_out.__wrapped__)(source, keys)


@lru_cache(maxsize=256)  # for the same reason
def _left_out(source: bytes, keys: tuple[str, ...]) -> bytes:
    text = _without_line_ends(source)
    if text.lstrip().startswith(b"{"):
        return _in_braces(text, keys)
    field = patterns.compile(rb"([\"']?)(%b)\1[ \t]*:[ \t]*%b?[ \t]*(#.*)?" % (_any(keys), _VALUE))
    lines = ((line, field.fullmatch(line)) for line in text.split(b"\n"))
    kept = (match[4] or b"" if match else line for line, match in lines)
    return b"\n".join(line for line in kept if line)


_VALUE = rb"(\"[^\"]*\"|'[^']*'|[^\s#\"'\[{|>&*!][^#\"']*?)"


def _any(keys: Collection[str]) -> bytes:
    return "|".join(map(patterns.escape, keys)).encode()


def _in_braces(text: bytes, keys: Collection[str]) -> bytes:
    """`{status: draft, owner: ada}`: a value of such a field ends at a comma or a brace."""
    value = rb"(\"[^\"]*\"|'[^']*'|[^\s#\"'\[{|>&*!,][^#\"',{}]*?)"
    field = rb"([\"']?)\b(%b)\1[ \t]*:[ \t]*%b[ \t]*(,[ \t]*|(?=}))" % (_any(keys), value)
    return patterns.sub(field, b"", text)


def text_of(data: bytes) -> bytes:
    """What counts of a file when texts are compared: the body, without white space at line ends."""
    return _without_line_ends(body(data))


def body_hash(bodies: Iterable[bytes]) -> str:
    """SHA-256 of the bodies, without white space at line ends."""
    return hash_as_is(b"\0".join(map(_without_line_ends, bodies)))


def hash_as_is(text: bytes) -> str:
    digest: str = _sha256()(text).hexdigest()
    return digest


@cache
def _sha256() -> Callable[[bytes], Any]:
    from qrspi.core.digest import sha256

    return sha256


def _without_line_ends(text: bytes) -> bytes:
    # A single byte is found many times as fast as two, and few texts have a tab.
    tabs = b"\t" in text and b"\t\n" in text
    if not (b" \n" in text or tabs or b"\r" in text or text[-1:] in (b" ", b"\t")):
        return text
    return b"\n".join(line.rstrip(b" \t\r") for line in text.split(b"\n"))
