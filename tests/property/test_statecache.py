"""A law of the cache of `status`: whatever is done to the files, with it and without it the
answer is the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.derivation.derive import derive
from qrspi.core.filenames import pause_file
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs import state_cache
from qrspi.world.runs.locate import RunDir
from tests import runs

NAMES = ("2026-01-01-first-light", "2026-01-02-second-light")
GOALS = runs.artifact()
ROUND = "reviews/goals/round-01"
FINDING = f"{ROUND}/quality-claude.finding-F01.md"
FILES = {
    "config.md": runs.config("quick"),
    "goals.md": GOALS,
    f"{ROUND}/.dispatch-manifest.json": runs.manifest(body=GOALS),
    FINDING: runs.finding(),
    f"{ROUND}/scope-claude.clean.md": runs.clean("scope-claude"),
}
CONTENTS = (
    b"",
    GOALS,
    GOALS.replace(b"W", b"w"),
    runs.artifact("approved"),
    runs.config("full"),
    runs.finding(kind="intent"),
    runs.score(),
    runs.clean("quality-claude"),
)
PATHS = (
    *FILES,
    "questions.md",
    "closed.md",
    "approvals.jsonl",
    FINDING.replace(".md", ".score.yml"),
    f"{ROUND}-dispositions.md",
    pause_file("goals", 1),
)
PLACES = (*PATHS, ROUND, "reviews/goals/round-02", "reviews/goals", "reviews", "spare")

Change = Callable[[Path], object]
names, paths, places = (st.sampled_from(words) for words in (NAMES, PATHS, PLACES))
contents = st.sampled_from(CONTENTS)


def _write(name: str, path: str, content: bytes) -> Change:
    return lambda root: (root / name / path).write_bytes(content)


def _write_with_old_time(name: str, path: str, content: bytes) -> Change:
    def change(root: Path) -> None:
        before = (root / name / path).stat()
        (root / name / path).write_bytes(content)
        os.utime(root / name / path, ns=(before.st_atime_ns, before.st_mtime_ns))

    return change


def _move(name: str, path: str, other: str, to: str) -> Change:
    return lambda root: (root / name / path).rename(root / other / to)


def _copy(name: str, path: str, other: str, to: str) -> Change:
    return lambda root: shutil.copy2(root / name / path, root / other / to)


def _link(name: str, path: str, other: str, to: str) -> Change:
    return lambda root: os.link(root / name / path, root / other / to)


def _become_a_link(name: str, path: str) -> Change:
    def change(root: Path) -> None:
        (root / name / path).rename(root / f"{name}-aside")
        (root / name / path).symlink_to(root / f"{name}-aside")

    return change


def _remove(name: str, path: str) -> Change:
    return lambda root: (root / name / path).unlink()


def _make_folder(name: str, path: str) -> Change:
    return lambda root: (root / name / path).mkdir()


def _swap_runs(root: Path) -> None:
    first, second = (root / name for name in NAMES)
    first.rename(root / "aside")
    second.rename(first)
    (root / "aside").rename(second)


changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(_write, names, paths, contents),
    st.builds(_write_with_old_time, names, paths, contents),
    st.builds(_move, names, places, names, places),
    st.builds(_copy, names, paths, names, paths),
    st.builds(_link, names, paths, names, paths),
    st.builds(_become_a_link, names, places),
    st.builds(_remove, names, paths),
    st.builds(_make_folder, names, places),
    st.just(_swap_runs),
)


@contextmanager
def two_runs() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            runs.on_disk(Path(folder), FILES, name)
        yield Path(folder) / "docs/qrspi"


def next_tick(root: Path) -> None:
    """The clock that files are stamped with is a coarse one: wait for its next stamp."""
    newest = max(path.lstat().st_ctime_ns for path in root.rglob("*"))
    probe = root.parent / "probe"
    while True:
        probe.write_bytes(b"")
        if probe.stat().st_ctime_ns > newest:
            return
        probe.unlink()


def ask(root: Path, steps: bool) -> None:
    found = [RunDir(name, str(root / name)) for name in NAMES]
    cached = state_cache.states(str(root), found, in_git=False, steps=steps)
    trees = [DiskTree(run.path, False) for run in found]
    assert cached == [derive(tree, thorough=False, steps=steps) for tree in trees]


@pytest.mark.rule("ENG-03", "ENG-07")
@given(st.lists(st.tuples(changes, st.booleans()), min_size=1, max_size=8))
def test_no_change_is_answered_from_the_cache(asked: list[tuple[Change, bool]]) -> None:
    with pytest.MonkeyPatch.context() as patch, two_runs() as root:
        patch.setenv(state_cache.SWITCH, "on")
        patch.setattr(state_cache, "SETTLED", -(10**9))  # or nothing so young would be kept
        ask(root, True)
        for change, steps in asked:
            next_tick(root)
            with suppress(OSError, shutil.SameFileError):  # what cannot be done changes nothing
                change(root)
            ask(root, steps)
            ask(root, steps)
