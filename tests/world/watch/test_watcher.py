"""Changes below a folder: heard at once, and never lost for good."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from watchdog import events

from qrspi.world.files import atomic_write, mounts
from qrspi.world.runs.workspace import Workspace
from qrspi.world.watch import watchdog_events
from qrspi.world.watch.watcher import Change, Watcher
from tests import project as projects
from tests.patience import LIMIT, until

SILENT = 600.0  # a sweep that does not come in a test


class Heard:
    """A watcher in a thread of its own, and what it said."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._said: queue.Queue[Change] = queue.Queue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        for change in self.watcher.changes():
            self._said.put(change)

    def next(self) -> Change:
        return self._said.get(timeout=LIMIT)

    def until(self, wanted: Callable[[Change], bool]) -> list[Change]:
        heard = [self.next()]
        while not wanted(heard[-1]):
            heard.append(self.next())
        return heard

    def names(self, *wanted: str) -> set[str]:
        """Every name that was told until all the wanted ones were."""
        names: set[str] = set()
        while not names >= set(wanted):
            names |= self.next().names
        return names

    def listens(self) -> None:
        """To the folder that has the name now. Deleting one takes several calls to the system,
        and each may be told as a loss of its own."""

        def good() -> bool:
            with suppress(OSError):  # it is being closed
                return self.watcher._events is not None and self.watcher._events.good()
            return False

        until(good, "listening")

    def settle(self) -> None:
        """Everything that was done is told, also what is told a little later."""
        save(Path(self.watcher.folder, "settled"), str(time.monotonic()))
        self.names("settled")
        until(lambda: not self.watcher._later)
        self._said.queue.clear()

    def stop(self) -> list[Change]:
        self.watcher.stop()
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()
        return list(self._said.queue)


@contextmanager
def watching(folder: Path, sweep: float = SILENT, poll: bool = False) -> Iterator[Heard]:
    heard = Heard(Watcher(str(folder), sweep=sweep, poll=poll))
    try:
        assert heard.next() == Change("start")
        yield heard
    finally:
        heard.stop()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs" / "qrspi"
    for name in ("one", "two"):
        (folder / name / "reviews").mkdir(parents=True)
        (folder / name / "goals.md").write_text("old")
    return folder


def save(file: Path, text: str = "new") -> None:
    """As careful editors do."""
    draft = file.with_name(f".{file.name}.tmp")
    draft.write_text(text)
    draft.rename(file)


@pytest.mark.rule("DMN-01", "DMN-07")
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda run: (run / "goals.md").write_text("new"), id="written"),
        pytest.param(lambda run: save(run / "goals.md"), id="saved by rename"),
        pytest.param(lambda run: (run / "goals.md").unlink(), id="deleted"),
        pytest.param(lambda run: (run / "goals.md").rename(run / "b.md"), id="renamed"),
        pytest.param(lambda run: (run / "a.md").hardlink_to(run / "goals.md"), id="linked"),
        pytest.param(lambda run: (run / "reviews" / "goals").mkdir(), id="new folder"),
        pytest.param(lambda run: (run / "reviews").rmdir(), id="folder deleted"),
    ],
)
def test_each_kind_of_change_names_the_run(runs: Path, act: Callable[[Path], object]) -> None:
    with watching(runs) as heard:
        act(runs / "two")
        assert heard.names("two") == {"two"}


@pytest.mark.rule("DMN-01")
def test_what_is_made_in_one_go_is_heard_to_its_depth(runs: Path) -> None:
    with watching(runs) as heard:
        deep = runs / "three" / "reviews" / "goals" / "round-01"
        deep.mkdir(parents=True)
        (deep / "a.clean.md").write_text("x")
        heard.names("three")
        heard.settle()
        (deep / "b.clean.md").write_text("x")
        assert heard.names("three") == {"three"}


@pytest.mark.rule("DMN-01")
def test_a_renamed_run_is_named_by_both_names_and_heard_under_the_new_one(runs: Path) -> None:
    with watching(runs) as heard:
        (runs / "one").rename(runs / "uno")
        assert heard.names("one", "uno") == {"one", "uno"}
        heard.settle()
        save(runs / "uno" / "goals.md")
        assert heard.names("uno") == {"uno"}


