"""What deriving a state reads: frontmatters and listings, and the open round alone."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.tree import Fault, MemoryTree
from tests.runs import approved, artifact, clean, config, finding, manifest, score


class Noting(MemoryTree):
    """Remembers whose content was asked for."""

    def read(self, path: str, limit: int = 1 << 30) -> bytes | Fault:
        self.asked = [*getattr(self, "asked", []), path]
        return super().read(path, limit)


def closed(step: str, number: int) -> dict[str, bytes]:
    place = f"reviews/{step}/round-{number:02d}"
    return {
        f"{place}/.dispatch-manifest.json": manifest(step, number),
        f"{place}/quality-claude.finding-F01.md": finding(round=number, step=step),
        f"{place}/quality-claude.finding-F01.score.yml": score(),
        f"{place}/scope-claude.clean.md": clean("scope-claude", number),
        f"{place}-verified.md": b"---\n---\n",
        f"{place}-dispositions.md": b"Fixed.\n",
        f"{place}-commit.txt": b"a" * 40 + b"\n",
    }


@pytest.mark.rule("SPE-01", "FM-07")
def test_the_bodies_of_finished_steps_and_closed_rounds_are_left_alone() -> None:
    text = artifact()
    files = {"config.md": config(), "questions.md": text} | approved("goals")
    for number in range(1, 9):
        files |= closed("goals", number) | closed("questions", number)
    open_round = "reviews/questions/round-09"
    files[f"{open_round}/.dispatch-manifest.json"] = manifest(
        "questions", 9, ["quality-claude"], text
    )
    tree = Noting(files)
    assert derive(tree, thorough=False).next.action == "review"
    inside = [path for path in tree.asked if "/round-" in path]
    assert inside
    assert all(path.startswith(open_round) for path in inside)
    assert not any(path.startswith("reviews/goals") for path in tree.asked)


@pytest.mark.rule("SPE-01")
def test_the_cost_does_not_grow_with_history() -> None:
    def asked(rounds: int) -> int:
        text = artifact()
        files = {"config.md": config(), "goals.md": text}
        for number in range(1, rounds):
            files |= closed("goals", number)
        last = f"reviews/goals/round-{rounds:02d}/.dispatch-manifest.json"
        tree = Noting(files | {last: manifest("goals", rounds, body=text)})
        derive(tree, thorough=False)
        return len(tree.asked)

    assert asked(3) == asked(30)
