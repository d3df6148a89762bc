"""Rewrite the tables of docs/roles.md: the shipped roles, and the trials in docs/trials.

python tools/roles_page.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from qrspi.core import reviewers
from qrspi.core.agents.roles import Role
from qrspi.render import role_trial
from qrspi.world.runs import role_files

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "roles.md"
TRIALS = ROOT / "docs" / "trials"
NONE = "No trial is on record yet.\n"


def renewed(page: str) -> str:
    return _between(_between(page, "roles", roles()), "trials", trials())


def _between(page: str, name: str, text: str) -> str:
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->\n)", re.DOTALL)
    return place.sub(lambda found: f"{found[1]}{text}{found[2]}", page)


def trials() -> str:
    files = sorted(TRIALS.glob("*.json"))
    kept = [json.loads(file.read_text("utf-8")) for file in files]
    return trial_table(kept) if kept else NONE


def trial_table(results: Iterable[Mapping[str, Any]]) -> str:
    head = "| role | model | date | answers | faults found | missed | false | elsewhere |"
    rows = [head, f"|{'---|' * 8}"]
    for result in results:
        for tally in result["roles"]:
            if tally["answered"] + tally["unusable"]:
                role, *rest = role_trial.row(tally)
                cells = (f"`{role}`", result["model"] or "unknown", result["date"], *rest)
                rows.append(f"| {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


def roles() -> str:
    rows = [_row(name) for name in role_files.shipped_names()]
    return "".join(["| role | tier | sent |\n|---|---|---|\n", *sorted(rows)])


def _row(name: str) -> str:
    role = role_files.shipped(name)
    assert isinstance(role, Role)
    return f"| `{name}` | {role.tier} | {_sent(name)} |\n"


def _sent(name: str) -> str:
    if name.startswith("reviewer-"):
        return _reviews(name.removeprefix("reviewer-"))
    if name.startswith("author-"):
        return SENT.get(name) or f"to write {name.removeprefix('author-')}"
    return SENT[name]


SENT = {
    "author-research-question": "for each question of research, with nothing but the question",
    "author-research-summary": "when all questions are answered",
    "fixer": "when a round kept findings, to apply them",
    "implementer": "for each task of code",
    "implementer-light": "where `light_implementer` is `on`: for tasks of text and configuration",
    "quality-reviewer": "about a task's text, where `gates.quality` asks for it",
    "test-writer": "where `test_writer` is `on`: before a task's implementer, and in step test",
    "tagger": "by a host that has no other way to say which parts findings are about",
    "verifier": "for each finding, to score it",
}


def _reviews(stem: str) -> str:
    matrix = reviewers.shipped()
    steps = [step for step, names in matrix.steps.items() if stem in names]
    depths = [depth for depth, names in matrix.task.items() if stem in names]
    tasks = f"each task ({' and '.join(depths)} reviews)" if depths else ""
    if f"{stem}-claude" == matrix.visual:
        tasks = "each task that names wireframes"
    return "reviews " + ", ".join(filter(None, (*steps, tasks)))


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
