"""A project with one run whose design is reviewed, and the hands of those who write into it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import round_commands, round_results
from qrspi.handlers.rounds.round_commands import Opened
from qrspi.handlers.rounds.round_results import Assembled, Scoped
from tests import runs
from tests.project import EngineProject, about

BODY = "# Design\n\n## Approach\n\nOne way.\n\n## Risks\n\nNone.\n"
BEFORE = runs.approved("goals", "questions", "research")
HEADS = {"## Approach": "design.md:L7", "## Risks": "design.md:L11"}  # lines of the file


def text(body: str = BODY, status: str = "draft") -> bytes:
    return runs.artifact(status, body)


def files(*parts: Mapping[str, bytes], **config: str) -> dict[str, bytes]:
    """A run at its design."""
    return runs.files({"config.md": runs.config(**config)}, BEFORE, {"design.md": text()}, *parts)


class Reviewing(EngineProject):
    def there(self) -> set[str]:
        """Every file of the run but the engine's own folder."""
        found = (file.relative_to(self.run).as_posix() for file in self.run.rglob("*"))
        return {name for name in found if not name.startswith(".qrspi")}

    def trail(self) -> list[dict[str, Any]]:
        return self.lines(".qrspi/audit.jsonl")

    def prepare(self, step: str = "design", number: int | None = None, **options: Any) -> Opened:
        return round_commands.open_round(self.workspace(), about(step), number, Options(**options))

    def assemble(self, step: str = "design", number: int | None = None) -> Assembled:
        return round_results.assemble(self.workspace(), about(step), number, Options())

    def settle(self, step: str = "design") -> None:
        self.assemble(step)
        self.scope(step)

    def scope(self, step: str = "design", number: int | None = None) -> Scoped:
        return round_results.scope(self.workspace(), about(step), number, Options())

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

    def hold_round(self, *findings: tuple[str, int], **handed_in: Any) -> None:
        self.prepare()
        self.hand_in(*findings, **handed_in)
        self.settle()

    def close(self, number: int, body: str) -> str:
        """Fix the design and put the round on record, by the engine's own commit."""
        self.write("design.md", text(body))
        self.write(f"reviews/design/round-{number:02d}-dispositions.md", "# Done\n\nAll applied.\n")
        found = round_commands.commit(self.workspace(), about("design"), None, Options(), False)
        assert found.commit
        return found.commit


def make(root: Path, contents: Mapping[str, bytes] | None = None, *, git: bool = True) -> Reviewing:
    return Reviewing(root, contents if contents is not None else files(), git=git)
