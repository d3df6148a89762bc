"""The H2 sections of a Markdown artifact, by a line scanner that follows CommonMark's blocks.

markdown-it-py would give the same answer (the tests compare them), but its import alone costs four
cold starts and it takes two seconds for a megabyte."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import partial
from itertools import dropwhile

from qrspi.core.hints import Literal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml import frontmatter


class Span(NamedTuple):
    title: str
    start: int  # lines of the whole file, from 1
    end: int


class Sections(NamedTuple):
    spans: tuple[Span, ...]
    lines: int

    def holding(self, line: int) -> Span | None:
        at = bisect_right(self.spans, line, key=lambda span: span.start)
        return self.spans[at - 1] if at and line <= self.lines else None

    def named(self, title: str) -> Span | None:
        """The first section of this name, in any case, with or without a colon."""
        spans = (span for span in self.spans if span.title.rstrip(":").casefold() == title)
        return next(spans, None)


def read(data: bytes) -> Sections:
    """The H2 headings of the document itself: not of its quotes, lists, fences or comments."""
    body = frontmatter.body(data)
    before = data.count(b"\n", 0, len(data) - len(body))
    lines = body.decode(errors="replace").split("\n")
    scanner = _Scanner()
    for line in lines:
        scanner.feed(line.removesuffix("\r"))
    last = before + len(lines)
    starts = [before + at + 1 for at, _ in scanner.found]
    ends = [*(start - 1 for start in starts[1:]), last]
    titles = (title for _, title in scanner.found)
    return Sections(tuple(map(Span, titles, starts, ends)), last)


# Texts until a line may need them: most documents have no HTML, and compiling all of these takes
# as long as starting Python.

# Deeper nesting is read as text, since each level is checked again for every line.
_DEPTH = 32
_QUOTE = 0  # a container is the columns its lines must be indented by; a block quote has none
_TEXT = r" {0,3}[A-Za-z]"
_ATX = r"(#{1,6})(?:[ \t]+(.*)|$)"
_SETEXT = r"(=+|-+)[ \t]*$"
_FENCE = r"(`{3,})[^`]*$|(~{3,})"
_MARKER = r"(?:[-+*]|([0-9]{1,9})[.)])(?= |$)"
_DEFINITION = (
    r" {0,3}\[(?=[^\]]*\S)(?:[^\[\]\\]|\\.)++\]:[ \t]*+(?:<[^<>]*>|(?!<)\S+)"
    r"""(?:[ \t]+(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?[ \t]*+$"""
)

_BLOCK_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details"
    " dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6"
    " head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option"
    " p param search section summary table tbody td tfoot th thead title tr track ul"
).replace(" ", "|")
_ATTRIBUTE = (
    r"""[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*+(?:[ \t]*=[ \t]*(?:[^ \t"'=<>`]++|'[^']*'|"[^"]*"))?"""
)
_RAW_TAGS = "script|pre|style|textarea"
_UNTIL_BLANK = r"(?!)"
_HTML = (
    (rf"(?i)<(?:{_RAW_TAGS})(?=[ \t>]|$)", rf"(?i)</(?:{_RAW_TAGS})>"),
    ("<!--", "-->"),
    (r"<\?", r"\?>"),
    ("<![A-Za-z]", ">"),
    (r"<!\[CDATA\[", r"\]\]>"),
    (rf"(?i)</?(?:{_BLOCK_TAGS})(?=[ \t]|/?>|$)", _UNTIL_BLANK),
)
_ANY_TAG = (
    rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+[ \t]*/?>"
    r"|</[A-Za-z][A-Za-z0-9-]*+[ \t]*>)[ \t]*$"
)

_Leaf = Literal["none", "text", "fence", "html"]


class _Scanner:
    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.at = -1
        self.containers: list[int] = []
        self.bare = False  # the innermost list item has no content yet
        self.leaf: _Leaf = "none"
        self.paragraph: list[str] = []
        self.fence = ""
        self.html_end = _UNTIL_BLANK

    def feed(self, line: str) -> None:
        self.at += 1
        if not self.containers and self.leaf in ("none", "text") and re.match(_TEXT, line):
            self._text(line)
            return
        # Tab stops are columns of the line, so expanding first loses nothing.
        rest, depth = self._continued(line.expandtabs(4))
        self.bare = False
        inside = depth == len(self.containers)
        if inside and self.leaf == "fence":
            self._in_fence(rest)
        elif inside and self.leaf == "html":
            self._in_html(rest)
        elif not rest.strip(" "):
            self._close(depth)
        elif not (inside and self._underlines(rest)):
            self._block(rest, depth, line)

    def _continued(self, rest: str) -> tuple[str, int]:
        """What is left of the line inside the containers that it continues, and their number."""
        for depth, needed in enumerate(self.containers):
            inner = _quoted(rest) if needed == _QUOTE else self._in_item(rest, depth, needed)
            if inner is None:
                return rest, depth
            rest = inner
        return rest, len(self.containers)

    def _in_item(self, rest: str, depth: int, needed: int) -> str | None:
        if not rest.strip(" "):
            return None if self.bare and depth == len(self.containers) - 1 else ""
        return rest[needed:] if _indent(rest) >= needed else None

    def _in_fence(self, rest: str) -> None:
        mark = rest.strip(" ")
        closing = _indent(rest) < 4 and len(mark) >= len(self.fence)
        if closing and not mark.strip(self.fence[0]):
            self.leaf = "none"

    def _in_html(self, rest: str) -> None:
        by_blank = self.html_end == _UNTIL_BLANK and not rest.strip(" ")
        if by_blank or re.search(self.html_end, rest):
            self.leaf = "none"

    def _underlines(self, rest: str) -> bool:
        """Whether this line turns the paragraph above it into a heading."""
        if self.leaf != "text" or _indent(rest) > 3:
            return False
        mark = re.match(_SETEXT, rest.lstrip(" "))
        text = list(dropwhile(partial(re.match, _DEFINITION), self.paragraph)) if mark else []
        if not mark or not text:
            return False
        if not self.containers and mark[1].startswith("-"):
            self.found.append((self.at - len(text), " ".join(part.strip() for part in text)))
        self.leaf = "none"
        return True

    def _block(self, rest: str, depth: int, line: str) -> None:
        """A line that no fence, HTML or heading above it claims: containers, then content."""
        interrupts = self.leaf == "text" and depth == len(self.containers)
        while depth < _DEPTH and (inner := self._opened(rest, depth, interrupts)) is not None:
            rest, depth, interrupts = inner, len(self.containers), False
        if rest.strip(" ") and not self._special(rest, depth, line):
            if self.leaf != "text":
                self._close(depth)
            self._text(line)

    def _opened(self, rest: str, depth: int, interrupts: bool) -> str | None:
        """The line inside a block quote or list item that begins here, if one does."""
        inner = _quoted(rest)
        needed, bare = _QUOTE, False
        if inner is None:
            item = _item(rest, interrupts)
            if not item:
                return None
            inner, needed = item
            bare = not inner.strip(" ")
        self._close(depth)
        self.containers.append(needed)
        self.bare = bare
        return inner

    def _special(self, rest: str, depth: int, line: str) -> bool:
        """Whether the line is anything but part of a paragraph."""
        text = rest.lstrip(" ")
        if _indent(rest) > 3:
            # Code, unless a paragraph is open, which then continues.
            return self.leaf != "text" and self._close(depth)
        if atx := re.match(_ATX, text if depth else line.strip(" \t")):
            if not depth and len(atx[1]) == 2:
                self.found.append((self.at, _without_closing(atx[2] or "")))
            return self._close(depth)
        if fence := re.match(_FENCE, text):
            self.fence = fence[1] or fence[2]
            return self._close(depth, "fence")
        if end := _html_start(text, self.leaf == "text"):
            self.html_end = end
            self._close(depth, "html")
            self._in_html(text)
            return True
        return _is_rule(text) and self._close(depth)

    def _close(self, depth: int, leaf: _Leaf = "none") -> bool:
        """Leave the containers that the line is not in; what comes next is `leaf`."""
        del self.containers[depth:]
        self.leaf = leaf
        return True

    def _text(self, line: str) -> None:
        if self.leaf != "text":
            self.leaf, self.paragraph = "text", []
        self.paragraph.append(line)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _quoted(rest: str) -> str | None:
    text = rest.lstrip(" ")
    if len(rest) - len(text) > 3 or not text.startswith(">"):
        return None
    return text[2:] if text.startswith("> ") else text[1:]


def _item(rest: str, interrupts: bool) -> tuple[str, int] | None:
    """A list item's first line without its marker, and how far its lines are indented."""
    text = rest.lstrip(" ")
    marker = re.match(_MARKER, text)
    if not marker or len(rest) - len(text) > 3 or _is_rule(text):
        return None
    inner = text[marker.end() :]
    blank = not inner.strip(" ")
    if interrupts and (blank or int(marker[1] or 1) != 1):
        return None
    gap = 1 if blank or _indent(inner) > 4 else _indent(inner)
    return inner[gap:], len(rest) - len(text) + marker.end() + gap


def _is_rule(text: str) -> bool:
    mark = text[:1]
    return mark in ("*", "-", "_") and not text.strip(mark + " \t") and text.count(mark) > 2


def _html_start(text: str, in_paragraph: bool) -> str | None:
    """The pattern that ends it."""
    if not text.startswith("<"):
        return None
    for start, end in _HTML:
        if re.match(start, text):
            return end
    return _UNTIL_BLANK if not in_paragraph and re.match(_ANY_TAG, text) else None


def _without_closing(text: str) -> str:
    text = text.strip(" \t")
    bare = text.rstrip("#")
    return bare.strip(" \t") if not bare or bare[-1] in " \t" else text
