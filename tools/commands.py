"""Rewrite the README's table of commands from the table the program itself uses.

python tools/commands.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from qrspi.cli.verb_table import SECTIONS, VERBS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PLACE = re.compile(r"(<!-- commands -->\n).*?(<!-- /commands -->\n)", re.DOTALL)


def table() -> str:
    return "\n".join(map(_section, SECTIONS))


def _section(title: str) -> str:
    rows = [
        f"| [`{name}`](docs/commands/{name}.md) | {verb.help.rstrip('.')} |\n"
        for name, verb in VERBS.items()
        if verb.section == title
    ]
    return "".join([f"| {title} | |\n", "|---|---|\n", *rows])


def renewed(text: str) -> str:
    return PLACE.sub(lambda match: f"{match[1]}{table()}{match[2]}", text)


def main() -> int:
    README.write_text(renewed(README.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
