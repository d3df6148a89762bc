"""The cache of `status`: never anything but a faster way to the same answer."""

from __future__ import annotations

import marshal
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import qrspi
from qrspi.core.derivation.derive import derive
from qrspi.core.filenames import pause_file
from qrspi.core.model import RunState
from qrspi.core.recording_tree import Observation, RecordingTree
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs import state_cache
from qrspi.world.runs.locate import RunDir
from qrspi.world.runs.state_cache import StateCache
from tests import runs

pytestmark = pytest.mark.rule("ENG-07", "ENG-03")

LATER = time.time_ns() + 3600 * 10**9  # so that everything has settled
GOALS = runs.artifact()
FILES = {
    "config.md": runs.config("quick", colour="blue"),
    "goals.md": GOALS,
    "reviews/goals/round-01/.dispatch-manifest.json": runs.manifest(body=GOALS),
    "reviews/goals/round-01/quality-claude.finding-F01.md": runs.finding(kind="intent"),
    "reviews/goals/round-01/scope-claude.clean.md": runs.clean("scope-claude"),
    "reviews/goals/round-3/x": b"",
}


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    path = runs.on_disk(tmp_path, FILES)
    return RunDir(path.name, str(path))


def folder_of(run: RunDir) -> str:
    return str(Path(run.path).parent)


def next_tick(run: RunDir) -> None:
    """The clock that files are stamped with is a coarse one: wait for its next stamp."""
    newest = max(path.lstat().st_ctime_ns for path in Path(run.path).rglob("*"))
    probe = Path(run.path).parent.parent / "probe"
    while True:
        probe.write_bytes(b"")
        if probe.stat().st_ctime_ns > newest:
            return
        probe.unlink()


def derived(run: RunDir, steps: bool = True) -> RunState:
    return derive(DiskTree(run.path, False), thorough=False, steps=steps)


def cached(run: RunDir, now: int = LATER) -> StateCache:
    return StateCache(folder_of(run), in_git=False, now=now)


def remember(run: RunDir, now: int = LATER, steps: bool = True) -> RunState:
    cache = cached(run, now)
    tree = RecordingTree(DiskTree(run.path, False))
    state = derive(tree, thorough=False, steps=steps)
    cache.keep(run, cache.entry(run, state, tree.seen, steps=steps))
    cache.save()
    return state


def forge(run: RunDir, fields: slice, values: list[object]) -> None:
    """The one entry of its cache."""
    file = Path(state_cache.file(folder_of(run)))
    head, _, entries = file.read_bytes().partition(b"\n")
    forged = {name: list(entry) for name, entry in marshal.loads(entries).items()}
    forged[run.name][fields] = values
    put(file, head, marshal.dumps(forged))


def put(file: Path, head: bytes, entries: bytes) -> None:
    key = head.rpartition(b" ")[0].decode()
    file.write_bytes(state_cache.seal(key, entries) + entries)


def test_what_has_not_changed_is_found_again(run: RunDir) -> None:
    state = remember(run)
    assert state.warnings and state.steps and state.next.missing == ()
    assert cached(run).find(run, steps=True) == state
    assert cached(run).find(run, steps=False) == derived(run, steps=False)


def test_a_state_without_steps_does_for_those_who_need_none(run: RunDir) -> None:
    state = remember(run, steps=False)
    assert cached(run).find(run, steps=False) == state
    assert cached(run).find(run, steps=True) is None


def _replace(path: Path) -> None:
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    new.replace(path)


Change = Callable[[Path], object]
CHANGES: list[tuple[str, Change]] = [
    ("the same length", lambda run: (run / "goals.md").write_bytes(GOALS.replace(b"W", b"w"))),
    ("approved", lambda run: (run / "goals.md").write_bytes(runs.artifact("approved"))),
    ("an older time", lambda run: os.utime(run / "goals.md", (1, 1))),
    ("replaced", lambda run: _replace(run / "goals.md")),
    ("deleted", lambda run: (run / "goals.md").unlink()),
    ("a new artifact", lambda run: (run / "questions.md").write_bytes(runs.artifact())),
    ("closed", lambda run: (run / "closed.md").write_bytes(b"")),
    ("config", lambda run: (run / "config.md").write_bytes(runs.config("quick"))),
    ("a new round", lambda run: (run / "reviews/goals/round-02").mkdir()),
    (
        "a score",
        lambda run: (
            run / "reviews/goals/round-01/quality-claude.finding-F01.score.yml"
        ).write_bytes(runs.score()),
    ),
    (
        "a finding",
        lambda run: (run / "reviews/goals/round-01/quality-claude.finding-F01.md").write_bytes(
            runs.finding(kind="intent", severity="high")
        ),
    ),
    ("approvals", lambda run: (run / "approvals.jsonl").write_bytes(b"{}\n")),
    ("permissions", lambda run: (run / "goals.md").chmod(0o600)),
]


