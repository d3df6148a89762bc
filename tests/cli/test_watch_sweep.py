"""A sweep finds whatever changed while no event was heard, and derives nothing else."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qrspi import daemon as daemons
from qrspi.core.errors import attempt
from qrspi.core.model import Problem
from qrspi.daemon import Daemon, Report, Settings
from qrspi.engine import Outcome
from qrspi.world.git import tracked_files
from qrspi.world.processes.side_processes import SideProcesses
from qrspi.world.runs import state_cache
from qrspi.world.runs.locate import Root
from qrspi.world.watch.watcher import Change, Watcher, Why
from tests import runs, scenes
from tests.patience import until

SECOND = "2026-05-18-other-run"
FULL = Problem("no-room", "the disk is full")


class Deaf:
    """A daemon that hears nothing: it is told to sweep."""

    def __init__(self, project: Path) -> None:
        self.looks, self.full = 0, False
        folder = str(project / "docs" / "qrspi")
        self._watcher = Watcher(folder)
        self._errands = SideProcesses(self._watcher.wake)
        settings = Settings(Root(str(project), folder))
        self._daemon = Daemon(settings, self._watcher, self._attempt, self._errands)

    def _attempt(self, body: Callable[[], Outcome]) -> Outcome | Problem:
        self.looks += 1
        return FULL if self.full else attempt(body)

    def look(self, why: Why = "sweep") -> list[Report]:
        return list(self._daemon.look(Change(why)))

    def hear_git(self) -> list[Report]:
        """As after an event of the repository's."""
        return list(self._daemon.look(Change("event", git=True)))

    @property
    def kept_of_git(self) -> object:
        return self._daemon._in_git._seen

    @property
    def reminders(self) -> dict[str, float]:
        return self._watcher._later

    def sweep(self) -> int:
        """How many runs were derived."""
        before = self.looks
        self.look()
        return self.looks - before


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written a moment ago counts as old; `tick` sees to it that it is no lie."""
    monkeypatch.setattr(state_cache, "SETTLED", -(10**9))


def tick(folder: Path) -> None:
    """The clock of the file system goes on."""
    probe = folder / ".git" / "tick"
    probe.touch()
    then = probe.stat().st_ctime_ns

    def passed() -> bool:
        probe.touch()
        return probe.stat().st_ctime_ns > then

    until(passed)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    scenes.assembled(tmp_path)
    tick(tmp_path)
    yield tmp_path


def score_again(run: Path) -> None:
    """As long as before, and as old."""
    file = run / scenes.ROUND / scenes.SCORE
    then = file.stat()
    file.write_bytes(file.read_bytes().replace(b"85", b"95"))
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))


def swapped(run: Path) -> None:
    """A run in the place of another."""
    shutil.copytree(run, run.with_name("aside"))
    shutil.rmtree(run)
    run.with_name("aside").rename(run)


@pytest.mark.rule("DMN-02")
@pytest.mark.parametrize(
    ("act", "told"),
    [
        pytest.param(score_again, "assemble", id="same size, time set back"),
        pytest.param(
            lambda run: scenes.save(run / scenes.ROUND / scenes.SCORE, runs.score(95)),
            "assemble",
            id="replaced by rename",
        ),
        pytest.param(
            lambda run: (run / scenes.VERIFIED).unlink(), "assemble", id="the engine's file deleted"
        ),
        pytest.param(
            lambda run: shutil.rmtree(run / scenes.ROUND),
            "prepare-round write-prompts waits",
            id="folder deleted",
        ),
        pytest.param(
            scenes.fix,
            "commit-round choose-loop prepare-round write-prompts waits",
            id="new file beside the folder",
        ),
        pytest.param(
            lambda run: scenes.save(
                run / scenes.ROUND / "quality-claude.finding-F02.md", runs.finding(number=2)
            ),
            "write-prompts waits",
            id="new file deep inside",
        ),
        pytest.param(lambda run: (run / "config.md").unlink(), "", id="settings deleted"),
        pytest.param(swapped, "", id="another folder of the same content"),
    ],
)
def test_what_was_not_heard_is_found(
    project: Path, act: Callable[[Path], object], told: str
) -> None:
    daemon = Deaf(project)
    daemon.look("start")
    assert (daemon.sweep(), daemon.sweep()) == (0, 0)
    act(project / "docs" / "qrspi" / runs.RUN)
    reports = daemon.look()
    assert daemon.looks == 2
    names = [one.performed.handler if one.performed else one.event for one in reports]
    assert names == told.split()


@pytest.mark.rule("DMN-02")
def test_runs_that_come_and_go_unheard(project: Path) -> None:
    daemon = Deaf(project)
    daemon.look("start")
    scenes.add_run(project, SECOND, by_hand=True)
    assert [(one.event, one.run) for one in daemon.look()] == [("failed", SECOND)]
    shutil.rmtree(project / "docs" / "qrspi" / SECOND)
    assert [(one.event, one.run) for one in daemon.look()] == [("gone", SECOND)]


@pytest.mark.rule("DMN-02", "DMN-08")
@pytest.mark.parametrize("act", ["commit", "add"])
def test_what_failed_goes_on_after_git_changed_unheard(
    tmp_path: Path, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemons, "IN_VAIN", 0)
    scenes.project(tmp_path, commit=False)
    scenes.git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    tick(tmp_path)
    daemon = Deaf(tmp_path)
    (failed, _) = daemon.look("start")
    assert failed.problem and failed.problem.code == "untracked-artifact"
    daemon.look()  # the first look made our own folder
    assert (daemon.sweep(), daemon.sweep()) == (0, 0)
    scenes.git(tmp_path, "add", "--all")
    if act == "commit":
        scenes.git(tmp_path, "commit", "-q", "-m", "theirs")
    assert [one.performed.handler for one in daemon.look() if one.performed][:1] == [
        "prepare-round"
    ]


@pytest.mark.rule("DMN-02", "ENG-05")
def test_what_failed_for_a_reason_nobody_sees_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few at each sweep, each in its turn, and all of them once it helps."""
    monkeypatch.setattr(daemons, "IN_VAIN", 2)
    names = [f"2026-05-18-run-{number}" for number in range(5)]
    scenes.project(tmp_path, *names)
    tick(tmp_path)
    daemon = Deaf(tmp_path)
    daemon.full = True
    daemon.look("start")
    assert [daemon.sweep() for _ in range(4)] == [2, 2, 2, 2]
    daemon.full = False
    done = [one.run for one in daemon.look() if one.performed]
    assert sorted(set(done)) == names


