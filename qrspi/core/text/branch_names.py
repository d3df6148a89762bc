"""Names that git accepts for a branch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

LENGTH_LIMIT = 200  # a part of a name is a file name below .git/refs

# As `git check-ref-format --branch` judges them. The last one would be an option to git.
_REASONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[\x00-\x20\x7f~^:?*\[\\]"), "a character that git does not allow"),
    (re.compile(r"\.\."), "'..'"),
    (re.compile(r"@\{"), "'@{'"),
    (re.compile(r"^/|//|/$"), "an empty part"),
    (re.compile(r"(?:^|/)\."), "a part that begins with '.'"),
    (re.compile(r"\.lock(?:/|$)"), "a part that ends in '.lock'"),
    (re.compile(r"\.$"), "'.' at its end"),
    (re.compile(r"^@$|^HEAD$"), "a word that git keeps for itself"),
    (re.compile(r"^-"), "'-' at its start"),
    (re.compile(rf".{{{LENGTH_LIMIT + 1}}}"), f"more than {LENGTH_LIMIT} characters"),
)


def unsafe(name: str) -> str:
    """Why git does not accept the name; '' when it does."""
    return next((reason for pattern, reason in _REASONS if pattern.search(name)), "")


def nested(names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pairs that cannot exist together: git keeps `a/b` in a folder `a`, so `a` cannot be a
    file."""
    known = set(names)
    for name in sorted(known):
        parts = name.split("/")
        for length in range(1, len(parts)):
            outer = "/".join(parts[:length])
            if outer in known:
                yield outer, name