@pytest.mark.parametrize("change", [change for _, change in CHANGES], ids=[n for n, _ in CHANGES])
def test_every_change_is_noticed(run: RunDir, change: Change) -> None:
    before = remember(run)
    next_tick(run)
    change(Path(run.path))
    assert cached(run).find(run, steps=True) is None
    assert derived(run) == before or remember(run) != before


def _link_outside(run: Path) -> None:
    os.link(run / "goals.md", run.parent.parent / "goals-too.md")


def _write_outside(run: Path) -> None:
    (run.parent.parent / "goals-too.md").write_bytes(GOALS.replace(b"W", b"w"))


def _older_file(run: Path) -> None:
    older = run.parent.parent / "older.md"
    older.write_bytes(GOALS.replace(b"W", b"w"))
    same = (run / "goals.md").stat()
    os.utime(older, ns=(same.st_atime_ns, same.st_mtime_ns))


def _move_older_file_in(run: Path) -> None:
    (run.parent.parent / "older.md").replace(run / "goals.md")


def _write_with_old_time(run: Path) -> None:
    before = (run / "goals.md").stat()
    (run / "goals.md").write_bytes(GOALS.replace(b"W", b"w"))
    os.utime(run / "goals.md", ns=(before.st_atime_ns, before.st_mtime_ns))


def _other_round(run: Path) -> None:
    shutil.copytree(run / "reviews/goals/round-01", run.parent.parent / "round-01")


def _swap_round(run: Path) -> None:
    (run / "reviews/goals/round-01").rename(run.parent.parent / "round-old")
    (run.parent.parent / "round-01").rename(run / "reviews/goals/round-01")


def _link_to(folder: str) -> Change:
    def change(run: Path) -> None:
        (run / folder).rename(run / f"{folder}-old")
        (run / folder).symlink_to(run / f"{folder}-old")

    return change


def _nothing(_: Path) -> None:
    """No preparation."""


SWAPS: list[tuple[str, Change, Change]] = [
    ("written by another name", _link_outside, _write_outside),
    ("an older file moved in", _older_file, _move_older_file_in),
    ("its old time set again", _nothing, _write_with_old_time),
    ("a round swapped for another", _other_round, _swap_round),
    ("a folder is a link", _nothing, _link_to("reviews")),
    ("a deeper folder is a link", _nothing, _link_to("reviews/goals")),
    ("a round is a link", _nothing, _link_to("reviews/goals/round-01")),
    ("a file is a link", _nothing, _link_to("goals.md")),
]


@pytest.mark.parametrize(
    ("prepare", "change"), [row[1:] for row in SWAPS], ids=[row[0] for row in SWAPS]
)
def test_every_swap_is_noticed(run: RunDir, prepare: Change, change: Change) -> None:
    prepare(Path(run.path))
    remember(run)
    next_tick(run)
    change(Path(run.path))
    assert cached(run).find(run, steps=True) is None


def test_a_folder_on_the_way_that_became_a_link_is_noticed(run: RunDir) -> None:
    """Through the link the kernel says the same of the file, but we do not follow it."""
    deep = "reviews/tasks/task-01/round-01/quality-claude.clean.md"
    (Path(run.path) / deep).parent.mkdir(parents=True)
    (Path(run.path) / deep).write_bytes(runs.clean("quality-claude"))
    cache = cached(run)
    cache.keep(
        run, cache.entry(run, derived(run), [Observation(deep, "whole", "there")], steps=True)
    )
    cache.save()
    assert cached(run).find(run, steps=True) == derived(run)
    next_tick(run)
    _link_to("reviews/tasks")(Path(run.path))
    assert cached(run).find(run, steps=True) is None


def test_a_file_that_was_not_there_is_noticed(run: RunDir) -> None:
    """Its folder was not listed, so only the file itself can tell."""
    remember(run, steps=False)
    next_tick(run)
    (Path(run.path) / pause_file("goals", 1)).write_bytes(b"---\ndecisions:\n---\n")
    assert cached(run).find(run, steps=False) is None


