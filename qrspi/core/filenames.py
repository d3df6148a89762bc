"""The path grammar of a run, both ways. No other module knows a file name's pattern."""

import re
from typing import NamedTuple

from qrspi.core.tree import Entry

TAG = r"[A-Za-z0-9][A-Za-z0-9_-]*"


def round_name(number: int) -> str:
    return f"round-{number:02d}"


class RoundPaths(NamedTuple):
    """Where one round's files lie, run-relative."""

    reviews: str
    number: int

    @property
    def directory(self) -> str:
        return f"{self.reviews}/{round_name(self.number)}"

    @property
    def manifest(self) -> str:
        return f"{self.directory}/.dispatch-manifest.json"

    @property
    def kept(self) -> str:
        return f"{self.directory}/kept-findings.txt"

    def beside(self, suffix: str) -> str:
        return f"{self.directory}{suffix}"

    @property
    def diff(self) -> str:
        return self.beside(".diff")

    @property
    def verified(self) -> str:
        return self.beside("-verified.md")

    @property
    def scope_set(self) -> str:
        return self.beside("-scope-set.txt")

    @property
    def dispositions(self) -> str:
        return self.beside("-dispositions.md")

    @property
    def anchor(self) -> str:
        return self.beside("-commit.txt")

    @property
    def flag(self) -> str:
        return self.beside("-backward-loop.flag")

    @property
    def skipped(self) -> str:
        """Written when a person chose to go on without scores."""
        return self.beside("-verifier-disabled.md")


def loop_choice(reviews: str) -> str:
    return f"{reviews}/loop.md"


def pause_file(subject: str, number: int) -> str:
    return f"reviews/{subject}-loop-pause-{round_name(number)}.md"


def escape_file(subject: str, number: int) -> str:
    return f"reviews/{subject}-loop-escape-{round_name(number)}.md"


def feedback_file(step: str, number: int) -> str:
    return f"feedback/{step}-{round_name(number)}.md"


def cascade_sentinel(step: str, tag: str) -> str:
    """Written for each reviewer when a clean round approves its step by itself."""
    return f"cascade-clean-{step}-{tag}.md"


def round_number(name: str) -> int | None:
    """`round-03` is 3; `round-3`, `round-003` and `round-00` are no rounds."""
    digits = name.removeprefix("round-")
    if len(digits) > 4 or not digits.isdecimal():
        return None
    number = int(digits)
    return number if number > 0 and round_name(number) == name else None


def flagged_round(name: str) -> int | None:
    """The round whose backward-loop flag has this name."""
    stem = name.removesuffix("-backward-loop.flag")
    return round_number(stem) if stem != name else None


def looks_like_round(name: str) -> bool:
    return name.startswith("round-") and "." not in name and "-" not in name[len("round-") :]


class FindingName(NamedTuple):
    tag: str
    number: int


class SidecarName(NamedTuple):
    stem: str  # of the finding it scores
    extension: str  # score.yml, score.md, verifier.md


class CleanName(NamedTuple):
    tag: str
    usual: bool  # False for the variants that real reviewers write


class EngineName(NamedTuple):
    """A file only the engine writes."""

    kind: str  # skipped, path-filtered, bypass-attempt, kept, manifest
    tag: str = ""
    number: int = 0


class SplitMarker(NamedTuple):
    tag: str


class Dropping(NamedTuple):
    """Editors' and system's left-overs: never taken for anything."""


class Unknown(NamedTuple):
    """A name the grammar does not know."""


RoundFile = FindingName | SidecarName | CleanName | EngineName | SplitMarker | Dropping | Unknown

# Patterns are texts: `re` compiles each when it is first asked for and keeps it, so that a
# command pays for those it uses. All of them together cost half a bare interpreter.
_FINDING = rf"(({TAG})\.finding-F(\d{{2,9}}))\.(md|score\.yml|score\.md|verifier\.md)"
_CLEAN = rf"({TAG})\.(clean\.md|no-findings\.md|NO_FINDINGS)"
_ENGINE = rf"({TAG})\.(skipped|path-filtered|bypass-attempt)(?:-(\d{{2,9}}))?\.md"
_SPLIT = rf"\.({TAG})\.split"
_SAFE = r"[A-Za-z0-9._-]+"


def finding_file(tag: str, number: int) -> str:
    return f"{tag}.finding-F{number:02d}.md"


def clean_file(tag: str) -> str:
    return f"{tag}.clean.md"


def sidecar_file(stem: str) -> str:
    return f"{stem}.score.yml"


def split_marker(tag: str) -> str:
    return f".{tag}.split"


def is_dropping(name: str) -> bool:
    return (
        name.endswith(("~", ".tmp", ".bak", ".orig"))
        or name in ("4913", ".DS_Store")
        or name.startswith(".#")
        or (name[:1] == "#" == name[-1:] and len(name) > 1)
        or (name[:1] == "." and name[1:-1].endswith(".sw") and "a" <= name[-1] <= "z")
    )


def is_safe(name: str) -> bool:
    return re.fullmatch(_SAFE, name) is not None


def parse_round_file(name: str) -> RoundFile:
    """What a name in a round directory stands for. Findings and scores first: they are many."""
    if match := re.fullmatch(_FINDING, name):
        stem, tag, number, extension = match.groups()
        return FindingName(tag, int(number)) if extension == "md" else SidecarName(stem, extension)
    if name == "kept-findings.txt":
        return EngineName("kept")
    if name == ".dispatch-manifest.json":
        return EngineName("manifest")
    if is_dropping(name):
        return Dropping()
    if match := re.fullmatch(_CLEAN, name):
        return CleanName(match[1], match[2] == "clean.md")
    if match := re.fullmatch(_ENGINE, name):
        return EngineName(match[2], match[1], int(match[3] or 0))
    if match := re.fullmatch(_SPLIT, name):
        return SplitMarker(match[1])
    return Unknown()


def rounds_in(entries: tuple[Entry, ...]) -> tuple[int, ...]:
    """The numbers of the round directories, in order."""
    numbers = (round_number(entry.name) for entry in entries if entry.kind == "dir")
    return tuple(sorted(number for number in numbers if number))


_RUN = r"\d{4}-\d{2}-\d{2}-(.+)"
SLUG = r"[a-z0-9]+(?:-[a-z0-9]+){1,3}"


def slug_of(run: str) -> str:
    match = re.fullmatch(_RUN, run)
    return match[1] if match else run


_TASK_FILE = r"(task-\d{2,}[a-z]?)\.md"


def task_file_key(name: str) -> str | None:
    """`task-03.md` → `task-03`."""
    match = re.fullmatch(_TASK_FILE, name)
    return match[1] if match else None


_PHASE = r"phase-(\d{2,})"


def phase_number(name: str) -> int | None:
    match = re.fullmatch(_PHASE, name)
    return int(match[1]) if match else None


class FixRound(NamedTuple):
    """A folder of tasks that repair what a later step found."""

    kind: str  # integration, ci, test
    number: int

    @property
    def directory(self) -> str:
        return f"fixes/{self.kind}-{round_name(self.number)}"


_FIXES = r"(integration|ci|test)-(round-\d+)"


def fix_round(name: str) -> FixRound | None:
    match = re.fullmatch(_FIXES, name)
    number = round_number(match[2]) if match else None
    return FixRound(match[1], number) if match and number else None
