"""Markdown of agents as HTML that can do nothing, and in which every line has an address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import quote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from qrspi.core.named_tuple import NamedTuple
from qrspi.render.terminal import visible

_TAGS = set(
    """a blockquote br code del div em h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th
    thead tr ul""".split()
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start"},
    "code": {"class"},
    "div": {"class", "tabindex", "role", "aria-label"},
    **{tag: {"id", "data-line"} for tag in ("p", "li", "ul", "tr", "span", "blockquote")},
}
_SCHEMES = {"http", "https", "mailto"}
_FRONT = re.compile(r"---\n.*?\n---\n", re.DOTALL)
LONGEST = 256 * 1024  # characters; a longer text is shown as plain lines
_LOWER = 2  # ranks: a page has its title, and a heading for each text


class Block(NamedTuple):
    first: int
    last: int
    html: str

    @property
    def is_remark(self) -> bool:
        """A comment of HTML is shown, as everything is, but it is no part of what is said."""
        return self.html.startswith("<p>&lt;!--") and self.html.endswith("--&gt;</p>\n")


class TextPlace(NamedTuple):
    """Where a text is shown: links lead to its neighbours, and the addresses of its lines begin
    with `prefix` where a page shows more than one file."""

    run: str = ""
    path: str = ""
    prefix: str = ""

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


def blocks(text: str, place: TextPlace) -> tuple[Block, ...]:
    """The text without its frontmatter, block by block; lines are counted from 1."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as the parser counts lines
    front = _front(text)
    return tuple(_blocks(text.removeprefix(front), place, front.count("\n")))


def _blocks(text: str, place: TextPlace, skipped: int) -> Iterator[Block]:
    lines, at = text.split("\n"), 0
    for first, last, group in _groups(_parser().parse(text)):
        yield from _between(lines, at, first, skipped)
        source, at = "\n".join(lines[first:last]), last
        unsaid = _as_written(source) if is_hidden(source, group) else ""
        yield Block(first + skipped + 1, last + skipped, _html(group, place, skipped + 1) + unsaid)
    yield from _between(lines, at, len(lines), skipped)


def _between(lines: Sequence[str], at: int, end: int, skipped: int) -> Iterator[Block]:
    """Lines of which Markdown draws nothing, as definitions of links."""
    source = "\n".join(lines[at:end])
    if source.strip():
        yield Block(at + skipped + 1, end + skipped, _as_written(source))


def _as_written(source: str) -> str:
    remark = "<p><em>Not all of this is drawn. It says:</em></p>"
    return f"{remark}<pre><code>{escape(visible(source))}</code></pre>\n"


def body(text: str) -> str:
    return text.removeprefix(_front(text)).strip()


def front_matter(text: str) -> str:
    return _front(text)[4:-5]


