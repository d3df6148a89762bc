"""What an address of the page names."""

from __future__ import annotations

import re
from typing import Literal

from qrspi.core.filenames import is_safe
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject

Kind = Literal["board", "inbox", "run", "step", "round", "tasks", "log", "spend", "file"]
WRITES = ("approve", "reject", "decide", "resolve", "next", "comment", "close", "reopen")


class Address(NamedTuple):
    kind: Kind
    run: str = ""
    step: str = ""
    number: int = 0
    path: str = ""
    twin: bool = False  # the JSON document instead of the page

    @property
    def words(self) -> tuple[str, ...]:
        words: dict[Kind, tuple[str, ...]] = {
            "board": ("status", "--all"),
            "inbox": ("inbox",),
            "run": ("status", self.run),
            "step": ("show", self.run, self.step),
            "round": ("show", self.run, self.step, "--round", str(self.number)),
            "tasks": ("task", "list", self.run),
            "log": ("log", self.run, "--all"),
            "spend": ("spend", self.run),
            "file": (),
        }
        return words[self.kind]


def parse(path: str) -> Address | None:
    """None for a path that is no address. Whether the run exists is another question."""
    plain, twin = path.removesuffix(".json"), path.endswith(".json")
    match plain.split("/")[1:]:
        case [""]:
            return Address("board", twin=twin)
        case ["inbox"]:
            return Address("inbox", twin=twin)
        case ["runs", run] if _is_name(run):
            return Address("run", run, twin=twin)
        case ["runs", run, "files", *_] if _is_name(run):
            return _file(run, path)
        case ["runs", run, ("tasks" | "log" | "spend") as part] if _is_name(run):
            return Address(part, run, twin=twin)
        case ["runs", run, *parts] if _is_name(run):
            return _about(run, parts, twin)
    return None


def _is_name(word: str) -> bool:
    """No word that a command could take for an option, or a folder for its parent."""
    return is_safe(word) and not word.startswith(("-", "."))


def _about(run: str, parts: list[str], twin: bool) -> Address | None:
    """`STEP` or `STEP/rounds/N`. The name of a repair has two parts."""
    number = 0
    if len(parts) > 2 and parts[-2] == "rounds":
        if not re.fullmatch("[1-9][0-9]{0,3}", parts[-1]):
            return None
        number, parts = int(parts[-1]), parts[:-2]
    named = subject("/".join(parts))
    if named is None or not all(map(_is_name, parts)):
        return None
    return Address("round" if number else "step", run, named.key, number, twin=twin)


def _file(run: str, path: str) -> Address | None:
    inside = path.split("/", 4)[4:]
    if not inside or any(part in ("", ".", "..") for part in inside[0].split("/")):
        return None
    return None if "\0" in inside[0] else Address("file", run, path=inside[0])


def write(path: str) -> tuple[str, str] | None:
    match path.split("/")[1:]:
        case ["runs", run, verb] if _is_name(run) and verb in WRITES:
            return run, verb
    return None
