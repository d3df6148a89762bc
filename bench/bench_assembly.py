"""Assembling a round: reading, checking, triage, the verified file; against `cat` and a shell."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lab import QRSPI, Lab, Measure, config, finding, peak_megabytes, processor, quickest, taken

HERE = Path(__file__).resolve().parent
RUN = "2026-01-01-sample-run"
REVIEWS = "reviews/plan"
TAGS = ("quality-claude", "scope-claude", "spec-claude", "security-claude", "test-coverage-claude")
KINDS = ("style", "clarity", "correctness", "scope", "intent")
MESSAGE = """\
The plan asks for a retry in task {number} and the design rules it out: whoever implements \
the task has to choose, and the reviewer of the next round will find the other half missing.

State in the plan which of the two holds, and cite the section of the design that says so."""


def write_round(run: Path, count: int) -> Path:
    """A round of `count` findings by five reviewers, each finding with its score."""
    directory = run / REVIEWS / "round-01"
    directory.mkdir(parents=True)
    (run / "config.md").write_text(config())
    for at in range(count):
        tag, number = TAGS[at % len(TAGS)], at // len(TAGS) + 1
        stem = directory / f"{tag}.finding-F{number:02d}"
        fields = {
            "change_type": KINDS[at // 3 % len(KINDS)],
            "referenced_files": f"[plan.md:L{at + 1}-L{at + 9}, design.md:L12]",
            "artifact": "plan",
        }
        text = finding(tag, number, MESSAGE.format(number=number), **fields)
        stem.with_suffix(f"{stem.suffix}.md").write_text(text)
        stem.with_suffix(f"{stem.suffix}.score.yml").write_text(
            f"score: {at * 7 % 101}\nreason: The design says so in its third section.\n"
        )
    return directory


def assemble(run: Path) -> bytes:
    from qrspi.core.config import reader
    from qrspi.core.findings import guard, triage
    from qrspi.core.pipeline import subject
    from qrspi.core.rounds import verified_file
    from qrspi.world.files.run_tree import DiskTree

    # The guard refuses rounds of more files than a person could have meant; what is measured
    # here is that time and memory would not be the reason.
    setattr(guard, "ROUND_FILES_LIMIT", sys.maxsize)  # noqa: B010
    tree = DiskTree(run)
    plan = subject("plan")
    assert plan is not None
    found = guard.read_round(tree, plan, 1, reader.read(tree.read("config.md")), None)
    assert not found.violations, found.violations[0]
    triaged = triage.partition(found, verifier_enabled=True, skipped=False)
    data = verified_file.assemble(found, triaged, "true")
    (run / REVIEWS / "round-01-verified.md").write_bytes(data)
    return data


def cat(directory: Path) -> None:
    """Every file once, by a single process, into one file."""
    names = sorted(file.name for file in directory.iterdir())
    target = directory.with_name("all.md")
    with target.open("wb") as out:
        subprocess.run(["cat", "--", *names], cwd=directory, stdout=out, check=True)


def shell(directory: Path) -> bytes:
    command = ["bash", str(HERE / "assembly.sh"), str(directory), "true"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def measure(lab: Lab) -> Iterator[Measure]:
    per_finding: dict[int, float] = {}
    for count in (10, 100, 1_000, 10_000):
        run = lab.scratch / str(count) / RUN
        directory = write_round(run, count)
        times = 3 if count > 1_000 else 9
        works = partial(assemble, run), partial(cat, directory)
        ours, copied = quickest(times, *works, clock=processor)
        per_finding[count] = ours / count
        note = f"{ours * 1000:.1f} ms, cat {copied * 1000:.1f} ms"
        goal = 5 if count == 1_000 else None
        yield Measure(f"assemble {count:,} findings", ours / copied, "× cat", goal, note)
        if count <= 1_000:
            yield against_the_shell(run, directory, ours, count)
        if count == 1_000:
            yield as_a_command(run, directory)
    growth = per_finding[10_000] / per_finding[1_000]
    yield Measure("a finding among 10,000, one among 1,000", growth, "×", 1.5)
    code = f"import bench_assembly as b, pathlib; b.assemble(pathlib.Path({str(run)!r}))"
    yield Measure("memory for 10,000 findings", peak_megabytes(code), "MB", 250)


def against_the_shell(run: Path, directory: Path, ours: float, count: int) -> Measure:
    if count <= 100:
        assert shell(directory) == assemble(run), "the shell assembles other bytes"
    theirs = taken(partial(shell, directory), processor)
    note = f"shell {theirs:.2f} s, {theirs / ours:.0f} times as long"
    what = f"assemble {count:,} findings"
    return Measure(what, 100 * ours / theirs, "% of the shell's time", None, note)


def as_a_command(run: Path, directory: Path) -> Measure:
    """`round assemble`, start to end: it writes and syncs what the shell only prints."""
    for tag in ("goal-traceability-claude", "silent-failure-claude"):
        clean = f"---\nreviewer: {tag}\nround: 1\nfindings: 0\n---\n"
        (directory / f"{tag}.clean.md").write_text(clean)

    def ours() -> None:
        directory.with_name("round-01-verified.md").unlink(missing_ok=True)
        command = [str(QRSPI), "--root", str(run), "round", "assemble", "plan"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    (taken_by_us,) = quickest(5, ours, clock=processor)
    theirs = taken(partial(shell, directory), processor)
    note = f"{taken_by_us * 1000:.0f} ms, shell {theirs:.2f} s: {theirs / taken_by_us:.0f} times"
    what = "round assemble of 1,000, the whole command"
    return Measure(what, 100 * taken_by_us / theirs, "% of the shell's time", 100 / 60, note)
