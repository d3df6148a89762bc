"""Rewrite the table of attacks in docs/security.md from tests/attacks.

python tools/attacks.py
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.attacks.trial import Attack

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "security.md"
PLACE = re.compile(r"(<!-- attacks -->\n).*?(<!-- /attacks -->\n)", re.DOTALL)


def modules() -> list[ModuleType]:
    sys.path.insert(0, str(ROOT))
    files = sorted((ROOT / "tests" / "attacks").glob("test_*.py"))
    return [importlib.import_module(f"tests.attacks.{file.stem}") for file in files]


def table() -> str:
    found = modules()
    total = sum(count(module) for module in found)
    parts = [f"{total} attacks of {len(found)} classes; `make attacks` makes them all.\n"]
    return "\n".join([*parts, *map(_section, found)])


def count(module: ModuleType) -> int:
    return sum(len(attack.ways) or 1 for _, attack in attacks(module))


def attacks(module: ModuleType) -> Iterator[tuple[str, Attack]]:
    """The tests of a module in its order, with what each tries."""
    for name, test in vars(module).items():
        if name.startswith("test_"):
            yield from ((name, mark.args[0]) for mark in test.pytestmark if mark.name == "attack")


def _section(module: ModuleType) -> str:
    file = f"tests/attacks/{module.__name__.rpartition('.')[2]}.py"
    head = f"### {(module.__doc__ or '').splitlines()[0].rstrip('.')}\n\n`{file}`\n\n"
    rows = [
        f"| {attack.who} | {attack.tries}{_ways(attack)} | `{name}` |\n"
        for name, attack in attacks(module)
    ]
    return "".join([head, "| who | tries | test |\n|---|---|---|\n", *rows])


def _ways(attack: Attack) -> str:
    said = ", ".join(attack.ways).replace("|", "\\|")
    return (f": {said}" if attack.ways else "") + (f" ({attack.no_more})" if attack.no_more else "")


def renewed(text: str) -> str:
    return PLACE.sub(lambda match: f"{match[1]}{table()}{match[2]}", text)


def main() -> int:
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
