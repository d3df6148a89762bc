"""Which rules of the contract no test names. Needs nothing but Python."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
LISTING = TESTS / "rules.txt"

_ID_IN_NAME = re.compile(r"(?<![A-Za-z])([A-Z]{2,4})_(\d{2})(?!\d)")


class Named(NamedTuple):
    """A rule id as a test names it; `rule` is empty when the mark cannot be read."""

    rule: str
    place: str


def listed(listing: str) -> dict[str, tuple[str, ...]]:
    """The ids under each `[file]` heading."""
    groups: dict[str, tuple[str, ...]] = {}
    group = ""
    for line in listing.splitlines():
        if line.startswith("["):
            group = line.strip("[]")
            groups[group] = ()
        elif line and not line.startswith("#"):
            groups[group] += tuple(line.split())
    return groups


def named_in(source: str, file: str) -> Iterator[Named]:
    for node in ast.walk(ast.parse(source, file)):
        if isinstance(node, ast.Call) and _is_rule_mark(node.func):
            for argument in node.args:
                yield Named(_literal(argument), f"{file}:{argument.lineno}")
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            for prefix, number in _ID_IN_NAME.findall(node.name):
                yield Named(f"{prefix}-{number}", f"{file}:{node.lineno}")


def _is_rule_mark(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "rule"
        and ast.unparse(function.value) == "pytest.mark"
    )


def _literal(argument: ast.expr) -> str:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return ""


@cache
def named_by(tests: Path) -> list[Named]:
    files = sorted(tests.rglob("test_*.py"))
    return [
        named
        for file in files
        for named in named_in(file.read_text("utf-8"), file.relative_to(tests.parent).as_posix())
    ]


def unknown(named: list[Named], groups: Mapping[str, tuple[str, ...]]) -> list[Named]:
    known = {rule for rules in groups.values() for rule in rules}
    return [one for one in named if one.rule not in known]


def missing(
    named: list[Named], groups: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    proven = {one.rule for one in named}
    return {
        group: tuple(rule for rule in rules if rule not in proven)
        for group, rules in groups.items()
    }


def report(named: list[Named], groups: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for one in unknown(named, groups):
        what = f"{one.rule} is not in the contract" if one.rule else "the id is not a literal"
        yield f"{one.place}: {what}"
    without = missing(named, groups)
    for group, rules in without.items():
        total = len(groups[group])
        line = f"{group}: {total - len(rules)} of {total} proven"
        yield line + (f"; no test names {' '.join(rules)}" if rules else "")
    total = sum(map(len, groups.values()))
    left = sum(map(len, without.values()))
    yield f"{total - left} of {total} rules are named by a test"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--strict",
        nargs="+",
        default=[],
        metavar="FILE",
        help="exit 1 when a rule of these contract files (01-run, 02-config.md, …) has no test",
    )
    wanted = [name.removesuffix(".md") + ".md" for name in parser.parse_args(arguments).strict]
    groups = listed(LISTING.read_text("utf-8"))
    if strangers := [name for name in wanted if name not in groups]:
        parser.error(f"no such contract file: {', '.join(strangers)} (known: {', '.join(groups)})")
    named = named_by(TESTS)
    print(*report(named, groups), sep="\n")
    return int(fails(named, groups, wanted))


def fails(named: list[Named], groups: Mapping[str, tuple[str, ...]], wanted: Sequence[str]) -> bool:
    """Whether an id is unknown, or a rule of a wanted contract file has no test."""
    without = missing(named, groups)
    return bool(unknown(named, groups)) or any(without[name] for name in wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