@pytest.mark.rule("DMN-02")
def test_roles_of_the_project_and_the_run_are_looked_at_too(project: Path) -> None:
    daemon = Deaf(project)
    daemon.look("start")
    for folder in (project, project / "docs" / "qrspi" / runs.RUN):
        scenes.save(folder / ".qrspi/agents/fixer.md", b"---\nname: fixer\n---\nMend it.\n")
        assert daemon.sweep() == 1
        tick(project)
        daemon.look()
        assert daemon.sweep() == 0


@pytest.mark.rule("DMN-02")
def test_what_changed_a_moment_ago_is_derived_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_cache, "SETTLED", 3600 * 10**9)
    daemon = Deaf(project)
    daemon.look("start")
    assert (daemon.sweep(), daemon.sweep()) == (1, 1)


@pytest.mark.rule("DMN-02", "DMN-07")
def test_where_nobody_tells_of_changes_everything_is_derived(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(state_cache.SWITCH, "off")
    daemon = Deaf(project)
    daemon.look("start")
    assert (daemon.sweep(), daemon.sweep()) == (1, 1)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The verbs of the gits that were started since the last question."""
    folder, log = tmp_path / "gits", tmp_path / "gits.log"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def verbs() -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [verb for line in lines for verb in VERBS if f" {verb} " in line]

    return verbs


VERBS = ("ls-files", "ls-tree", "rev-parse", "for-each-ref", "commit", "add", "init")
MANY = [f"2026-05-18-run-{number}" for number in range(6)]


def failing(folder: Path, *, born: bool = True) -> Deaf:
    """A daemon that has looked at runs whose goals git does not have."""
    scenes.project(folder, *MANY, commit=False)
    if born:
        scenes.git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    tick(folder)
    daemon = Deaf(folder)
    daemon.look("start")
    assert daemon.looks == len(MANY)
    return daemon


@pytest.mark.rule("DMN-02")
@pytest.mark.parametrize("born", [True, False], ids=["with a commit", "before the first"])
def test_a_start_asks_git_about_all_runs_at_once(
    tmp_path: Path, asked: Callable[[], list[str]], born: bool
) -> None:
    daemon = failing(tmp_path / "project", born=born)
    assert [verb for verb in asked() if verb.startswith("ls-")] == ["ls-tree", "ls-files"]
    scenes.git(tmp_path / "project", "add", "--all")
    asked()
    tried = [one.run for one in daemon.hear_git() if one.performed]
    assert sorted(set(tried)) == MANY
    assert [verb for verb in asked() if verb.startswith("ls-")] == ["ls-tree", "ls-files"]


@pytest.mark.rule("DMN-02", "DMN-06")
def test_what_failed_is_not_looked_at_again_where_nobody_is_to_be_called(tmp_path: Path) -> None:
    assert failing(tmp_path).reminders == {}


@pytest.mark.rule("DMN-02", "SPE-01")
def test_what_is_kept_of_git_does_not_grow_with_the_index(tmp_path: Path) -> None:
    """Runs that were deleted without a commit stay in the index; of each only two hashes count."""
    daemon = failing(tmp_path)
    kept = []
    for number in (10, 500):
        gone = tmp_path / "docs" / "qrspi" / SECOND
        gone.mkdir()
        for name in range(number):
            (gone / f"note-{name}.md").write_text("Words.\n")
        scenes.git(tmp_path, "add", "--all", str(gone))
        shutil.rmtree(gone)
        daemon.hear_git()
        assert tracked_files._listings == {}
        kept.append(len(pickle.dumps(daemon.kept_of_git)))
    assert kept[0] == kept[1]


@pytest.mark.rule("DMN-02", "DMN-08")
@pytest.mark.parametrize("heard", [True, False], ids=["heard", "found by a sweep"])
@pytest.mark.parametrize(
    ("touched", "count"),
    [
        pytest.param("elsewhere.md", 0, id="elsewhere"),
        pytest.param(f"docs/qrspi/{MANY[3]}/notes.md", 1, id="another file of a run"),
        pytest.param(f"docs/qrspi/{MANY[3]}/goals.md", 1, id="what was missing"),
    ],
)
def test_a_commit_retries_the_runs_that_it_touches(
    tmp_path: Path,
    touched: str,
    count: int,
    heard: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(daemons, "IN_VAIN", 0)
    (tmp_path / "docs" / "qrspi" / MANY[3]).mkdir(parents=True)
    (tmp_path / touched).write_text("Words.\n")
    daemon = failing(tmp_path)
    daemon.look()  # the first look made our own folder
    assert daemon.sweep() == 0
    scenes.git(tmp_path, "add", touched)
    scenes.git(tmp_path, "commit", "-q", "-m", "theirs")
    before = daemon.looks
    reports = daemon.hear_git() if heard else daemon.look()
    assert daemon.looks - before == count
    assert {one.run for one in reports} <= {MANY[3]}


@pytest.mark.rule("DMN-02", "DMN-08")
def test_any_change_of_git_retries_what_failed_for_a_reason_of_the_repository(
    tmp_path: Path,
) -> None:
    scenes.project(tmp_path, *MANY[:2])
    tick(tmp_path)
    daemon = Deaf(tmp_path)
    daemon.full = True
    daemon.look("start")
    daemon.full = False
    assert {one.run for one in daemon.hear_git() if one.performed} == {*MANY[:2]}
