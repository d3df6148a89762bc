"""Runs that stand at a human gate, on disk and in git, and commands that are cut off half way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from qrspi.core.pipeline import STEP
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.jobs.job import Job
from qrspi.world.machine import git_person
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.project import EngineProject
from tests.runs import artifact, clean, finding, manifest

NOW = "2026-05-17T09:30:00Z"
WHO = "Ada Example <ada@example.org>"
USER = git_person.user()
Build = Callable[[Job], ChangeSet]
Files = dict[str, bytes]


class Gate(EngineProject):
    def make_first(self, build: Build, count: int) -> int:
        """Only the first writes, as a kill would leave them; how many there are in all."""
        workspace = Workspace(self.run)
        with workspace.locked():
            move = build(change_set.look(workspace, self.options))
            for edit in move.edits[:count]:
                change_set.write(workspace, edit)
        return len(move.edits)


class Left(NamedTuple):
    """All that a command leaves behind."""

    files: dict[str, bytes]
    subjects: list[str]
    committed: list[str]
    status: list[str]


def left(gate: Gate) -> Left:
    return Left(gate.files(), gate.subjects(), gate.committed(), gate.status())


def cut_off(start: Gate, build: Build) -> Iterator[tuple[int, Gate, Left]]:
    """A gate for each write after which a kill came, and what it leaves if nobody disturbs it."""
    whole = start.copy("whole")
    count = len(whole.make(build)[0].edits)
    expected = left(whole)
    for at in range(count + 1):
        gate = start.copy(f"after-{at}")
        assert gate.make_first(build, at) == count
        yield at, gate, expected


def made_good(start: Gate, build: Build) -> list[Gate]:
    """Those gates, after the same command has run in each once more."""
    gates = []
    for at, gate, expected in cut_off(start, build):
        gate.make(build)
        assert left(gate) == expected, at
        gates.append(gate)
    return gates


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
