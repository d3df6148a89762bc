"""Files that two tasks both want to change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping


def normal(path: str) -> str:
    return path.removeprefix("./")


def overlaps(touched: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each path that several touch, with who does: `src/*.py` and `src/` are many paths."""
    owners: dict[str, set[str]] = {}
    for name, paths in touched.items():
        for path in paths:
            owners.setdefault(path, set()).add(name)
    for pattern in filter(_is_pattern, tuple(owners)):
        for path in filter(_matcher(pattern).fullmatch, tuple(owners)):
            owners[path] |= owners[pattern]
    for path in sorted(owners):
        if len(owners[path]) > 1:
            yield path, tuple(name for name in touched if name in owners[path])


def _is_pattern(path: str) -> bool:
    return "*" in path or path.endswith("/")


def _matcher(pattern: str) -> re.Pattern[str]:
    """`*` stays within a folder, `**` does not, and a folder stands for all below it."""
    parts = re.split(r"(\*\*|\*)", pattern + ("**" if pattern.endswith("/") else ""))
    wild = {"*": "[^/]*", "**": ".*"}
    return re.compile("".join(wild.get(part, re.escape(part)) for part in parts))
