"""Markdown of agents as HTML that can do nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

_TAGS = frozenset(
    """a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead
    tr ul""".split()
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "code": {"class"}, "td": {"align"}}
_SCHEMES = {"http", "https", "mailto"}
_FRONT = re.compile(r"---\n.*?\n---\n", re.DOTALL)


class Block(NamedTuple):
    """A paragraph, a list, a heading …, and where it stands in the file."""

    first: int
    last: int
    html: str


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def blocks(text: str, run: str, path: str) -> tuple[Block, ...]:
    """The text without its frontmatter, block by block; lines are counted from 1."""
    front = _FRONT.match(text)
    skipped = front.group().count("\n") if front else 0
    tokens = _parser().parse(text[front.end() :] if front else text)
    folder = path.rpartition("/")[0]
    return tuple(
        Block(first + skipped + 1, last + skipped, _html(group, run, folder))
        for first, last, group in _groups(tokens)
    )


def front_matter(text: str) -> str:
    front = _FRONT.match(text)
    return front.group()[4:-5] if front else ""


def fragment(text: str, run: str = "", folder: str = "") -> str:
    return _html(_parser().parse(text), run, folder)


def _groups(tokens: Sequence[Token]) -> Iterator[tuple[int, int, list[Token]]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            first, last = group[0].map or (0, 0)
            yield first, last, group
            group = []


def _html(tokens: list[Token], run: str, folder: str) -> str:
    for token in tokens:
        for child in token.children or ():
            _point(child, run, folder)
        token.children = list(_without_images(token.children)) if token.children else token.children
    drawn = _parser().renderer.render(tokens, _parser().options, {})
    safe: str = nh3.clean(
        drawn,
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        url_schemes=set(_SCHEMES),
        link_rel="noopener noreferrer",
    )
    return safe


def _point(token: Token, run: str, folder: str) -> None:
    """A link to another file of the run leads to its page."""
    for name in ("href", "src"):
        target = token.attrGet(name)
        if not isinstance(target, str) or not run:
            continue
        if is_inside(target):
            place = f"{folder}/{target}" if folder else target
            token.attrSet(name, f"/runs/{quote(run)}/files/{place}")


def is_inside(target: str) -> bool:
    """Whether a link is a plain relative path."""
    try:
        found = urlsplit(target)
    except ValueError:
        return False
    return not (found.scheme or found.netloc or target.startswith(("/", "#", "\\")))


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
