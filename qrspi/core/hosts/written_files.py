"""Files that a tool call would write, and what is known of their new text."""

from __future__ import annotations

from qrspi.core.named_tuple import NamedTuple


class Text(NamedTuple):
    text: str
    append: bool = False


class Replaced(NamedTuple):
    old: str
    new: str
    everywhere: bool = False


class Copied(NamedTuple):
    path: str  # the file that it is a copy of


class Committed(NamedTuple):
    commit: str  # '' means git's index


class Unseen(NamedTuple):
    words: str  # the command line of the program that makes the text


class Gone(NamedTuple):
    pass


Source = Text | Replaced | Copied | Committed | Unseen | Gone


class Write(NamedTuple):
    path: str  # absolute; it may still contain links and wildcards
    by: Source
    guessed: bool = False  # the file is named beside a write whose own file is not known


SOMEWHERE = "\ue003"  # the path of a write whose file cannot be known


def absolute(path: str, cwd: str) -> str:
    """Without `.` and `..`. Links are not followed here."""
    kept: list[str] = []
    for part in (path if path.startswith("/") else f"{cwd}/{path}").split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in ("", "."):
            kept.append(part)
    return "/" + "/".join(kept)


class RunFile(NamedTuple):
    """A file below some project's `docs/qrspi`; `name` is '' for the run's folder itself."""

    project: str
    run: str
    name: str


def run_file(path: str) -> RunFile | None:
    """Judged by its name alone; whether the run exists is another question."""
    project, found, below = f"{path}/".partition("/docs/qrspi/")
    run, _, name = below.strip("/").partition("/")
    return RunFile(project or "/", run, name) if found and run else None
