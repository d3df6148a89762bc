"""Write the plugin for Claude Code and Copilot from the package: hosts/claude-code/.

    python tools/plugin.py

Its skill, hooks and version are the package's own; a test says when they differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qrspi import __version__
from qrspi.core.installing.host_parts import Json, Part, parts
from qrspi.world.hosts import host_files

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "hosts" / "claude-code"
DESCRIPTION = (
    "Carries runs of qrspi on: plans that agents write and review, and people approve. "
    "Needs the qrspi command on the PATH."
)


def files() -> dict[str, str]:
    """The whole plugin, by path."""
    hooks, server, *_ = parts("claude-code", "project", host_files.skill())
    about = {"name": "qrspi", "description": DESCRIPTION, "version": __version__}
    source = {**about, "source": "./"}
    market = {
        "name": "qrspi",
        "owner": {"name": "qrspi"},
        "metadata": {"description": DESCRIPTION, "version": __version__},
        "plugins": [source],
    }
    return {
        ".claude-plugin/plugin.json": _text(about),
        ".claude-plugin/marketplace.json": _text(market),
        "hooks/hooks.json": _text(_document(hooks)),
        ".mcp.json": _text(_document(server)),
        "skills/qrspi/SKILL.md": host_files.skill(),
    }


def _document(part: Part) -> dict[str, Any]:
    """The entries of a part as a file of their own."""
    assert isinstance(part.content, Json)
    found: dict[str, Any] = {}
    for entry in part.content.entries:
        if entry.key:
            found.setdefault(entry.path[0], {})[entry.key] = entry.value
        else:
            found.setdefault(entry.path[0], {}).setdefault(entry.path[1], []).append(entry.value)
    return found


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"


def main() -> None:
    for name, text in files().items():
        file = PLUGIN / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