@pytest.mark.rule("DMN-01")
def test_what_moves_in_and_out_is_heard(runs: Path, tmp_path: Path) -> None:
    with watching(runs) as heard:
        (runs / "one").rename(tmp_path / "elsewhere")
        assert heard.names("one") == {"one"}
        heard.settle()
        (tmp_path / "elsewhere").rename(runs / "three")
        assert heard.names("three") == {"three"}
        heard.settle()
        save(runs / "three" / "goals.md")
        assert heard.names("three") == {"three"}


@pytest.mark.rule("DMN-07")
def test_our_own_folder_temporaries_and_reading_are_not_heard(runs: Path) -> None:
    own = runs / "one" / ".qrspi"
    own.mkdir()
    with watching(runs) as heard:
        save(own / "audit.jsonl")
        (runs / ".qrspi").mkdir()
        save(runs / ".qrspi" / "heartbeat.json")
        (runs / "one" / f".goals.md.qrspi-{'0' * 16}.tmp").write_text("half")
        (runs / "one" / ".goals.md.swp").write_text("x")
        (runs / "one" / "goals.md").read_text()
        save(runs / "two" / "goals.md")
        assert heard.until(lambda change: "two" in change.names) == [
            Change("event", frozenset({"two"}))
        ]
        assert heard.stop() == []


@pytest.mark.rule("DMN-02")
def test_a_file_that_is_being_written_is_told_when_it_is_closed(runs: Path) -> None:
    """Told at its creation, it would be looked at while it is still empty."""
    with watching(runs) as heard:
        with (runs / "one" / "new.md").open("w") as file:
            file.write("whole")
        (first,) = heard.until(lambda change: "one" in change.names)
        assert first == Change("event", frozenset({"one"}))


@pytest.mark.rule("DMN-02")
@pytest.mark.parametrize(
    ("event", "later"),
    [
        (events.FileCreatedEvent("/runs/one/a.md"), True),
        (events.DirCreatedEvent("/runs/one/reviews"), False),
        (events.FileDeletedEvent("/runs/one/a.md"), True),
        (events.FileClosedEvent("/runs/one/a.md"), False),
        (events.FileMovedEvent("/runs/one/.a.md.tmp", "/runs/one/a.md"), False),
        (events.FileMovedEvent(f"/one/{atomic_write.temporary_name('a')}", "/one/a"), True),
        (events.FileMovedEvent(f"/one/.a.qrspi-{'0' * 16}.tmp", "/one/a"), False),
        (events.FileMovedEvent(f"/one/{atomic_write.temporary_name('a')}x", "/one/a"), False),
    ],
    ids=["created", "new folder", "deleted", "closed", "saved", "ours", "theirs", "like ours"],
)
def test_what_is_told_a_little_later(event: events.FileSystemEvent, later: bool) -> None:
    assert watchdog_events._is_unfinished(event) == later


@pytest.mark.rule("DMN-02")
def test_our_own_writes_are_told_all_the_same(runs: Path) -> None:
    """Somebody else may have written the same file after us."""
    with watching(runs) as heard:
        with Workspace(runs / "one").locked() as run:
            run.write("goals.md", b"ours")
        assert heard.names("one") == {"one"}


@pytest.mark.rule("DMN-02")
def test_a_sweep_comes_without_any_event(runs: Path) -> None:
    with watching(runs, sweep=0.1) as heard:
        assert heard.next() == Change("sweep")
        assert heard.next() == Change("sweep")


@pytest.mark.rule("DMN-02", "DMN-07")
def test_a_root_that_was_deleted_and_made_again_is_heard_again(runs: Path) -> None:
    with watching(runs) as heard:
        shutil.rmtree(runs.parent)
        heard.until(lambda change: change.why == "lost")
        (runs / "one").mkdir(parents=True)
        heard.listens()
        heard.settle()
        save(runs / "one" / "goals.md")
        assert heard.names("one") == {"one"}


@pytest.mark.rule("DMN-07")
def test_a_root_in_the_place_of_another_is_heard(runs: Path) -> None:
    with watching(runs) as heard:
        runs.rename(runs.with_name("old"))
        (runs / "one").mkdir(parents=True)
        heard.until(lambda change: change.why == "lost")
        heard.listens()
        heard.settle()
        save(runs / "one" / "goals.md")
        assert heard.names("one") == {"one"}


@pytest.mark.rule("DMN-02", "DMN-07")
def test_when_the_kernel_lost_events_everything_is_looked_at(runs: Path) -> None:
    """What watchdog says of it goes to a log that nobody reads; here it is said by hand."""
    with watching(runs) as heard:
        logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed")
        assert heard.next() == Change("lost")
        save(runs / "one" / "goals.md")
        assert heard.names("one") == {"one"}


