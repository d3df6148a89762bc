"""`verify` over closed rounds: how it grows, and against reading the same files with `cat`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lab import Lab, Measure, config, finding, processor, quickest

RUN = "2026-01-01-sample-run"
COUNTS = (250, 1_000)
FINDINGS = 3


def write_run(run: Path, count: int) -> None:
    run.mkdir(parents=True)
    (run / "config.md").write_text(config())
    (run / "goals.md").write_text("---\nstatus: draft\n---\n\n# Goals\n\n## What\n\nWords.\n")
    for number in range(1, count + 1):
        write_round(run, "goals", number, FINDINGS)


def write_round(run: Path, step: str, number: int, findings: int) -> None:
    """A closed one, with every record that belongs to it but a commit."""
    from qrspi.core.config import reader
    from qrspi.core.findings import guard, triage
    from qrspi.core.pipeline import subject_of
    from qrspi.core.rounds import manifest as manifests
    from qrspi.core.rounds import verified_file
    from qrspi.core.rounds.manifest import Manifest
    from qrspi.world.files.run_tree import DiskTree

    about, settings = subject_of(step), reader.read(config().encode())
    beside = run / f"{about.reviews}/round-{number:02d}"
    _answers(beside, step, number, findings)
    manifest = manifests.read((beside / ".dispatch-manifest.json").read_bytes())
    assert isinstance(manifest, Manifest)
    found = guard.read_round(DiskTree(run), about, number, settings, manifest)
    kept = triage.partition(found, verifier_enabled=True, skipped=False)
    data = verified_file.assemble(found, kept, "true")
    beside.with_name(f"{beside.name}-verified.md").write_bytes(data)
    beside.with_name(f"{beside.name}-scope-set.txt").write_text("## What\n")
    beside.with_name(f"{beside.name}-dispositions.md").write_text("# Done\n")


def _answers(folder: Path, step: str, number: int, findings: int) -> None:
    folder.mkdir(parents=True)
    tags = ["quality-claude", "scope-claude"]
    said = {"step": step, "round": number, "body_hash": "0" * 64, "expected_tags": tags}
    (folder / ".dispatch-manifest.json").write_text(json.dumps(said))
    clean = f"---\nreviewer: scope-claude\nround: {number}\nfindings: 0\n---\n"
    (folder / "scope-claude.clean.md").write_text(clean)
    for at in range(1, findings + 1):
        stem = folder / f"quality-claude.finding-F{at:02d}"
        fields = {"round": number, "artifact": step, "referenced_files": f"[{step}.md:L7]"}
        text = finding("quality-claude", at, "It says two things at once.", **fields)
        stem.with_name(f"{stem.name}.md").write_text(text)
        stem.with_name(f"{stem.name}.score.yml").write_text("score: 85\nreason: True\n")


def verify(run: Path, count: int) -> None:
    from qrspi.handlers import history

    found = history.prove(str(run))
    assert (len(found.rounds), found.gaps) == (count, ()), found.gaps[:1]


def names(run: Path) -> bytes:
    return b"\0".join(str(path).encode() for path in run.rglob("*") if path.is_file())


def cat(files: bytes) -> None:
    subprocess.run(["xargs", "-0", "cat"], input=files, stdout=subprocess.DEVNULL, check=True)


def measure(lab: Lab) -> Iterator[Measure]:
    times = {}
    for count in COUNTS:
        run = lab.scratch / str(count) / RUN
        write_run(run, count)
        works = (partial(verify, run, count), partial(cat, names(run)))
        times[count] = quickest(3, *works, clock=processor)
    few, many = (times[count][0] / count for count in COUNTS)
    yield Measure("a round of 1,000 against one of 250", many / few, "× the time", 1.5)
    ours, floor = times[COUNTS[-1]]
    note = f"{COUNTS[-1] / ours:,.0f} rounds a second"
    yield Measure("verify of 1,000 closed rounds", ours / floor, "× cat", 40, note)
