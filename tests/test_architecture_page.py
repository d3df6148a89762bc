"""docs/architecture.md names functions and folders: each is really there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
FUNCTIONS = sorted(set(re.findall(r"`((?:core|world|handlers|engine)\.[a-zA-Z_.]+)`", PAGE)))
FILES = sorted(set(re.findall(r"`((?:qrspi|tests)/[a-z_/]+\.py)`", PAGE)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_named_function_is_there(name: str) -> None:
    *path, last = name.split(".")
    if path[-1][0].isupper():
        *path, owner = path
        last = f"{owner}.{last}"
    found: object = importlib.import_module(".".join(["qrspi", *path]))
    for part in last.split("."):
        found = getattr(found, part)
    assert callable(found)


@pytest.mark.parametrize("name", [file for file in FILES if file != "qrspi/mcp.py"])
def test_the_named_file_is_there(name: str) -> None:
    assert (ROOT / name).is_file()


def test_every_package_has_its_row() -> None:
    rows = " ".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    folders = [path.name for path in (ROOT / "qrspi").iterdir() if (path / "__init__.py").exists()]
    assert [name for name in folders if f"`qrspi/{name}/`" not in rows] == []
