"""docs/architecture.md names functions and folders: each is really there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
FUNCTIONS = sorted(set(re.findall(r"`((?:core|world|handlers|engine)\.(?!py`)[a-zA-Z_.]+)`", PAGE)))
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


@pytest.mark.parametrize("name", FILES)
def test_the_named_file_is_there(name: str) -> None:
    assert (ROOT / name).is_file()


def test_every_room_has_its_row_and_every_row_its_room() -> None:
    rows = re.findall(r"^\| `([a-z_/]+)/` \|", PAGE, flags=re.MULTILINE)
    packages = [path.parent for path in (ROOT / "qrspi").rglob("__init__.py")]
    rooms = {path.relative_to(ROOT / "qrspi").as_posix() for path in packages if _is_room(path)}
    assert (sorted(rows), len(rows)) == (sorted(rooms), len(set(rows)))


def _is_room(folder: Path) -> bool:
    """A folder with code of its own, below the package itself."""
    files = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    return folder.name != "qrspi" and bool(files)