def _front(text: str) -> str:
    front = _FRONT.match(text)
    return front.group() if front else ""


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _groups(tokens: Sequence[Token]) -> Iterator[tuple[int, int, list[Token]]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            first, last = group[0].map or (0, 0)
            yield first, last, group
            group = []


def _html(tokens: list[Token], place: TextPlace, offset: int) -> str:
    _number(tokens, place.prefix, offset)
    for token in tokens:
        if token.type.startswith("heading_"):
            token.tag = f"h{min(6, int(token.tag[1]) + _LOWER)}"
        if token.children:
            token.children = list(_without_images(token.children))
        for child in token.children or ():
            _point(child, place)
    drawn = _parser().renderer.render(tokens, _parser().options, {})
    safe: str = nh3.clean(
        drawn,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
    )
    return visible(safe)


def _number(tokens: Sequence[Token], prefix: str, offset: int) -> None:
    """Whatever begins on a line of its own gets the address of that line. The block as a whole has
    that of its first line."""
    known = {tokens[0].map[0] + offset} if tokens[0].map else set()
    for token in tokens:
        line = token.map[0] + offset if token.map else 0
        token.meta["at"] = (prefix, line + (token.type == "fence"))
        if token.type == "inline":
            _number_breaks(token.children or [], prefix, line)
        if token.nesting == 1 and line not in known and token.type in _OPENERS:
            known.add(line)
            token.attrs.update({"id": f"{prefix}L{line}", "data-line": str(line)})


_OPENERS = ("paragraph_open", "list_item_open", "bullet_list_open", "tr_open", "blockquote_open")


def _number_breaks(children: Sequence[Token], prefix: str, line: int) -> None:
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            line += 1
            child.meta["at"] = (prefix, line)


def _anchor(at: tuple[str, int], text: str = "") -> str:
    prefix, line = at
    return f'<span id="{escape(prefix)}L{line}" data-line="{line}">{text}</span>'


def _break(self: RendererHTML, tokens: Sequence[Token], at: int, *_: Any) -> str:
    return ("<br>" if tokens[at].type == "hardbreak" else "\n") + _anchor(tokens[at].meta["at"])


def _code(self: RendererHTML, tokens: Sequence[Token], at: int, *_: Any) -> str:
    prefix, first = tokens[at].meta["at"]
    lines = enumerate(tokens[at].content.removesuffix("\n").split("\n"), first)
    drawn = "\n".join(_anchor((prefix, number), escape(line)) for number, line in lines)
    return f"<pre><code>{drawn}</code></pre>\n"


def _table(self: RendererHTML, tokens: Sequence[Token], at: int, *_: Any) -> str:
    """A table that is too wide is scrolled, by keyboard too; its cells are not broken up."""
    if tokens[at].nesting < 0:
        return "</table></div>\n"
    return '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n'


_RULES = {
    "softbreak": _break,
    "hardbreak": _break,
    "fence": _code,
    "code_block": _code,
    "table_open": _table,
    "table_close": _table,
}


def _point(token: Token, place: TextPlace) -> None:
    """A link to another file of the run leads to its page."""
    for name in ("href", "src"):
        target = token.attrGet(name)
        if isinstance(target, str) and place.run and _is_inside(target):
            inside = f"{place.folder}/{target}" if place.folder else target
            token.attrSet(name, f"/runs/{quote(place.run)}/files/{inside}")


def _is_inside(target: str) -> bool:
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    return not (parts.scheme or parts.netloc or target.startswith(("/", "#", "\\")))


def _without_images(tokens: Sequence[Token]) -> Iterator[Token]:
    """A picture is a link to it: nothing is loaded from elsewhere."""
    for token in tokens:
        if token.type != "image":
            yield token
            continue
        source = str(token.attrGet("src") or "")
        yield Token("link_open", "a", 1, attrs={"href": source})
        yield Token("text", "", 0, content=f"picture: {token.content or source}")
        yield Token("link_close", "a", -1)


_LETTERS = re.compile(r"[^\W_]")
_NUMBER = re.compile(r"(?m)^([ \t>]*)\d{1,9}[.)]")  # of a list, which a browser draws itself
_LANGUAGE = re.compile(r"[\w+#.-]{1,20}")
_LONGEST = 200  # characters of an address; it is seen on the link


def is_hidden(source: str, tokens: Sequence[Token]) -> bool:
    """Whether letters of these lines are in nothing that is drawn: a title of a link, a cell too
    many, a definition, words behind the language of a fence."""
    drawn = Counter(_LETTERS.findall(" ".join(_drawn(tokens))))
    return bool(Counter(_LETTERS.findall(_NUMBER.sub(r"\1", source))) - drawn)


def _drawn(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        yield from _drawn(token.children or ())
        yield "" if token.children else token.content
        if token.type == "fence" and _LANGUAGE.fullmatch(token.info.strip()):
            yield token.info
        address = str(token.attrGet("href") or token.attrGet("src") or "")
        if len(address) <= _LONGEST and token.markup not in ("autolink", "linkify"):
            yield address
