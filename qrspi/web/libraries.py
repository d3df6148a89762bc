"""What the extra `ui` brings."""

from __future__ import annotations

from importlib.util import find_spec

from qrspi.core.errors import Halt
from qrspi.core.model import Problem

NAMES = ("jinja2", "markdown_it", "nh3", "starlette", "uvicorn")


def must_be_there() -> None:
    missing = [name for name in NAMES if find_spec(name) is None]
    if missing:
        text = f"the page needs {', '.join(missing)}, which is not installed"
        raise Halt(Problem("not-installed", text, hint="pip install 'qrspi[ui]'"))
