"""What the killed processes do: small commands that finish, when run again, what a kill cut off."""

from __future__ import annotations

import sys
from collections.abc import Callable

from qrspi.core.errors import Refusal
from qrspi.core.tree import Fault
from qrspi.world.runs.create_run import create_run
from qrspi.world.runs.locate import Root
from qrspi.world.runs.workspace import Workspace

OLD, NEW, LINE = b"old\n", b"new\n" * 2000, b'{"n": 2}\n'
FIRST_FILES = {"config.md": b"---\n---\n", "goals.md": NEW}


def write(space: Workspace) -> None:
    space.write("a.md", NEW)


def create(space: Workspace) -> None:
    if space.read("b/c.md") == Fault("absent"):
        space.create("b/c.md", NEW)


def replace(space: Workspace) -> None:
    if space.read("goals.md") == OLD:
        space.replace("goals.md", OLD, NEW)


def append(space: Workspace) -> None:
    log = space.read("log.jsonl")
    if not isinstance(log, bytes) or LINE not in log:
        space.append("log.jsonl", LINE)


def remove(space: Workspace) -> None:
    space.remove("gone.md")


def move(space: Workspace) -> None:
    space.move("tree", "phases/phase-01/tree")


STEPS: tuple[Callable[[Workspace], None], ...] = (write, create, replace, append, remove, move)


def change(path: str) -> None:
    with Workspace(path).locked() as space:
        for step in STEPS:
            step(space)


def idle(path: str) -> None:
    with Workspace(path).locked():
        pass


def edit(path: str) -> None:
    with Workspace(path).locked() as space:
        replace(space)


def log(path: str) -> None:
    with Workspace(path).locked() as space:
        append(space)


def new(path: str) -> None:
    create_run(Root(path, f"{path}/docs/qrspi"), "2026-01-01-sample-run", FIRST_FILES)


COMMANDS: dict[str, Callable[[str], None]] = {
    "change": change,
    "edit": edit,
    "log": log,
    "new": new,
}

if __name__ == "__main__":
    try:
        COMMANDS[sys.argv[1]](sys.argv[2])
    except Refusal as refusal:
        sys.exit(f"{refusal.exit_code} {refusal}")
