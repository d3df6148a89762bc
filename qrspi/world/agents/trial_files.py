"""The trial's cases as they are shipped, and folders with its prompts and answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from qrspi.core.agents import trial_case
from qrspi.core.agents.replies import LIMIT
from qrspi.core.agents.trial_case import Case
from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.files.atomic_write import below, replace, reporting_errors
from qrspi.world.files.run_tree import DiskTree, opened

_CASE = "case.json"
_FILES = "files"
_TEXT = ".text"  # after the modules' names: they are no code of the package


def cases() -> tuple[Case, ...]:
    from importlib.resources import files

    folder = str(files("qrspi") / "data" / "trial")
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    return tuple(_case(f"{folder}/{name}", name) for name in names)


def _case(folder: str, name: str) -> Case:
    with open(f"{folder}/{_CASE}", "rb") as file:
        text = file.read()
    return trial_case.read(name, text, dict(_read_all(f"{folder}/{_FILES}")))


def _read_all(top: str) -> Iterator[tuple[str, bytes]]:
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            path = f"{folder}/{name}"
            with open(path, "rb") as file:
                yield os.path.relpath(path, top).removesuffix(_TEXT), file.read()


def write(folder: str, files: Mapping[str, bytes]) -> None:
    """Through no link in the folder, which may come with a clone."""
    with reporting_errors(folder):
        os.makedirs(folder, exist_ok=True)
    for path, data in files.items():
        inner, _, name = path.rpartition("/")
        with (
            reporting_errors(f"{folder}/{path}"),
            opened(folder) as top,
            below(top, inner, make=True) as directory,
        ):
            replace(directory, name, data)


@contextmanager
def laid_out(files: Mapping[str, bytes]) -> Iterator[str]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="qrspi-trial-") as folder:
        write(folder, files)
        yield folder


def is_there(folder: str) -> bool:
    return os.path.isdir(folder)


def answer(folder: str, name: str) -> str | Problem | None:
    data = DiskTree(folder).read(f"{name}.md", LIMIT)
    if isinstance(data, Fault):
        if data.kind == "absent":
            return None
        path = f"{folder}/{name}.md"
        raise Halt(Problem("unreadable", f"{path} cannot be read: {data.reason}", path))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Problem("reply-not-text", "found bytes that are not UTF-8, expected UTF-8 text")
