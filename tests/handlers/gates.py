"""Runs that stand at a human gate, on disk and in git, and commands that are cut off half way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

from qrspi.core.pipeline import STEP
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes.change_set import Done, Move
from qrspi.handlers.jobs.job import Job, Options
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.runs import artifact, clean, finding, manifest
from tests.world.repos import Project

NOW = "2026-05-17T09:30:00Z"
WHO = "Ada Example <ada@example.org>"
Build = Callable[[Job], Move]


class Gate(Project):
    """One run, with everything committed that it begins with."""

    def __init__(self, root: Path, files: Mapping[str, bytes], *, git: bool = True) -> None:
        super().__init__(root)
        root.mkdir(parents=True)
        self.run = runs.on_disk(root, files)
        if git:
            self.git("init", "-q", "-b", "main")
            self.commit("start")
        self.options = Options()

    def copy(self, name: str) -> Gate:
        """The same elsewhere: commits have the same ids there."""
        root = self.root.with_name(f"{self.root.name}-{name}")
        shutil.copytree(self.root, root, symlinks=True)
        twin = copy(self)
        twin.root, twin.run = root, root / self.run.relative_to(self.root)
        return twin

    def job(self) -> Job:
        return moves.look(Workspace(self.run), self.options)

    def make(self, build: Build) -> tuple[Move, Done]:
        return moves.make(Workspace(self.run), self.options, "test", build)

    def make_first(self, build: Build, count: int) -> int:
        """Only the first writes, as a kill would leave them; how many there are in all."""
        workspace = Workspace(self.run)
        with workspace.locked():
            move = build(moves.look(workspace, self.options))
            for edit in move.edits[:count]:
                moves.write(workspace, edit)
        return len(move.edits)

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.run).as_posix(): path.read_bytes()
            for path in sorted(self.run.rglob("*"))
            if path.is_file() and ".qrspi" not in path.parts
        }

    def records(self) -> list[dict[str, Any]]:
        lines = (self.run / "approvals.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def subjects(self) -> list[str]:
        return self.git("log", "--format=%s").splitlines()

    def committed(self) -> list[str]:
        """What the last commit changed, run-relative."""
        return sorted(
            self.git("show", "--format=", "--name-only", "--relative", at=self.run).split()
        )

    def status_of(self, step: str) -> bytes:
        return (self.run / STEP[step].artifact).read_bytes().split(b"\n")[1]


class Left(NamedTuple):
    """All that a command leaves behind."""

    files: dict[str, bytes]
    subjects: list[str]
    committed: list[str]
    status: list[str]


def left(gate: Gate) -> Left:
    return Left(gate.files(), gate.subjects(), gate.committed(), gate.status())


def cut_off(start: Gate, build: Build) -> Iterator[tuple[int, Gate, Left]]:
    """A gate for each write after which the command was killed, with what it leaves when nobody
    disturbs it. The last one lacks nothing but the commit."""
    whole = start.copy("whole")
    count = len(whole.make(build)[0].edits)
    expected = left(whole)
    for at in range(count + 1):
        gate = start.copy(f"after-{at}")
        assert gate.make_first(build, at) == count
        yield at, gate, expected


def reviewed_clean(step: str, text: bytes, number: int = 1) -> dict[str, bytes]:
    """A round without findings, before the engine has looked at it."""
    place = f"{STEP[step].reviews}/round-{number:02d}"
    tags = ("quality-claude",) if step in ("questions", "research") else QUALITY_AND_SCOPE
    files = {f"{place}/{tag}.clean.md": clean(tag, number) for tag in tags}
    return files | {
        f"{place}/.dispatch-manifest.json": manifest(step, number, tags, text),
        f"{place}.diff": b"",
    }


QUALITY_AND_SCOPE = ("quality-claude", "scope-claude")


def paused(step: str, text: bytes, *findings: bytes, number: int = 1) -> dict[str, bytes]:
    """A round in which the scope reviewer raised these, and nobody anything else."""
    place = f"{STEP[step].reviews}/round-{number:02d}"
    files = {
        f"{place}/scope-claude.finding-F{at:02d}.md": data for at, data in enumerate(findings, 1)
    }
    return files | {
        f"{place}/quality-claude.clean.md": clean("quality-claude", number),
        f"{place}/.dispatch-manifest.json": manifest(step, number, QUALITY_AND_SCOPE, text),
    }


def about(step: str, number: int = 1, *, cites: str, round: int = 1) -> bytes:
    """A finding that a person decides about."""
    return finding("scope-claude", number, round=round, step=step, kind="scope", cites=cites)


TEXT = artifact()
DRAFT = {"config.md": runs.config(), "goals.md": TEXT}
