"""Untrusted text between markers, so that it reads as data and cannot close its own wrapper."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from qrspi.core.digest import sha256
from qrspi.core.errors import Misuse
from qrspi.core.hints import Literal
from qrspi.core.model import Problem

Family = Literal["UNTRUSTED-ARTIFACT", "UNTRUSTED-PATH", "UNTRUSTED-SCOPE-HINT", "UNTRUSTED-VALUE"]

# A text may try very many ends at once; with 96 bits, none of them will match.
_HASH_LENGTH = 24
_ID = r"[A-Za-z0-9._/-]+"
_NOT_ID = r"[^A-Za-z0-9._/-]+"
_START = rb"<<<(UNTRUSTED-[A-Z]+(?:-[A-Z]+)*)-START id=([A-Za-z0-9._/-]+)( encoding=base64)?>>>\n"


def wrap(data: bytes, name: str, family: Family = "UNTRUSTED-ARTIFACT") -> bytes:
    """The bytes between markers on lines of their own; `unwrap` gives them back exactly."""
    encoded = _must_encode(data)
    content = _base64(data) if encoded else data
    start, end = _markers(marker_id(name, content), family, encoded)
    return b"".join((start.encode(), b"\n", content, b"\n", end.encode(), b"\n"))


def marker_id(name: str, content: bytes) -> str:
    """The name with a hash of what stands between the markers. A text cannot contain its own hash,
    so nothing in it can be its end. The same text always has the same id."""
    if not re.fullmatch(_ID, name):
        expected = "letters, digits and any of . _ / -"
        message = f"id: found {name!r}, expected only {expected}"
        raise Misuse(Problem("bad-id", message, field="id", found=name, expected=expected))
    return f"{name}-{sha256(content).hexdigest()[:_HASH_LENGTH]}"


@lru_cache(maxsize=16)
def _must_encode(data: bytes) -> bool:
    """Two hundred verifiers get the same artifact; it is scanned once."""
    return not _is_text(data) or has_marker(data.decode())


def wrap_inline(text: str, name: str, family: Family) -> str:
    """The same within one line, where even a line break could escape."""
    encoded = has_marker(text) or len(text.splitlines()) > 1 or text.endswith(_LINE_ENDS)
    content = _base64(text.encode()).decode() if encoded else text
    start, end = _markers(marker_id(name, content.encode()), family, encoded)
    return f"{start}{content}{end}"


def scope_hint(tags: Iterable[str]) -> str:
    return wrap_inline(", ".join(tags), "scope_hint", "UNTRUSTED-SCOPE-HINT")


def scope_hint_sentence(tags: Iterable[str]) -> str:
    return (
        f"This round's diff is narrowed to: {scope_hint(tags)}. "
        "Focus your review on this surface but flag anything significant outside it."
    )


def unwrap(data: bytes) -> bytes | Problem:
    """What `wrap` was given. Anything that `wrap` would not have written is a Problem."""
    start = re.match(_START, data)
    if not start:
        return _malformed("no start marker on the first line", "<<<UNTRUSTED-…-START id=…>>>")
    end = b"<<<%b-END id=%b>>>" % (start[1], start[2])
    rest = data[start.end() :].removesuffix(b"\n")
    if not rest.endswith(b"\n" + end):
        return _malformed("no matching end marker on the last line", end.decode())
    content = rest[: -len(end) - 1]
    plain = _decoded(content) if start[3] else _literal(content)
    id = start[2].decode()
    name = id[: -_HASH_LENGTH - 1]
    if isinstance(plain, Problem) or (name and id == marker_id(name, content)):
        return plain
    return _malformed("an id that is not of this text", "a name, a hyphen and the text's hash")


def source_id(name: str) -> str:
    """A name made fit to be an id: every run of other characters becomes one hyphen."""
    return re.sub(_NOT_ID, "-", name) or "-"


def distinct_ids(names: Iterable[str]) -> tuple[str, ...]:
    """One id for each name, in order, all different."""
    ids: list[str] = []
    for name in names:
        plain = candidate = source_id(name)
        count = 1
        while candidate in ids:
            count += 1
            candidate = f"{plain}-{count}"
        ids.append(candidate)
    return tuple(ids)


def has_marker(text: str) -> bool:
    """Whether the text holds anything that a reader, or a model, could take for a marker."""
    if text.isascii() and text.count("<") < 3:
        return False  # nothing else in ASCII looks like a bracket
    return "<<<untrusted-" in _plain(text)


_LINE_ENDS = ("\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
# By category these are letters and symbols, but they are drawn as nothing at all.
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def _plain(text: str) -> str:
    # NFKD and not NFKC: it finds everything that NFKC finds, and a combining mark cannot
    # hide a bracket by composing with it (`<` and U+0338 become `≮`).
    folded = unicodedata.normalize("NFKD", text)
    return folded.translate({ord(mark): _reduced(mark) for mark in set(folded)}).casefold()


@lru_cache(1024)
def _reduced(mark: str) -> str | None:
    category = unicodedata.category(mark)
    if mark in _BLANKS or category[0] in "ZM" or category in ("Cf", "Cc"):
        return None
    return "-" if category == "Pd" or mark == "\u2212" else mark


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _markers(id: str, family: Family, encoded: bool) -> tuple[str, str]:
    encoding = " encoding=base64" if encoded else ""
    return f"<<<{family}-START id={id}{encoding}>>>", f"<<<{family}-END id={id}>>>"


def _base64(data: bytes) -> bytes:
    import binascii  # a library of its own, and nearly all content is text

    return binascii.b2a_base64(data, newline=False)


def _decoded(content: bytes) -> bytes | Problem:
    import binascii

    try:
        decoded = binascii.a2b_base64(content, strict_mode=True)
    except binascii.Error:
        return _malformed("content that is not base64", "padded base64 in one line")
    # The decoder tolerates stray low bits and inner padding: two texts could mean the same bytes.
    if _base64(decoded) != content:
        return _malformed("content that is not base64", "padded base64 in one line")
    return decoded


def _literal(content: bytes) -> bytes | Problem:
    if not _is_text(content):
        return _malformed("bytes that are not UTF-8", "UTF-8, or encoding=base64")
    if has_marker(content.decode()):
        return _malformed("a second marker inside the wrapper", "encoding=base64")
    return content


def _malformed(found: str, expected: str) -> Problem:
    message = f"not a wrapped text: found {found}, expected {expected}"
    return Problem("malformed-wrapper", message, found=found, expected=expected)
