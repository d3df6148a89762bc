"""`qrspi next`: everything mechanical, once, and then who must do what."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qrspi.core.records import audit_trail
from qrspi.world.machine import git_person
from qrspi.world.runs.workspace import LOCK, Workspace
from tests import quick, runs, scenes
from tests.cli.conftest import COMMAND, Call
from tests.cli.terminal import Terminal
from tests.users import plain_user, public

__all__ = ("public",)
SCHEMA = json.loads(Path(__file__).parents[2].joinpath("schemas/next.schema.json").read_text())


def snapshot(folder: Path) -> dict[str, object]:
    """Every file and folder, with what a rewrite of the same bytes would change."""
    return {
        path.relative_to(folder).as_posix(): (
            path.lstat().st_ino,
            path.lstat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.rule("OUT-05", "OUT-09")
def test_what_can_be_done_is_done_and_what_is_needed_is_said(tmp_path: Path, qrspi: Call) -> None:
    scenes.fixed(tmp_path)
    done = qrspi("--root", tmp_path, "next")
    at = f"qrspi --root {tmp_path}"
    assert (done.code, done.out) == (
        0,
        "done: commit goals round 1\n"
        "  reviews/goals/round-01-commit.txt\n"
        "done: note how goals round 1 goes on\n"
        "  reviews/goals/loop.md\n"
        "done: open goals round 2\n"
        "  reviews/goals/round-02.diff\n"
        "  reviews/goals/round-02-since.diff\n"
        "  reviews/goals/round-02/.dispatch-manifest.json\n"
        "done: write the prompts of goals round 2\n"
        "  .qrspi/dispatch/goals/round-02/quality-claude.md\n"
        "  .qrspi/dispatch/goals/round-02/scope-claude.md\n"
        "Next: Send 2 reviewers of goals round 2 (quality-claude, scope-claude); each writes "
        "into reviews/goals/round-02. "
        f"`{at} prompt {runs.RUN} "
        "quality-claude` prints what to tell the first.\n",
    )
    again = qrspi("--root", tmp_path, "next", "--json").json
    jsonschema.validate(again, SCHEMA)
    assert (again["performed"], again["next"]["compaction"]["type"]) == ([], "pre-fanout")


@pytest.mark.rule("ENG-02", "ENG-05")
@pytest.mark.parametrize("words", [["next"], ["next", "--json"], ["status"], ["next", "--dry-run"]])
def test_a_run_with_nothing_to_do_is_neither_locked_nor_written(
    tmp_path: Path, qrspi: Call, words: list[str]
) -> None:
    files = {"config.md": runs.config(), **runs.approved("goals")}
    runs.on_disk(tmp_path, files)
    qrspi("--root", tmp_path, "next")  # the author's prompt
    before = snapshot(tmp_path)
    assert qrspi("--root", tmp_path, *words).code == 0
    assert snapshot(tmp_path) == before


def test_a_closed_run_is_left_as_it_is(tmp_path: Path, qrspi: Call) -> None:
    run = scenes.project(tmp_path)
    (run / "closed.md").write_text("---\nreason: enough\n---\n")
    before = snapshot(tmp_path)
    assert qrspi("--root", tmp_path, "next").code == 0
    assert snapshot(tmp_path) == before


@pytest.mark.rule("ENG-04")
def test_what_a_killed_command_left_is_cleared_up_by_the_next(tmp_path: Path, qrspi: Call) -> None:
    run = scenes.prepared(tmp_path)
    (run / LOCK).write_text("4242 qrspi next\n")
    leftover = run / f".goals.md.qrspi-{'a' * 16}.tmp"
    leftover.write_text("half")
    assert qrspi("--root", tmp_path, "next").code == 0
    assert (leftover.exists(), (run / LOCK).read_text()) == (False, "free\n")


@pytest.mark.rule("OUT-10")
def test_a_rehearsal_names_every_file_and_changes_none(tmp_path: Path, qrspi: Call) -> None:
    scenes.reviewed(tmp_path)
    before = snapshot(tmp_path)
    rehearsed = qrspi("--root", tmp_path, "next", "--dry-run")
    assert snapshot(tmp_path) == before
    assert rehearsed.out.splitlines()[:4] == [
        "would do: collect the findings of goals round 1",
        "  reviews/goals/round-01-verified.md",
        "  reviews/goals/round-01/kept-findings.txt",
        "  reviews/goals/round-01-scope-set.txt",
    ]
    said = qrspi("--root", tmp_path, "next", "--dry-run", "--json").json
    done = qrspi("--root", tmp_path, "next", "--json").json
    assert said["performed"] == done["performed"]


@pytest.mark.rule("OUT-10")
@pytest.mark.parametrize("scene", [scenes.project, scenes.reviewed, scenes.fixed])
def test_a_rehearsal_begins_like_the_real_thing(
    tmp_path: Path, qrspi: Call, scene: scenes.Scene
) -> None:
    scene(tmp_path)
    before = snapshot(tmp_path)
    said = qrspi("--root", tmp_path, "next", "--dry-run", "--json").json["performed"]
    assert snapshot(tmp_path) == before
    done = qrspi("--root", tmp_path, "next", "--json").json["performed"]
    assert (
        said and [one["handler"] for one in said] == [one["handler"] for one in done][: len(said)]
    )


@pytest.mark.rule("OUT-10")
def test_what_is_committed_is_rehearsed_without_the_commit(tmp_path: Path, qrspi: Call) -> None:
    scenes.fixed(tmp_path / "fixed")
    assert rehearsed(qrspi, tmp_path / "fixed") == [
        "would do: commit goals round 1",
        "  reviews/goals/round-01-commit.txt",
    ]
    run = quick.reviewed(tmp_path / "quick", git=True)
    assert rehearsed(qrspi, tmp_path / "quick")[4:] == [
        "would do: approve questions, which is clean",
        "  cascade-audit.log",
        "  cascade-clean-questions-quality-claude.md",
        "  questions.md",
        "  approvals.jsonl",
    ]
    assert quick.status(run, "questions") == "draft"


def rehearsed(qrspi: Call, root: Path) -> list[str]:
    return qrspi("--root", root, "next", "--dry-run").out.splitlines()[:-1]


@pytest.mark.parametrize(
    ("scene", "code"), [(scenes.prepared, 10), (scenes.clean, 11), (scenes.complete, 0)]
)
def test_who_is_needed_as_an_exit_status(
    tmp_path: Path, qrspi: Call, scene: scenes.Scene, code: int
) -> None:
    scene(tmp_path)
    assert qrspi("--root", tmp_path, "next").code == 0
    assert qrspi("--root", tmp_path, "next", "--exit-code").code == code


@pytest.mark.rule("RND-05", "RND-06")
@pytest.mark.parametrize(
    ("number", "mode", "then"),
    [("1", "present", "Next: Reviews found issues"), ("2", "loop", "Next: Send 2 reviewers")],
)
def test_at_a_terminal_the_loop_question_is_asked(
    tmp_path: Path, number: str, mode: str, then: str
) -> None:
    run = scenes.fixed(tmp_path)
    with Terminal("--root", tmp_path, "next", columns=200) as terminal:
        terminal.until("Number: ")
        assert terminal.screen.endswith(
            f"{run.name}, goals round 1 (1 kept, 0 dropped): Reviews found issues in round 1 which "
            "were fixed but not re-verified\n"
            "  1) Present for review\n"
            "  2) Loop until clean (recommended)\n"
            "Number: "
        )
        terminal.type(f"{number}\n")
        terminal.until(then)
        assert terminal.end() == 0
    chosen = (run / "reviews/goals/loop.md").read_text()
    assert chosen == f"---\nmode: {mode}\nchosen: answered by a person\n---\n"
    trail = [json.loads(line) for line in (run / audit_trail.FILE).read_text().splitlines()]
    told = [(one["event"], one.get("who", "").partition(" <")[0]) for one in trail]
    assert ("choose-loop", git_person.at(str(run)).partition(" <")[0]) in told


@pytest.mark.rule("LIV-01", "RND-05")
def test_whoever_set_the_mode_is_not_called_nobody(tmp_path: Path, process: Call) -> None:
    run = scenes.fixed(tmp_path)
    config = (run / "config.md").read_text()
    (run / "config.md").write_text(config.replace("---\n", "---\nreview_mode: loop\n", 1))
    said = process("--root", tmp_path, "next")
    assert "reviews go on until a round is clean (review_mode in config.md is loop)\n" in said.err
    assert "nobody was asked" not in said.err + (run / "reviews/goals/loop.md").read_text()


@pytest.mark.rule("RND-05")
@pytest.mark.parametrize(
    ("words", "mode", "chosen"),
    [
        ([], "loop", "recommended default, nobody was asked"),
        (["--present"], "present", "chosen with --present"),
    ],
)
def test_without_a_terminal_the_choice_and_who_made_it_are_recorded(
    tmp_path: Path, process: Call, words: list[str], mode: str, chosen: str
) -> None:
    run = scenes.fixed(tmp_path)
    assert process("--root", tmp_path, "next", *words).code == 0
    text = (run / "reviews/goals/loop.md").read_text()
    assert text == f"---\nmode: {mode}\nchosen: {chosen}\n---\n"


@pytest.mark.rule("RND-06")
def test_a_clean_first_round_asks_nothing(tmp_path: Path, process: Call) -> None:
    run = scenes.clean(tmp_path)
    done = process("--root", tmp_path, "next", "--json").json
    assert (done["next"]["action"], (run / "reviews/goals/loop.md").exists()) == ("approve", False)


@pytest.mark.rule("ENG-02")
def test_a_held_run_is_waited_for_and_its_holder_named(tmp_path: Path, process: Call) -> None:
    run = scenes.reviewed(tmp_path)
    with Workspace(run).locked(command="qrspi approve"):
        busy = process("--root", tmp_path, "next", "--lock-timeout", "0.1")
    assert busy == (
        5,
        "",
        f"run {runs.RUN} is held by process {os.getpid()} (qrspi approve), waited 0.1 s: "
        "try again when it is done\n  run the same command again\n",
    )


@pytest.mark.rule("ENG-07")
def test_what_is_derived_can_be_deleted(tmp_path: Path, qrspi: Call) -> None:
    """All that the engine keeps for itself but the trail, which is a record."""
    run = scenes.assembled(tmp_path)
    before = qrspi("--root", tmp_path, "status", "--json").json
    trail = run / ".qrspi" / "audit.jsonl"
    kept = trail.read_bytes()
    subprocess.run(["rm", "-rf", run / ".qrspi"], check=True)
    scenes.save(trail, kept)
    qrspi("--root", tmp_path, "next")
    assert qrspi("--root", tmp_path, "status", "--json").json == before


@pytest.mark.rule("ENG-03", "SEC-18")
def test_neither_touch_nor_a_clone_nor_the_clock_changes_the_answer(
    tmp_path: Path, qrspi: Call
) -> None:
    """The trail stays behind, so that it is the engine's commits by which a clone knows whose a
    round is."""
    run = scenes.clean(tmp_path / "one")
    scenes.advance(run)
    for decision in ("approve", "unapprove"):
        assert qrspi("--root", tmp_path / "one", decision, "goals").code == 0
    before = _seen(qrspi, tmp_path / "one")
    assert before["steps"][0]["stage"] == "closed"
    for number, file in enumerate(sorted(run.rglob("*"), reverse=True)):
        os.utime(file, (number, number), follow_symlinks=False)
    assert _seen(qrspi, tmp_path / "one") == before
    scenes.commit_all(tmp_path / "one")
    scenes.git(tmp_path, "clone", "-q", str(tmp_path / "one"), "two")
    assert _seen(qrspi, tmp_path / "two") == before


def _seen(qrspi: Call, root: Path) -> Any:
    """Commands that are printed name the project they are about."""
    found = qrspi("--root", root, "status", "--json").out
    return json.loads(found.replace(str(root), "ROOT"))["runs"][0]


@pytest.mark.rule("ENG-05")
def test_reading_commands_work_on_a_tree_that_may_only_be_read(public: Path) -> None:
    run = scenes.assembled(public / "project")
    with plain_user(public / "project", read_only=True) as user:
        for words in (["status"], ["next"], ["next", "--dry-run"], ["status", "--json"]):
            done = user.run(COMMAND, "--root", public / "project", *words)
            assert (done.returncode, done.stderr) == (0, ""), words
        scenes.save(run / scenes.DISPOSITIONS, b"---\nround: 1\n---\nApplied.\n")
        refused = user.run(COMMAND, "--root", public / "project", "next")
        assert (refused.returncode, refused.stderr) == (
            4,
            "cannot write .qrspi/lock: Permission denied\n",
        )
