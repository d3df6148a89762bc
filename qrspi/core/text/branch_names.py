"""Names that git accepts for a branch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

LENGTH_LIMIT = 200  # a part of a name is a file name below .git/refs

# As `git check-ref-format --branch` judges them. The last one would be an option to git.
_REASONS = (
    (r"[\x00-\x20\x7f~^:?*\[\\]", "a character that git does not allow"),
    (r"\.\.", "'..'"),
    (r"@\{", "'@{'"),
    (r"^/|//|/$", "an empty part"),
    (r"(?:^|/)\.", "a part that begins with '.'"),
    (r"\.lock(?:/|$)", "a part that ends in '.lock'"),
    (r"\.$", "'.' at its end"),
    (r"^@$|^HEAD$", "a word that git keeps for itself"),
    (r"^-", "'-' at its start"),
    (rf".{{{LENGTH_LIMIT + 1}}}", f"more than {LENGTH_LIMIT} characters"),
)


def unsafe(name: str) -> str:
    """Why git does not accept the name; '' when it does."""
    return next((reason for pattern, reason in _REASONS if re.search(pattern, name)), "")


def nested(names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pairs that cannot exist together: git keeps `a/b` in a folder `a`, which cannot be a file."""
    known = set(names)
    for name in sorted(known):
        parts = name.split("/")
        for length in range(1, len(parts)):
            outer = "/".join(parts[:length])
            if outer in known:
                yield outer, name
