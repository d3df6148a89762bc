"""Rewrite the console transcripts of the documentation from real runs.

    python tools/transcripts.py [FILE…]

A ```console block is a transcript. `$ ` starts a command, `> ` lines right below continue it,
the rest is what it prints on stdout and stderr; `(exit N)` closes the output of a command
that failed. The blocks of one file run in order, in one scratch repository.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALLED = Path(sys.executable).parent
SHOWN_ROOT = "/home/ada/shop"
TIMEOUT = 60


class Step(NamedTuple):
    command: str
    output: str


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "commands").glob("*.md"))]


def steps(block: str) -> list[Step]:
    """The commands of one transcript. Anything above the first `$ ` is a mistake."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"a transcript begins with '$ ', not with {parts[0].splitlines()[0]!r}")
    return [_step(part) for part in parts[1:]]


def _step(part: str) -> Step:
    first, *rest = part.splitlines(keepends=True)
    more = 0
    while more < len(rest) and rest[more].startswith(("> ", ">\n")):
        more += 1
    continued = "".join(line[2:] if line.startswith("> ") else "\n" for line in rest[:more])
    return Step(first + continued, "".join(rest[more:]))


def _shown(step: Step) -> str:
    first, *rest = step.command.splitlines()
    return "".join([f"$ {first}\n", *(f"> {line}".rstrip() + "\n" for line in rest), step.output])


NORMAL: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "<date>"),
    # YAML quotes a commit that would read as a number, and no other.
    (re.compile(r"\"?\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b\"?"), "<sha>"),
    # As `git worktree list` shows a commit, where one in thirty has no letter in its seven places.
    (re.compile(r"\b[0-9a-f]{7}(?= \[)"), "<sha>"),
    # Of all commits shown, one in three hundred has no letter in its first twelve places.
    (re.compile(r"\b(?:[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,11})\b"), "<sha>"),
    (re.compile(r"(qrspi|git version) \d+\.\d+\.\d+\S*"), r"\1 <version>"),
    (re.compile(r"/tmp/[\w./-]+"), "<temporary>"),
    (re.compile(r"\bin \d+\.\d seconds\b"), "in <n> seconds"),
)


def normal(output: str) -> str:
    """What may differ between two honest runs: dates, durations, ids, versions, temporary names."""
    for pattern, instead in NORMAL:
        output = pattern.sub(instead, output)
    return output


class Scratch:
    """A repository with one commit, and a shell that remembers where it stands."""

    def __init__(self, directory: Path, programs: Path) -> None:
        self.root = directory / "shop"
        self.here = self.root
        self._where = directory / "where"
        self._environment = _environment(directory, programs)
        self.root.mkdir()
        self.run("git init -q -b main . && git commit -q --allow-empty -m 'Start'")

    def run(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", f"trap 'pwd > \"$WHERE\"' EXIT\n{command}"],
            cwd=self.here,
            env={**self._environment, "WHERE": str(self._where)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )
        self.here = Path(self._where.read_text().strip())
        output = done.stdout.replace(str(self.root), SHOWN_ROOT)
        if output and not output.endswith("\n"):
            output += "\n"
        return output + (f"(exit {done.returncode})\n" if done.returncode else "")


def _environment(directory: Path, programs: Path) -> dict[str, str]:
    who = {"NAME": "Ada Example", "EMAIL": "ada@example.org", "DATE": "2026-01-01T12:00:00Z"}
    identity = {
        f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()
    }
    return {
        "PATH": os.pathsep.join([str(programs), str(INSTALLED), os.environ["PATH"]]),
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
        "GIT_CONFIG_NOSYSTEM": "1",
        **identity,
    }


def replay(text: str, directory: Path, programs: Path = INSTALLED) -> str:
    """The document with each output as the commands print it now; those in `programs` first."""
    if not FENCE.search(text):
        return text
    scratch = Scratch(directory, programs)

    def block(match: re.Match[str]) -> str:
        fresh = (_refreshed(step, scratch.run(step.command)) for step in steps(match[1]))
        return "```console\n" + "".join(map(_shown, fresh)) + "```"

    return FENCE.sub(block, text)


def _refreshed(step: Step, output: str) -> Step:
    """Keeps the written output where only a date or an id differs, so diffs stay small."""
    return step if normal(step.output) == normal(output) else Step(step.command, output)


def main(files: Iterable[str]) -> int:
    for file in [Path(name).resolve() for name in files] or documents():
        text = file.read_text("utf-8")
        with tempfile.TemporaryDirectory() as directory:
            fresh = replay(text, Path(directory))
        if fresh != text:
            file.write_text(fresh, "utf-8")
            print(f"rewrote {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
