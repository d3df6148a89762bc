"""A clone that is made after any command of a whole run goes on from the same place."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrspi.cli.in_process import Commands
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.model import RunState
from qrspi.demo import performance, story
from qrspi.world.git import scratch_repository
from qrspi.world.runs.committed_tree import CommittedTree
from tests import scenes
from tests.forked_command import qrspi
from tests.project import Project
from tests.scenes import Scene

# What belongs to a round is committed with it: a commit in between would widen the next diff.
OPEN = r"reviews/(?:{step}|integration)/round-{round:02d}(?:[/.-].*)?|reviews/{step}-loop-pause-.*"
OF_TASKS = r"reviews/tasks/[^/]+/round-\d\d(?:\.diff|-since\.diff|-commit\.txt|/.*)|"
DECIDES = re.compile(r"qrspi decide ")  # on record at once, the open round with it
BESIDE = r"approvals\.jsonl|reviews/(?:{step}|integration)/(?:loop\.md|round-\d\d-commit\.txt)"


def moments(name: str) -> Iterator[tuple[str, Path]]:
    """Each command of a demonstration, and the run as it is when the command is over."""
    with scratch_repository.repository(story.project(), keep=False) as folder:
        for beat in performance.play(story.load(name), folder):
            found = list(Path(folder).glob("docs/qrspi/*/config.md"))
            if beat.who == "command" and found:
                yield beat.says, found[0].parent


def uncommitted(project: Project) -> list[str]:
    said = project.git("status", "--porcelain", "-uall", "--", "docs/qrspi").splitlines()
    return [re.sub(r"^.{2,3}docs/qrspi/[^/]+/", "", line.strip()) for line in said]


def left_out(state: RunState, files: list[str]) -> list[str]:
    """Of what git does not have, everything that is no part of the round under way."""
    about = {"step": state.next.step, "round": state.next.round}
    known = re.compile(f"{OF_TASKS}{OPEN}|{BESIDE}".format(**about) if state.next.round else "-")
    return [name for name in files if not known.fullmatch(name)]


def stands(state: RunState) -> tuple[object, ...]:
    return (state.errors, state.current_step, [(one.step, one.status) for one in state.steps])


READ = ("task list", "show", "report", "verify", "brief", "stats", "spend", "doctor")


def told(run: Path) -> dict[str, list[str]]:
    """What the commands that only read say, but for what is kept out of git: how an answer came
    in, and work trees."""
    with contextlib.chdir(run):
        commands = Commands(Session(), "cli")
        answers = {command: commands.run(*command.split(), run.name) for command in READ}
    return {
        command: [
            both
            for line in (*answer.lines, *answer.notes)
            if (both := re.sub(OF_HERE, "", line)) or not line
        ]
        for command, answer in answers.items()
    }


def allow(clone: Path) -> None:
    """A clone is another project to its user's consent."""
    with contextlib.chdir(clone):
        Commands(Session(), "cli").run("trust", clone.name)


def lost(clone: Path) -> list[str]:
    """What is said to be gone once something was done in a clone."""
    with contextlib.chdir(clone):
        asked = Commands(Session(), "cli").run("next", clone.name).document
    return [one["message"] for one in asked.get("warnings", ()) if one["code"] == "vanished"]


OF_HERE = (
    r"\bOf \d+ answers: .*|; answers: .*|.* is left of .*| Its work trees are in .*"
    r"|- run `qrspi task clean .*"
)


@pytest.mark.rule("LIV-11", "SEC-18")
@pytest.mark.parametrize("name", ["quick", pytest.param("full", marks=pytest.mark.slow)])
def test_a_clone_tells_what_the_original_tells(name: str, tmp_path: Path) -> None:
    for number, (command, run) in enumerate(moments(name)):
        project = Project(run.parents[2])
        if uncommitted(project):
            continue
        clone = tmp_path / str(number)
        project.git("clone", "-q", "--no-local", str(project.root), str(clone))
        place = clone / run.relative_to(project.root)
        allow(place)
        there = told(place)
        assert lost(place) == [], command
        shutil.rmtree(clone)
        assert there == told(run), command


@pytest.mark.rule("LIV-11", "CMT-06")
@pytest.mark.parametrize("name", ["quick", pytest.param("full", marks=pytest.mark.slow)])
def test_after_every_command_a_clone_lacks_the_open_round_at_most(
    name: str, tmp_path: Path
) -> None:
    for number, (command, run) in enumerate(moments(name)):
        project = Project(run.parents[2])
        here, clone = derive(CommittedTree(str(run))), tmp_path / str(number)
        assert left_out(here, uncommitted(project)) == [], command
        if DECIDES.match(command) or here.next.kind == "approve":
            assert uncommitted(project) == [], command
        project.git("clone", "-q", "--no-local", str(project.root), str(clone))
        there = derive(CommittedTree(str(clone / run.relative_to(project.root))))
        shutil.rmtree(clone)
        assert stands(there) == stands(here), command
        if not uncommitted(project):
            assert there.next == here.next, command
        elif there.next.action != "commit-round":
            same = (here.next.step, here.next.round, "prepare-round")
            assert (there.next.step, there.next.round, there.next.action) == same, command


@pytest.mark.rule("LIV-11", "CMT-06")
@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (scenes.paused, "decide --all apply"),
        (scenes.paused, "decide --all skip"),
        (scenes.prepared, "resolve skip"),
        (scenes.reviewed_badly, "resolve retry"),
    ],
)
def test_a_clone_made_after_a_decision_lacks_nothing(
    tmp_path: Path, scene: Scene, words: str
) -> None:
    run = scene(tmp_path / "shop")
    scenes.advance(run)
    project, clone = Project(run.parents[2]), tmp_path / "clone"
    before = len(project.subjects())
    subprocess.run([qrspi(), *words.split()], cwd=run, check=True, capture_output=True)
    assert (project.status(), len(project.subjects())) == ([], before + 1)
    project.git("clone", "-q", "--no-local", str(project.root), str(clone))
    there = derive(CommittedTree(str(clone / run.relative_to(project.root))))
    assert there.next == derive(CommittedTree(str(run))).next


@pytest.mark.rule("LIV-11")
def test_a_run_is_set_aside_and_taken_up_again_in_git(tmp_path: Path) -> None:
    run = scenes.project(tmp_path / "shop")
    project = Project(run.parents[2])
    for words in (["close", "--reason", "Nobody wants it."], ["reopen"]):
        subprocess.run([qrspi(), *words], cwd=run, check=True, capture_output=True)
        subject = f"docs(qrspi): {words[0]} the run user-auth"
        assert (project.status(), project.subjects()[0]) == ([], subject)
