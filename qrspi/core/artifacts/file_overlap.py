"""Files that two tasks both want to change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache


def normal(path: str) -> str:
    return path.removeprefix("./")


def overlaps(touched: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each path that several touch, with who does: `src/*.py` and `src/` are many paths."""
    owners: dict[str, set[str]] = {}
    for name, paths in touched.items():
        for path in paths:
            owners.setdefault(path, set()).add(name)
    split = {path: path.split("/") for path in owners}
    for pattern in filter(_is_pattern, tuple(owners)):
        for path in owners:
            if _covers(_pattern(pattern), split[path]):
                owners[path] |= owners[pattern]
    for path in sorted(owners):
        if len(owners[path]) > 1:
            yield path, tuple(name for name in touched if name in owners[path])


def _is_pattern(path: str) -> bool:
    return "*" in path or path.endswith("/")


def _pattern(path: str) -> list[str]:
    """A folder stands for all below it."""
    return (f"{path}**" if path.endswith("/") else path).split("/")


def _covers(pattern: list[str], path: list[str]) -> bool:
    """`*` stays within one part of a path, `**` stands for any number of parts."""
    reached = {0}  # how many parts of the path may have been used up
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1))
        else:
            fits = _part(part).fullmatch
            reached = {at + 1 for at in reached if at < len(path) and fits(path[at])}
        if not reached:
            return False
    return len(path) in reached


@lru_cache(256)
def _part(pattern: str) -> re.Pattern[str]:
    """Each fixed piece at its first place, once and for all: no name makes this slow."""
    first, *rest = map(re.escape, re.split(r"\*+", pattern))
    if not rest:
        return re.compile(first)
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)
