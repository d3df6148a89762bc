"""A 20 MB diff: `diffs.emit` against plain `git diff > file`, and how many gits it takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lab import Lab, Measure, git, quickest

from qrspi.world.git import command, diffs, refs, repository

RUN = "docs/qrspi/2026-01-01-sample-run"
DIFF = "reviews/plan/round-01.diff"
TIMES = 9


def measure(lab: Lab) -> Iterator[Measure]:
    run = make(lab.scratch / "project")
    command.read(str(run), ["version"])  # the library's import is not the diff's cost
    for branch, what in (("main", "all new"), ("old", "changed")):
        yield compare(run, branch, what)
    yield Measure("diff: git processes in all", processes(run, lab.scratch / "bin"), "", 5)


def make(root: Path) -> Path:
    """`plan.md` was empty on main; on old, three lines of four were others."""
    run = root / RUN
    run.mkdir(parents=True)
    plan = run / "plan.md"
    words = [f"{number * 2654435761 % 2**32:08x}" for number in range(330_000)]
    old = (f"{word} old" if number % 4 else word for number, word in enumerate(words))
    work = (f"{word} {'text ' * 13}" if number % 4 else word for number, word in enumerate(words))
    git(root, "init", "-q", "-b", "main")
    for branch, lines in {"main": iter(()), "old": old, "work": work}.items():
        git(root, "checkout", "-q", "-B", branch)
        plan.write_text("\n".join(lines))
        git(root, "add", "--all")
        git(root, "commit", "-q", "-m", branch)
    # As after a pause: git then knows the file without reading it, which is its best case.
    os.utime(plan, (time.time() - 3600,) * 2)
    git(root, "update-index", "--refresh")
    return run


def compare(run: Path, branch: str, what: str) -> Measure:
    repo = repository.find(str(run))
    assert repo
    ref = refs.Ref(branch, refs.resolve(repo, branch))
    theirs = run / "plain.diff"

    def by_git() -> None:
        with theirs.open("wb") as file:
            subprocess.run(["git", "diff", branch, "--", "plan.md"], cwd=run, stdout=file)

    def by_us() -> None:
        diffs.emit(repo, str(run), DIFF, ref, ["plan.md"])

    ours, git_alone = quickest(TIMES, by_us, by_git)
    data = (run / DIFF).read_bytes()
    assert data == theirs.read_bytes()
    note = f"{ours * 1e3:.0f} ms against {git_alone * 1e3:.0f} ms"
    return Measure(
        f"diff of {len(data) / 1e6:.0f} MB, {what}", ours / git_alone, "× git diff", 1.2, note
    )


def processes(run: Path, folder: Path) -> int:
    """Counted in a new interpreter, by a `git` on the PATH that leaves a line per start."""
    folder.mkdir()
    log = folder / "log"
    real = subprocess.run(["which", "git"], capture_output=True, text=True).stdout.strip()
    counter = folder / "git"
    counter.write_text(f'#!/bin/sh\necho >> {log}\nexec {real} "$@"\n')
    counter.chmod(0o755)
    code = f"""if True:
        from qrspi.world.git import diffs, refs, repository
        repo = repository.find({str(run)!r})
        refs.parent_of_head(repo)
        diffs.emit(repo, {str(run)!r}, {DIFF!r}, refs.base(repo, None), ["plan.md"])
    """
    path = f"{folder}:{os.environ['PATH']}"
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"PATH": path}, check=True)
    return len(log.read_text().splitlines())
