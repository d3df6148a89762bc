"""A project with one run whose design is reviewed, and the hands of those who write into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qrspi.core.filenames import RoundPaths
from qrspi.core.pipeline import Subject, subject
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import round_commands as plumbing
from qrspi.handlers.rounds.round_commands import Assembled, Opened, Scoped
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.world import repos
from tests.world.repos import Project

BODY = "# Design\n\n## Approach\n\nOne way.\n\n## Risks\n\nNone.\n"
BEFORE = runs.approved("goals", "questions", "research")
HEADS = {"## Approach": "design.md:L7", "## Risks": "design.md:L11"}  # lines of the file


def about(step: str) -> Subject:
    found = subject(step)
    assert found is not None
    return found


def text(body: str = BODY, status: str = "draft") -> bytes:
    return runs.artifact(status, body)


def files(*parts: Mapping[str, bytes], **config: str) -> dict[str, bytes]:
    """A run at its design."""
    return runs.files({"config.md": runs.config(**config)}, BEFORE, {"design.md": text()}, *parts)


class Reviewing(Project):
    """`commit` and `git` are plain git, never the code under test."""

    def put(self, contents: Mapping[str, bytes]) -> None:
        for path, data in contents.items():
            self.write(path, data)

    def workspace(self) -> Workspace:
        return Workspace(str(self.run))

    def read(self, path: str) -> bytes:
        return (self.run / path).read_bytes()

    def there(self) -> set[str]:
        """Every file of the run but the engine's own folder."""
        found = (file.relative_to(self.run).as_posix() for file in self.run.rglob("*"))
        return {name for name in found if not name.startswith(".qrspi")}

    def manifest(self, step: str = "design", number: int = 1) -> dict[str, Any]:
        paths = RoundPaths(about(step).reviews, number)
        found: dict[str, Any] = json.loads(self.read(paths.manifest))
        return found

    def trail(self) -> list[dict[str, Any]]:
        lines = self.read(".qrspi/audit.jsonl").decode().splitlines()
        return [json.loads(line) for line in lines]

    def prepare(self, step: str = "design", number: int | None = None, **options: Any) -> Opened:
        return plumbing.open_round(self.workspace(), about(step), number, Options(**options))

    def assemble(self, step: str = "design", number: int | None = None) -> Assembled:
        return plumbing.assemble(self.workspace(), about(step), number, Options())

    def scope(self, step: str = "design", number: int | None = None) -> Scoped:
        return plumbing.scope(self.workspace(), about(step), number, Options())

    def hand_in(
        self,
        *findings: tuple[str, int],
        number: int = 1,
        kind: str = "correctness",
        by: str = "quality-claude",
        clean: tuple[str, ...] = ("scope-claude",),
    ) -> None:
        """One reviewer's findings, each a section and its score; the others found nothing."""
        folder = f"reviews/design/round-{number:02d}"
        for at, (section, score) in enumerate(findings, 1):
            cites = HEADS.get(section, section)
            finding = runs.finding(by, at, round=number, step="design", kind=kind, cites=cites)
            self.write(f"{folder}/{by}.finding-F{at:02d}.md", finding)
            self.write(f"{folder}/{by}.finding-F{at:02d}.score.yml", runs.score(score))
        for tag in clean:
            self.write(f"{folder}/{tag}.clean.md", runs.clean(tag, number))

    def close(self, number: int, body: str) -> str:
        """Fix the design and put the round on record, by the engine's own commit."""
        self.write("design.md", text(body))
        self.write(f"reviews/design/round-{number:02d}-dispositions.md", "# Done\n\nAll applied.\n")
        found = plumbing.commit(self.workspace(), about("design"), None, Options(), False)
        assert found.commit
        return found.commit


def make(root: Path, contents: Mapping[str, bytes] | None = None, *, git: bool = True) -> Reviewing:
    """In git on the branch `main`, everything committed."""
    project = Reviewing(root)
    if git:
        repos.make(root)
    project.put(contents if contents is not None else files())
    if git:
        project.commit("start")
    return project
