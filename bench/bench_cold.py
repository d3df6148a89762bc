"""Every command from a cold start: the plain forms of a day's, the others, and hooks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lab import QRSPI, Lab, Measure, finding, git

DAY = ("next", "next --dry-run", "show", "inbox", "brief", "explain", "log")
OTHERS = ("--help", "config show", "route show", "task list", "spend", "doctor", "schema status")


def measure(lab: Lab) -> Iterator[Measure]:
    begun = _begun(lab.scratch / "begun")
    yield lab.cold("status", [QRSPI, "status"], begun, 2.8)
    reviewed = _reviewed(lab.scratch / "reviewed")
    yield lab.cold("status, with an open round", [QRSPI, "status"], reviewed, 4)
    for words in DAY:
        yield lab.cold(words, [QRSPI, *words.split()], reviewed, 4)
    for words in OTHERS:
        yield lab.cold(words, [QRSPI, *words.split()], begun, 5.5)
    file = next((begun / "docs/qrspi").iterdir()) / "config.md"
    yield lab.cold("frontmatter get", [QRSPI, "frontmatter", "get", file, "pipeline"], begun, 5.5)
    yield lab.cold("hook with nothing to say", _hook(lab.scratch), begun, 2.5)


def _begun(project: Path) -> Path:
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    git(project, "commit", "-q", "--allow-empty", "-m", "start")
    new = [str(QRSPI), "init", "first-light", "--pipeline", "quick", "--no-commit", "--here"]
    subprocess.run(new, cwd=project, check=True, capture_output=True)
    return project


def _reviewed(project: Path) -> Path:
    """A round that the engine opened, with five findings to be scored."""
    run = next((_begun(project) / "docs/qrspi").iterdir())
    (run / "goals.md").write_text("---\nstatus: draft\n---\n# Goals\n\nLinks sign members in.\n")
    subprocess.run([QRSPI, "next"], cwd=project, check=True, capture_output=True)
    folder = run / "reviews/goals/round-01"
    for at in range(1, 6):
        text = finding("quality-claude", at, "The first line says the opposite of the second.")
        (folder / f"quality-claude.finding-F{at:02d}.md").write_text(text)
    return project


def _hook(scratch: Path) -> list[str | Path]:
    """A shell feeds it what a host would."""
    asked = {"cwd": str(scratch), "tool_name": "Write", "tool_input": {"file_path": "a.py"}}
    (scratch / "asked.json").write_text(json.dumps(asked))
    command = f'exec "{QRSPI}" hook pre-tool --host claude-code < "{scratch}/asked.json"'
    return ["sh", "-c", command]
