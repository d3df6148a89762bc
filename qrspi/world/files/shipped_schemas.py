"""The JSON Schemas that are shipped: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

import os

import qrspi
from qrspi.core.errors import Halt
from qrspi.core.model import Problem

_SUFFIX = ".schema.json"


def names() -> tuple[str, ...]:
    listing = (name for name in os.listdir(_folder()) if name.endswith(_SUFFIX))
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in listing))


def text(name: str) -> str:
    with open(f"{_folder()}/{name}{_SUFFIX}", encoding="utf-8") as file:
        return file.read()


def _folder() -> str:
    package = os.path.dirname(os.path.abspath(qrspi.__file__))
    for folder in (f"{package}/schemas", f"{os.path.dirname(package)}/schemas"):
        if os.path.isdir(folder):
            return folder
    message = "the schemas are not where they were installed: install qrspi again"
    raise Halt(Problem("no-schemas", message, file=f"{package}/schemas"))
