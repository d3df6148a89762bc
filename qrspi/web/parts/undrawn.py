"""What a text says and its drawing does not show: Markdown leaves words out where nobody looks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

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