@pytest.mark.rule("DMN-07")
def test_a_thread_of_watchdog_that_fails_is_replaced(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise KeyError("a bug in a library")

    with watching(runs) as heard:
        with monkeypatch.context() as patched:
            patched.setattr(watchdog_events._Below, "dispatch", fails)
            save(runs / "one" / "goals.md")
            heard.until(lambda change: change.why == "lost")
        for _ in range(10):  # the first may come before the thread is replaced
            save(runs / "two" / "goals.md")
            if "two" in heard.next().names:
                break
        else:
            raise AssertionError("deaf")
    assert capsys.readouterr().err == ""


@pytest.mark.rule("DMN-07")
def test_where_there_are_no_events_everything_is_looked_at_again_and_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "gives_events", lambda folder: False)
    watcher = Watcher(str(runs), sweep=SILENT)
    assert watcher.manner == "looking every 1 s (this file system tells of no changes)"
    with watching(runs, sweep=0.05, poll=True) as heard:
        assert heard.watcher.manner == "looking every 0.05 s (as you asked)"
        assert [heard.next(), heard.next()] == [Change("sweep"), Change("sweep")]


@pytest.mark.rule("DMN-07")
def test_when_the_system_has_no_ears_left_it_is_looked_at_again_and_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left() -> None:
        raise OSError(24, "inotify instance limit reached")

    monkeypatch.setattr(watchdog_events, "_observer", none_left)
    with watching(runs, sweep=0.05) as heard:
        assert heard.next() == Change("sweep")
        assert heard.watcher.manner == "looking every 0.05 s (inotify instance limit reached)"


@pytest.mark.rule("DMN-08")
@pytest.mark.parametrize(
    "act",
    [
        ["commit", "-q", "--allow-empty", "-m", "theirs"],
        ["branch", "other"],
        ["checkout", "-q", "-b", "another"],
        ["add", "--all"],
        ["pack-refs", "--all"],
    ],
    ids=lambda words: words[0],
)
def test_what_others_do_with_git_is_heard(tmp_path: Path, act: list[str]) -> None:
    project = projects.init(tmp_path / "project")
    project.write("goals.md", "x")
    project.git("commit", "-q", "--allow-empty", "-m", "first")
    with watching(project.run.parent) as heard:
        project.git(*act)
        assert heard.until(lambda change: change.git)[-1].why == "event"


@pytest.mark.rule("DMN-08")
def test_a_commit_in_a_linked_work_tree_is_heard(tmp_path: Path) -> None:
    project = projects.init(tmp_path / "project")
    project.write("goals.md", "x")
    project.commit()
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    with watching(tmp_path / "linked" / projects.RUN) as heard:
        project.git("commit", "-q", "--allow-empty", "-m", "theirs", at=tmp_path / "linked")
        heard.until(lambda change: change.git)


@pytest.mark.rule("DMN-08")
def test_a_repository_that_is_made_later_is_heard_from_the_next_sweep_on(tmp_path: Path) -> None:
    runs = tmp_path / "docs" / "qrspi"
    runs.mkdir(parents=True)
    with watching(runs, sweep=0.2) as heard:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        heard.until(lambda change: change.why == "sweep")
        heard.until(lambda change: change.why == "sweep")
        commit = ["git", "commit", "-q", "--allow-empty", "-m", "first"]
        subprocess.run(commit, cwd=tmp_path, check=True)
        heard.until(lambda change: change.git)


def test_a_reminder_comes_once_and_an_empty_change_on_waking(runs: Path) -> None:
    with watching(runs) as heard:
        heard.watcher.wake()
        assert heard.next() == Change("event")
        heard.watcher.remind("one", 0.0)
        heard.watcher.wake()
        assert heard.next() == Change("event", frozenset({"one"}))
        assert heard.stop() == []


def test_nothing_is_left_behind(runs: Path) -> None:
    before, hook = threading.active_count(), threading.excepthook
    descriptors = len(os.listdir("/proc/self/fd"))
    with watching(runs) as heard:
        save(runs / "one" / "goals.md")
        heard.names("one")
    log = logging.getLogger("watchdog")
    assert (threading.active_count(), threading.excepthook) == (before, hook)
    assert (log.handlers, log.propagate) == ([], True)
    assert len(os.listdir("/proc/self/fd")) == descriptors
