"""Many at once: one effect, and no edit of a person lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from qrspi import engine
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace
from tests import runs, scenes
from tests.daemons import COMMAND, Daemon
from tests.faults import world
from tests.patience import LIMIT, until

EDITOR = """
import os, sys
artifact, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    text = f"---\\nstatus: draft\\n---\\n\\n# Goals\\n\\n## Approach\\n\\nVersion {number}.\\n"
    with open(artifact + ".new", "w") as file:
        file.write(text)
    os.replace(artifact + ".new", artifact)
    print(number, flush=True)
"""


@pytest.mark.rule("ENG-06", "ENG-02")
@pytest.mark.parametrize(("scene", "many"), [(scenes.project, 50), (scenes.fixed, 16)])
def test_many_at_once_have_one_effect(tmp_path: Path, scene: scenes.Scene, many: int) -> None:
    run = scene(tmp_path / "project")
    alone = world.World(tmp_path / "alone", scene)
    expected = alone.after()
    argv = [COMMAND, "--root", tmp_path / "project", "next", "--json", "--lock-timeout", "300"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    at_once = [subprocess.Popen(argv, text=True, **pipes) for _ in range(many)]
    answers = [process.communicate(timeout=600) for process in at_once]
    assert [process.returncode for process in at_once] == [0] * many
    assert {err for _, err in answers} <= {
        "",
        "reviews go on until a round is clean (recommended default, nobody was asked)\n",
    }
    documents = [json.loads(out) for out, _ in answers]
    done = [one["handler"] for document in documents for one in document["performed"]]
    assert len(done) == len(set(done)), done
    assert len({json.dumps(document["next"]) for document in documents}) == 1
    assert sorted(world.files(run)) == sorted(expected.files)
    assert len(world.tips(tmp_path / "project")) == len(expected.commits)
    world.nothing_twice(run, tmp_path / "project")
    assert world.leftovers(run) == []


@pytest.mark.rule("ENG-06", "DMN-03")
def test_daemon_commands_and_an_editor_lose_no_edit(tmp_path: Path) -> None:
    """The editor saves the artifact as fast as it can, while a daemon and commands read it,
    set its fields and commit it."""
    run = scenes.project(tmp_path)
    artifact = run / "goals.md"
    count = 300
    with Daemon(tmp_path, "--sweep", "0.5") as daemon:
        argv = [sys.executable, "-c", EDITOR, str(artifact), str(count)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as editor:
            assert editor.stdout
            for line in editor.stdout:
                if int(line) % 100 == 50:
                    subprocess.run(
                        [COMMAND, "--root", tmp_path, "next"], capture_output=True, timeout=LIMIT
                    )
                    review_whatever_is_open(run)
        review_whatever_is_open(run)
        assert daemon.stop() == 0
    assert f"Version {count - 1}.\n" in artifact.read_text()
    assert [line["message"] for line in daemon.log if line.get("code") == "bug"] == []
    assert (daemon.errors, world.leftovers(run)) == ("", [])
    world.nothing_twice(run, tmp_path)


def review_whatever_is_open(run: Path) -> None:
    for folder in sorted((run / "reviews/goals").glob("round-??")):
        number = int(folder.name[-2:])
        for tag in scenes.TAGS:
            scenes.save(folder / f"{tag}.clean.md", runs.clean(tag, number))


@pytest.mark.slow
@pytest.mark.rule("DMN-02", "DMN-07")
def test_a_daemon_that_was_stopped_meanwhile_comes_to_the_right_state(tmp_path: Path) -> None:
    """20,000 new files are more than the kernel remembers for it."""
    run = scenes.prepared(tmp_path)
    notes = run / "notes"
    notes.mkdir()  # before: nobody is told what happens in a folder that is not watched yet
    with Daemon(tmp_path, "--sweep", "600") as daemon:
        daemon.pause()
        for number in range(20_000):
            (notes / f"{number}.md").touch()
        scenes.review(run)
        daemon.go_on()
        daemon.heard("performed", handler="assemble")
        daemon.heard("looked")
        scenes.save(run / scenes.ROUND / scenes.SCORE, runs.score(90))
        daemon.heard("performed", handler="assemble")
        assert daemon.stop() == 0
    assert daemon.errors == ""


@pytest.mark.rule("ENG-04", "DMN-02")
def test_a_daemon_that_was_killed_is_followed_by_one_that_goes_on(tmp_path: Path) -> None:
    run = scenes.fixed(tmp_path)
    anchor = run / scenes.ANCHOR
    with Daemon(tmp_path, ready=False) as first:
        until(lambda: (run / ".qrspi").exists() and first.process.poll() is None)
        first.process.kill()
    with Daemon(tmp_path) as second:
        until(anchor.exists)
        assert second.stop() == 0
    world.nothing_twice(run, tmp_path)
    assert world.leftovers(tmp_path / "docs") == []


@pytest.mark.rule("ENG-03")
def test_a_clock_that_was_set_back_changes_nothing(tmp_path: Path) -> None:
    run = scenes.reviewed(tmp_path)
    for file in run.rglob("*"):
        os.utime(file, (10**9, 10**9))
    with Daemon(tmp_path) as daemon:
        assert any(line.get("handler") == "assemble" for line in daemon.log)
        for file in run.rglob("*"):
            os.utime(file, (0, 0))
        fixed = run / "goals.md"
        scenes.fix(run)
        os.utime(fixed, (1, 1))
        daemon.heard("performed", handler="prepare-round", round=2)
        assert daemon.stop() == 0


class Overtaken(Workspace):
    """Somebody writes after the look and before the lock."""

    @contextmanager
    def locked(self, timeout: float = 10.0, command: str = "qrspi") -> Iterator[Self]:
        scenes.save(Path(self.path) / scenes.ROUND / scenes.SCORE, runs.score(30))
        with super().locked(timeout, command) as held:
            yield held


@pytest.mark.rule("ENG-02")
def test_nothing_is_done_by_a_look_that_was_overtaken_before_the_lock(tmp_path: Path) -> None:
    run = scenes.assembled(tmp_path)
    scenes.save(run / scenes.ROUND / scenes.SCORE, runs.score(95))
    done = engine.advance(Overtaken(run), Options()).performed
    assert b"score: 30" in (run / scenes.VERIFIED).read_bytes()
    assert [one.handler for one in done].count("assemble") == 1
