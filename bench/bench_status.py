"""`status`: one run from a cold start, and many runs at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import least_look
from lab import QRSPI, Lab, Measure, config, finding, quickest

from qrspi.core.config.edit import initial
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals, audit_trail, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.core.yaml import frontmatter
from qrspi.world.files.run_tree import DiskTree

STEPS = ("goals", "questions", "research/summary", "design", "phasing")
BODY = "# Text\n\n" + "A line of an artifact that somebody has written.\n" * 60
WHEN = "2026-01-02T03:04:05Z"
CLAIM = "The second paragraph says the opposite of the first one."
MANIFEST = """{{"schema": "qrspi/manifest/v1", "step": "{step}", "round": {round},
"body_hash": "{hash}", "expected_tags": ["quality-claude"], "decision": {{"rule": "CNV-03"}}}}
"""


def measure(lab: Lab) -> Iterator[Measure]:
    one = lab.scratch / "one"
    one.mkdir()
    new_run = [str(QRSPI), "--root", ".", "init", "first-light", "--pipeline", "quick"]
    subprocess.run(new_run, cwd=one, check=True, capture_output=True)
    yield lab.cold("status of one run, cold", [QRSPI, "status"], one, goal=2.8)
    yield lab.cold("status --json of one run, cold", [QRSPI, "status", "--json"], one, goal=5)
    yield lab.cold("  the same by way of click", [QRSPI, "-v", "status"], one)
    template = lab.scratch / "template"
    files = make_run(template)
    what = f"status of a run of {files} files"
    yield lab.cold(what, [QRSPI, "--root", ".", "status"], template)
    for count, goal in ((100, 6), (1000, 28)):
        project = copies(template, lab.scratch / str(count), count)
        what = f"status --all, {count} runs of {files} files"
        command: list[str | Path] = [QRSPI, "status", "--all"]
        yield lab.cold(what, command, project, goal, times=7, QRSPI_CACHE="off")
        what = "  the same with --json"
        yield lab.cold(what, [*command, "--json"], project, times=7, QRSPI_CACHE="off")
        yield least(lab, "read", "  reading and hashing its texts alone", project)
        warm = 8 if count == 1000 else None
        yield lab.cold("  the same with a warm cache", command, project, warm, times=7)
        yield least(lab, "ask", "  asking about its files alone", project)
    yield per_file(template)


def least(lab: Lab, what: str, title: str, project: Path) -> Measure:
    folder = project / "docs" / "qrspi"
    return lab.cold(title, [sys.executable, least_look.__file__, what, folder], project, times=7)


def make_run(run: Path) -> int:
    """A full run in the middle of its structure: steps behind it, a round open, tasks to come."""
    _write(run / "config.md", config())
    for artifact in (*STEPS, "structure"):
        status = "draft" if artifact == "structure" else "approved"
        _write(run / f"{artifact}.md", f"---\nstatus: {status}\n---\n{BODY}")
    for step in (*(artifact.partition("/")[0] for artifact in STEPS), "structure"):
        for number in range(1, 4):
            _round(run, step, number)
    for number in range(1, 31):
        _write(run / f"research/q{number:02d}.md", f"---\nstatus: approved\n---\n{BODY}")
    _decide(run)
    return sum(path.is_file() for path in run.rglob("*"))


def _round(run: Path, step: str, number: int) -> None:
    folder = run / "reviews" / step / f"round-{number:02d}"
    artifact = "research/summary" if step == "research" else step
    digest = step_text.body_hash(DiskTree(run), subject_of(step))
    _write(
        folder / ".dispatch-manifest.json", MANIFEST.format(step=step, round=number, hash=digest)
    )
    for at in range(1, 9):
        cites = f"[{artifact}.md:L3-L9]"
        text = finding(
            "quality-claude", at, CLAIM, round=number, artifact=step, referenced_files=cites
        )
        _write(folder / f"quality-claude.finding-F{at:02d}.md", text)
        score = f"score: {60 + at}\nreason: Held against the text.\n"
        _write(folder / f"quality-claude.finding-F{at:02d}.score.yml", score)
    if (step, number) == ("structure", 3):
        return
    for suffix in ("-verified.md", "-scope-set.txt", "-dispositions.md", "-commit.txt"):
        _write(folder.with_name(f"{folder.name}{suffix}"), "# Done\n")


def _decide(run: Path) -> None:
    """What `qrspi approve` and `qrspi next` put on record."""
    tree = DiskTree(run)
    for step in (artifact.partition("/")[0] for artifact in STEPS):
        text = step_text.body_hash(tree, subject_of(step))
        record = Record("approve", step, text, 3, "Ada <ada@example.org>", WHEN, "cli", user="ada")
        with (run / approvals.FILE).open("ab") as file:
            file.write(approvals.render(record))
    path = "reviews/structure/round-03/.dispatch-manifest.json"
    touched = Touched(path, None, sha256((run / path).read_bytes()).hexdigest())
    line = Line(WHEN, "cli", "prepare-round", step="structure", round=3, files=(touched,))
    _write(run / audit_trail.FILE, f"{json.dumps(audit_trail.render(line))}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def copies(template: Path, project: Path, count: int) -> Path:
    """Runs that share their files' content by hard links: a million small files are slow to make
    and no different to read. In every fourth run the round is open; in the others the step
    behind it is still to be written. Each has a config of its own."""
    folders = sorted(path.relative_to(template) for path in template.rglob("*") if path.is_dir())
    files = [path.relative_to(template) for path in template.rglob("*") if path.is_file()]
    for number in range(count):
        run = project / "docs" / "qrspi" / f"2026-01-05-run-number-{number:04d}"
        run.mkdir(parents=True)
        for folder in folders:
            (run / folder).mkdir()
        for file in files:
            os.link(template / file, run / file)
        (run / "config.md").unlink()
        day = f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
        (run / "config.md").write_bytes(initial(day, "full", second_reviewer=False))
        if number % 4:
            (run / "structure.md").unlink()
    return project


def per_file(run: Path) -> Measure:
    """Reading a frontmatter against reading the bytes."""
    files = [str(path) for path in sorted(run.rglob("*.md"))]
    bare, parsed = quickest(
        7,
        lambda: [Path(file).read_bytes() for file in files],
        lambda: [frontmatter.read(Path(file).read_bytes(), file) for file in files],
    )
    note = f"{len(files) / parsed:,.0f} files a second"
    return Measure("frontmatter of a file", parsed / bare, "× its bare read", None, note)