def test_a_run_of_another_name_is_another_run(run: RunDir) -> None:
    remember(run)
    other = RunDir("2026-02-02-other-run", f"{folder_of(run)}/2026-02-02-other-run")
    runs.on_disk(Path(run.path).parents[2], FILES, other.name)
    remember(other)
    next_tick(run)
    Path(run.path).rename(f"{run.path}-aside")
    Path(other.path).rename(run.path)
    Path(f"{run.path}-aside").rename(other.path)
    assert cached(run).find(run, steps=True) is None
    assert cached(run).find(other, steps=True) is None


def test_what_could_not_be_read_is_tried_again(run: RunDir) -> None:
    """A disk that fails once changes no file."""
    cache = cached(run)
    unreadable = [Observation("goals.md", "start", "unreadable")]
    cache.keep(run, cache.entry(run, derived(run), unreadable, steps=True))
    cache.save()
    assert cached(run).find(run, steps=True) is None


def test_where_git_came_or_went_everything_is_derived(run: RunDir) -> None:
    remember(run)
    assert StateCache(folder_of(run), in_git=True, now=LATER).find(run, steps=True) is None


@pytest.mark.parametrize("call", ["geteuid", "getgroups"])
def test_what_one_person_may_read_another_may_not(
    run: RunDir, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(run)
    monkeypatch.setattr(os, call, lambda: 54321 if call == "geteuid" else [54321])
    assert cached(run).find(run, steps=True) is None


def test_what_changed_a_moment_ago_is_not_remembered(run: RunDir) -> None:
    remember(run, now=time.time_ns())
    assert cached(run).find(run, steps=True) is None


def test_a_clock_that_was_set_back_only_costs_time(run: RunDir) -> None:
    remember(run, now=time.time_ns() - 3600 * 10**9)
    assert cached(run).find(run, steps=True) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
@pytest.mark.parametrize("at", ["line", "entries"])
def test_a_cache_that_cannot_be_read_is_none(run: RunDir, content: bytes, at: str) -> None:
    state = remember(run)
    file = Path(state_cache.file(folder_of(run)))
    line = file.read_bytes().partition(b"\n")[0]
    file.write_bytes(content if at == "line" else b"%b\n%b" % (line, content))
    assert cached(run).find(run, steps=True) is None
    assert remember(run) == state


@pytest.mark.parametrize("content", [None, (), 3, {runs.RUN: 3}, {runs.RUN: ()}])
def test_a_cache_of_another_shape_is_none(run: RunDir, content: object) -> None:
    remember(run)
    file = Path(state_cache.file(folder_of(run)))
    put(file, file.read_bytes().partition(b"\n")[0], marshal.dumps(content))
    assert cached(run).find(run, steps=True) is None


def test_a_cache_that_a_disk_has_damaged_is_none(run: RunDir) -> None:
    remember(run)
    file = Path(state_cache.file(folder_of(run)))
    content = bytearray(file.read_bytes())
    at = content.index(b"goals", content.index(b"\n"))
    content[at] ^= 1
    file.write_bytes(content)
    assert cached(run).find(run, steps=True) is None


@pytest.mark.parametrize("forged", [None, (), "approved", (1,) * 12, {"run": "x"}])
def test_a_state_of_another_shape_is_none(run: RunDir, forged: object) -> None:
    remember(run)
    forge(run, slice(0, 1), [forged])
    assert cached(run).find(run, steps=True) is None


@pytest.mark.rule("SEC-01")
@pytest.mark.parametrize(
    ("there", "absent"),
    [
        ("", ""),
        ("", "no-such-file"),
        ("goals.md", ""),
        ((), ""),
        (3, ""),
        (None, ""),
        ("../other", ""),
        (".\0\0", ""),
        (".\0\ud800", ""),
        (".", ""),
        (".", 3),
    ],
)
def test_an_entry_that_proves_nothing_is_not_believed(
    run: RunDir, there: object, absent: object
) -> None:
    """Nobody who forges one can know when the run's folder was last changed here."""
    remember(run)
    forge(run, slice(2, 5), [there, b"", absent])
    assert cached(run).find(run, steps=True) is None


@pytest.mark.rule("SEC-01")
def test_a_cache_of_another_copy_is_not_believed(run: RunDir, tmp_path: Path) -> None:
    """Whoever made it cannot know the inodes and times that files have here."""
    remember(run)
    clone = RunDir(run.name, str(runs.on_disk(tmp_path / "clone", FILES)))
    of_this, of_that = (Path(state_cache.file(folder_of(one))) for one in (run, clone))
    of_that.write_bytes(of_this.read_bytes())
    of_that.chmod(0o600)
    assert cached(clone).find(clone, steps=True) is None


@pytest.mark.rule("SEC-01")
def test_nothing_of_it_lies_in_the_project(run: RunDir, tmp_path: Path) -> None:
    before = sorted(Path(folder_of(run)).rglob("*"))
    remember(run)
    assert sorted(Path(folder_of(run)).rglob("*")) == before
    kept = Path(state_cache.file(folder_of(run)))
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.rule("SEC-01")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_may_write_is_not_believed(run: RunDir, what: str) -> None:
    remember(run)
    kept = Path(state_cache.file(folder_of(run)))
    opened_up = kept if what == "file" else kept.parent
    opened_up.chmod(0o770)
    found = cached(run).find(run, steps=True)
    opened_up.chmod(0o700)
    assert found is None


def test_a_relative_place_is_not_looked_for(
    run: RunDir, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_cache.file(folder_of(run)).startswith(f"{tmp_path}/.cache/qrspi/states/")


@pytest.mark.rule("ENG-05")
def test_where_nothing_can_be_written_everything_is_derived(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{run.path}/goals.md")
    state = remember(run)
    assert cached(run).find(run, steps=True) is None
    (found,) = state_cache.states(folder_of(run), [run], in_git=False, steps=True)
    assert found == state


@pytest.mark.parametrize("switch", ["on", "off"])
def test_with_and_without_it_the_states_are_the_same(
    run: RunDir, switch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(state_cache.SWITCH, switch)
    monkeypatch.setattr(state_cache, "SETTLED", -(10**9))
    folder = folder_of(run)
    for steps in (True, False, False, True):
        (state,) = state_cache.states(folder, [run], in_git=False, steps=steps)
        assert state == derived(run, steps)
    assert Path(state_cache.file(folder)).exists() == (switch == "on")


def test_an_unchanged_cache_is_not_written_again(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_cache, "SETTLED", -(10**9))
    folder = folder_of(run)
    state_cache.states(folder, [run], in_git=False, steps=True)
    before = Path(state_cache.file(folder)).stat()
    state_cache.states(folder, [run], in_git=False, steps=True)
    assert Path(state_cache.file(folder)).stat() == before


def test_code_in_a_folder_of_its_own_is_noticed(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    shutil.copytree(Path(qrspi.__file__).parent, package)
    monkeypatch.setattr(qrspi, "__file__", str(package / "__init__.py"))
    room = package / "core" / "room"
    room.mkdir()
    (room / "rule.py").write_text("CAP = 3\n")
    state = remember(run)
    assert cached(run).find(run, steps=True) == state
    os.utime(room / "rule.py", (LATER // 10**9, LATER // 10**9))
    assert cached(run).find(run, steps=True) is None


def test_names_that_runs_share_are_written_once(run: RunDir) -> None:
    other = RunDir("2026-02-02-other-run", f"{folder_of(run)}/2026-02-02-other-run")
    runs.on_disk(Path(run.path).parents[2], FILES, other.name)
    cache = cached(run)
    for one in (run, other):
        tree = RecordingTree(DiskTree(one.path, False))
        cache.keep(one, cache.entry(one, derive(tree, steps=False), tree.seen, steps=False))
    cache.save()
    kept = Path(state_cache.file(folder_of(run))).read_bytes()
    assert kept.count(b"reviews/goals/round-01/quality-claude.finding-F01.md\0") == 1
    assert all(cached(run).find(one, steps=False) for one in (run, other))


def test_texts_by_which_nothing_is_derived_do_not_matter(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    shutil.copytree(Path(qrspi.__file__).parent, package)
    monkeypatch.setattr(qrspi, "__file__", str(package / "__init__.py"))
    state, late = remember(run), (LATER // 10**9, LATER // 10**9)
    os.utime(package / "data" / "skill" / "SKILL.md", late)
    assert cached(run).find(run, steps=True) == state
    os.utime(package / "data" / "reviewers.json", late)
    assert cached(run).find(run, steps=True) is None
