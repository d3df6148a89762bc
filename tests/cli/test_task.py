"""`qrspi task` and `qrspi replan` as people and programs call them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Call
from tests.deliveries import TAGS, finished, full, quick, task
from tests.handlers.tasks.test_delivery import TESTERS
from tests.handlers.workshop import Workshop

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
RUN = "2026-05-17-user-auth"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    shop = Workshop(tmp_path.resolve() / "project", full())
    monkeypatch.chdir(shop.root)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    return shop


def checked(document: Any, name: str) -> Any:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


@pytest.mark.rule("OUT-02", "OUT-10", "IMP-04")
def test_tasks_are_listed_and_started(shop: Workshop, qrspi: Call) -> None:
    assert qrspi("task", "list").out == (
        f"{RUN}, phase 1\n\n"
        "WAVE  TASK     STATE    ROUND  COMMIT  BASE                TITLE\n"
        "1     task-01  ready    -      -       feature branch tip  Part 1\n"
        "1     task-02  ready    -      -       feature branch tip  Part 2\n"
        "2     task-03  waiting  -      -       stage-after-W1      Part 3\n"
    )
    before = shop.git("for-each-ref")
    would = checked(qrspi("task", "start", "--dry-run", "--json").json, "task-start")
    assert [(one["task"], one["how"]) for one in would["tasks"]] == [
        ("task-01", "made"),
        ("task-02", "made"),
    ]
    assert shop.git("for-each-ref") == before
    started = qrspi("task", "start", "1")
    assert (started.code, started.out.splitlines()[0]) == (
        0,
        "task-01: made: .worktrees/user-auth/task-01 on qrspi/user-auth/task-01, from feature "
        "branch tip",
    )
    again = checked(qrspi("task", RUN, "start", "task-01", "--json").json, "task-start")
    assert [one["how"] for one in again["tasks"]] == ["reused"]
    listed = checked(qrspi("task", "list", "--json").json, "task-list")
    assert listed["waves"] == [["task-01", "task-02"], ["task-03"]]
    assert [one["state"] for one in listed["tasks"]] == ["implementing", "ready", "waiting"]
    assert listed["tasks"][0]["next"]["command"] == f"qrspi next {RUN}"


def test_the_command_an_implementer_is_given_reaches_the_run_from_its_work_tree(
    shop: Workshop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work tree holds a copy of the run, of which nobody would ever hear again."""
    qrspi("next")
    commit = shop.work("task-01", "a.py", "a = 1\n")
    folder = shop.root / "docs/qrspi" / RUN / ".qrspi/dispatch/task-01"
    [prompt] = folder.glob("cycle-*/implementer-*.md")
    [line] = [one for one in prompt.read_text().splitlines() if one.startswith("report_command: ")]
    words = shlex.split(line.removeprefix("report_command: qrspi ").replace("SHA", commit))
    monkeypatch.chdir(shop.root / ".worktrees/user-auth/task-01")
    assert Path("docs/qrspi", RUN, "config.md").exists()
    assert (qrspi(*words).code, shop.has("reviews/tasks/task-01/report.md")) == (0, True)


@pytest.mark.rule("LIV-13")
def test_every_command_works_in_a_tasks_work_tree(
    shop: Workshop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrspi("next")
    shop.work("task-01", "a.py", "a = 1\n")
    here = [qrspi(*words).out for words in (("status",), ("task", "list"), ("prompt", "task-01"))]
    monkeypatch.chdir(shop.tree("task-01"))
    there = [qrspi(*words).out for words in (("status",), ("task", "list"), ("prompt", "task-01"))]
    assert there == here
    assert qrspi("task", "report", RUN, "task-01", "--status", "DONE", "--commit", "HEAD").code == 0
    assert shop.has("reviews/tasks/task-01/report.md")
    assert qrspi("next").out.startswith("done: open task-01 round 1\n")
    monkeypatch.chdir(shop.tree("task-01") / "docs/qrspi" / RUN)
    assert qrspi("show", "task-01").code == 0
    assert shop.git("status", "--porcelain", at=shop.tree("task-01")) == ""


@pytest.mark.rule("IMP-11", "OUT-02", "OUT-10")
def test_a_report_and_a_persons_word(shop: Workshop, qrspi: Call, tmp_path: Path) -> None:
    qrspi("next")
    commit = shop.work("task-01", "a.py", "a = 1\n")
    words = ("task", "report", "task-01", "--status", "done", "--commit", commit[:10])
    assert qrspi(*words, "--dry-run").out.splitlines()[:2] == [
        "Would record: task-01 is DONE",
        "  write   reviews/tasks/task-01-review.md  the report, word for word",
    ]
    assert not shop.has("reviews/tasks/task-01/report.md")
    (tmp_path / "words.txt").write_text("All *done*.\n")
    document = qrspi(*words, "-F", tmp_path / "words.txt", "--json").json
    assert checked(document, "task-report")["next"]["action"] == "prepare-round"
    assert shop.read("reviews/tasks/task-01/report.md").endswith("---\n\nAll *done*.\n")
    accepted = qrspi("task", "accept", RUN, "01", "--reason", "fine", "--as", "Grace", "--json")
    assert checked(accepted.json, "task-accept")["status"] == "accepted-with-issues"
    skipped = qrspi("task", "skip", "02", "--reason", "later", "--json")
    assert checked(skipped.json, "task-skip")["task"] == "task-02"
    listed = checked(qrspi("task", "list", "--json").json, "task-list")
    assert [(one["outcome"], one["reason"]) for one in listed["tasks"][:2]] == [
        ("accepted-with-issues", "fine"),
        ("skipped-by-user", "later"),
    ]
    assert listed["tasks"][2]["state"] == "stuck"


@pytest.mark.rule("IMP-05", "OUT-02", "OUT-10")
def test_the_baseline(shop: Workshop, qrspi: Call) -> None:
    would = checked(qrspi("task", "baseline", "--dry-run", "--json").json, "task-baseline")
    assert (would["passed"], would["command"], shop.has("reviews")) == (None, "sh test.sh", False)
    taken = checked(qrspi("task", "baseline", "--json").json, "task-baseline")
    assert (taken["passed"], taken["files"]) == (
        True,
        ["reviews/baseline.md", "reviews/baseline.log"],
    )
    assert (would["state"], taken["state"]) == (None, "passed")


USAGE = [
    (
        ("task", "start", "01", "x"),
        2,
        "'x' is not a task; expected task-NN, NN or the name of a repair",
    ),
    (("task", "start", "no-such-run", "01"), 2, "no run 'no-such-run'"),
    (
        ("task", "accept", "--reason", "x"),
        2,
        "expected one task: qrspi task accept [RUN] TASK --reason TEXT",
    ),
    (("task", "report", "01", "--status", "FINE"), 2, "Invalid value for '--status'"),
    (
        ("task", "report", "01", "--status", "BLOCKED"),
        3,
        "task-01 is not started, so there is nothing to report",
    ),
    (("replan", "minor"), 3, "no phase is finished: replan-pending.md is not there"),
    (("replan", "major", "--to", "test", "--yes"), 2, "'test' is not a step to go back to"),
]


@pytest.mark.rule("OUT-03", "PPL-04")
@pytest.mark.parametrize(("words", "code", "message"), USAGE)
def test_what_cannot_be_is_said_in_one_line(
    shop: Workshop, qrspi: Call, words: tuple[str, ...], code: int, message: str
) -> None:
    done = qrspi(*words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(message)
    assert qrspi(*words, "--json").json["schema"] == "qrspi/error/v1"


@pytest.mark.rule("RP-03", "RP-04", "OUT-02", "OUT-10")
def test_a_replan(tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Workshop(tmp_path.resolve() / "project", finished())
    monkeypatch.chdir(shop.root)
    would = checked(qrspi("replan", "minor", "--dry-run", "--json").json, "replan-minor")
    assert [one["file"] for one in would["changes"]] == [
        "tasks/task-04.md",
        "plan.md",
        "approvals.jsonl",
    ]
    refused = qrspi("replan", "major", "--to", "design")
    assert (refused.code, refused.err.splitlines()[1]) == (
        3,
        f"  qrspi replan major {RUN} --to design --yes",
    )
    major = qrspi("replan", RUN, "major", "--to", "design", "--dry-run", "--json")
    assert checked(major.json, "replan-major")["changes"][1] == {
        "change": "replace",
        "file": "design.md",
        "what": "status: draft",
    }
    chosen = qrspi("replan", "minor")
    assert (chosen.code, chosen.out.splitlines()[0]) == (0, "Chosen: minor replan")


@pytest.mark.rule("LIV-14")
def test_reviewers_of_all_tasks_that_are_ready_are_offered_together(
    shop: Workshop, qrspi: Call
) -> None:
    qrspi("next")
    for key, path in (("task-01", "a.py"), ("task-02", "b.py")):
        shop.work(key, path, "x = 1\n")
        shop.report(key)
    said = checked(qrspi("next", "--json").json, "next")["next"]
    assert said["summary"].endswith(
        " At the same time: 1 reviewer of task-02 round 1 (task-02/spec-claude)."
    )
    folders = [f".qrspi/dispatch/task-0{number}/round-01" for number in (1, 2)]
    assert said["prompts"] == [f"{folder}/spec-claude.md" for folder in folders]
    assert all(shop.has(prompt) for prompt in said["prompts"])
    assert [one["file"] for one in said["missing"]] == [
        f"reviews/tasks/task-0{number}/round-01/spec-claude.finding-F01.md" for number in (1, 2)
    ]
    assert f"`qrspi prompt {RUN} task-01/spec-claude` prints" in said["summary"]
    listed = [one["name"] for one in qrspi("prompt", "--json").json["waiting"]]
    assert listed == ["task-01/spec-claude", "task-02/spec-claude"]
    for name, folder in zip(listed, folders, strict=True):
        printed = qrspi("prompt", RUN, name).out
        assert printed.encode() == shop.data(f"{folder}/spec-claude.md")
    unclear = qrspi("prompt", RUN, "spec-claude", "--json")
    assert (unclear.code, unclear.json["expected"]) == (3, ", ".join(listed))
    shop.review("task-02", 1, ("spec-claude",))
    tags = ("code-quality-claude", "silent-failure-claude", "security-claude")
    assert qrspi("next", "--json").json["next"]["prompts"] == [
        f"{folders[0]}/spec-claude.md",
        *(f"{folders[1]}/{tag}.md" for tag in tags),
    ]


@pytest.mark.rule("LIV-03", "LIV-14")
def test_a_task_that_is_still_worked_on_is_awaited_beside_the_review_of_another(
    shop: Workshop, qrspi: Call
) -> None:
    qrspi("next")
    shop.deliver("task-01", "a.py", "x = 1\n")
    said = checked(qrspi("next", "--json").json, "next")["next"]
    assert said["waits_for"] == ["task-01/spec-claude", "task-02"]
    assert [one["file"] for one in said["missing"]] == [
        "reviews/tasks/task-01/round-01/spec-claude.finding-F01.md",
        "reviews/tasks/task-02/report.md",
    ]
    place = ".worktrees/user-auth/task-02"
    assert said["summary"].endswith(
        f" At the same time: an implementer of task-02 in {place}, unless one is at work there."
    )
    assert all(shop.has(prompt) for prompt in said["prompts"])
    assert qrspi("prompt", RUN, "task-02").out.encode() == shop.data(said["prompts"][1])
    for listing in (("prompt",), ("dispatch", "list")):
        waiting = qrspi(*listing, RUN, "--json").json["waiting"]
        assert [one["name"] for one in waiting] == said["waits_for"]
    shop.review("task-01", 1, TAGS, wrong="It does not add up.")
    qrspi("next")
    said = checked(qrspi("next", "--json").json, "next")["next"]
    assert (said["kind"], said["waits_for"]) == ("implement", ["task-01", "task-02"])


# cleaning up


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    shop = Workshop.brought(tmp_path.resolve() / "project", complete)
    monkeypatch.chdir(shop.root)
    return shop


def complete(root: Path) -> Workshop:
    """A quick run with two tasks, merged."""
    tasks = {"tasks/task-01.md": task(1), "tasks/task-02.md": task(2, needs="task-01")}
    shop = Workshop(root, quick(tasks))
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.take("task-02", "b.py", "b = 1\n")
    shop.next()
    shop.approve("implement")
    shop.next()
    shop.review("test", 1, TESTERS)
    shop.next()
    shop.approve("test")
    return shop


def tips(shop: Workshop) -> list[str]:
    return [shop.git("rev-parse", f"qrspi/user-auth/task-0{number}") for number in (1, 2)]


@pytest.mark.rule("LIV-15", "SPE-03")
def test_git_is_asked_once_which_work_trees_there_are_and_once_what_is_in_each(
    done: Workshop, qrspi: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    log, real = folder / "asked", shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    assert qrspi("task", "clean").code == 0
    asked = log.read_text()
    assert (asked.count(" worktree list "), asked.count(" status ")) == (1, 2)
    assert asked.count(" worktree remove ") == 2


@pytest.mark.rule("LIV-15")
def test_work_trees_and_branches_of_a_complete_run_are_removed(done: Workshop, qrspi: Call) -> None:
    offer = (
        "Its work trees are in .worktrees/user-auth: `qrspi task clean 2026-05-17-user-auth` "
        "removes those that are merged, and their branches."
    )
    assert "qrspi task clean 2026-05-17-user-auth" in qrspi("brief").out
    for words in (("status",), ("next",), ("next", "--dry-run"), ("explain",)):
        said = qrspi(*words, "--json").json
        following = said["runs"][0]["next"] if "runs" in said else said["next"]
        assert following["summary"].endswith(offer)
        assert following["command"] == f"qrspi task clean {RUN}"
    first, second = tips(done)
    would = checked(qrspi("task", "clean", "--dry-run", "--json").json, "task-clean")
    assert [one["branch"] for one in would["removed"]] == [
        "qrspi/user-auth/task-01",
        "qrspi/user-auth/task-02",
    ]
    assert done.tree("task-01").exists()
    assert qrspi("task", "clean").out == (
        "removed: .worktrees/user-auth/task-01 on qrspi/user-auth/task-01, "
        f"at {first[:12]}\n"
        "removed: .worktrees/user-auth/task-02 on qrspi/user-auth/task-02, "
        f"at {second[:12]}\n"
    )
    assert done.branches() == ["main"]
    assert not (done.root / ".worktrees").exists()
    assert "task clean" not in qrspi("status").out
    assert qrspi("task", "clean").out == "No work tree or branch of a task is left.\n"


@pytest.mark.rule("LIV-15")
def test_what_python_left_holds_nothing_up(done: Workshop, qrspi: Call) -> None:
    cache = done.tree("task-01") / "__pycache__"
    cache.mkdir()
    (cache / "a.cpython-311.pyc").write_bytes(b"bytes")
    first = qrspi("task", "clean").out.splitlines()[0]
    assert "task-01 on qrspi/user-auth/task-01 with 1 file of __pycache__" in first
    assert not done.tree("task-01").exists()


@pytest.mark.rule("LIV-15")
def test_another_file_in_such_a_folder_does(done: Workshop, qrspi: Call) -> None:
    cache = done.tree("task-01") / "__pycache__"
    cache.mkdir()
    (cache / "notes.txt").write_bytes(b"mine")
    assert "not committed: __pycache__/notes.txt" in qrspi("task", "clean").out
    assert cache.exists()


@pytest.mark.rule("LIV-15", "LIV-13")
def test_what_would_be_lost_stays(
    done: Workshop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    done.git("branch", "qrspi/user-auth/task-02-mine")
    (done.tree("task-01") / "mine.txt").write_text("mine\n")
    monkeypatch.chdir(done.tree("task-02"))
    assert qrspi("task", "clean").out == (
        "kept: .worktrees/user-auth/task-01 on qrspi/user-auth/task-01: it has changes that are "
        "not committed: mine.txt\n"
        "kept: .worktrees/user-auth/task-02 on qrspi/user-auth/task-02: you stand in it\n"
    )
    done.work("task-01", "mine.txt", "mine\n")
    assert qrspi("task", "clean").out.splitlines()[0].endswith("it is not merged into main")
    monkeypatch.chdir(done.root)
    kept = checked(qrspi("task", "clean", "--json").json, "task-clean")["kept"]
    assert [(one["worktree"], one["because"]) for one in kept] == [
        (".worktrees/user-auth/task-01", "it is not merged into main"),
    ]
    assert done.branches() == ["main", "qrspi/user-auth/task-01", "qrspi/user-auth/task-02-mine"]


@pytest.mark.rule("LIV-15")
def test_nothing_is_removed_while_the_run_goes_on(shop: Workshop, qrspi: Call) -> None:
    qrspi("next")
    result = qrspi("task", "clean")
    assert (result.code, result.out) == (3, "")
    assert result.err.splitlines()[0] == (
        f"{RUN} is not complete, and its work trees are still needed: `qrspi status {RUN}` says "
        "for what"
    )
    qrspi("close", RUN, "--reason", "not now")
    shop.work("task-01", "a.py", "a = 1\n")
    lines = qrspi("task", "clean", RUN).out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["kept", "removed"]


@pytest.mark.rule("IMP-11", "OUT-02")
def test_tests_are_reported_apart_from_the_code(
    tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Workshop(tmp_path.resolve() / "project", quick(test_writer="on"))
    monkeypatch.chdir(shop.root)
    assert qrspi("next").code == 0
    shop.work("task-01", "test.sh", "echo FAILED new; exit 1\n")
    words = ("task", "report", "task-01", "--tests", "--status", "DONE", "--commit", "HEAD")
    told = qrspi(*words)
    assert told.code == 0
    assert told.out.splitlines()[:2] == [
        "Recorded: the tests of task-01 are DONE",
        "  reviews/tasks/task-01/tests.md",
    ]
    refused = qrspi(*words, "--json")
    assert (refused.code, refused.json["code"]) == (3, "not-awaited")
    first = checked(qrspi("task", "list", "--json").json, "task-list")["tasks"][0]
    assert (first["state"], first["first_tests"]) == ("implementing", "failed")
    shop.take("task-01", "a.py", "a = 1\n")
    said = "task-01: the tests before its code failed then, as they should"
    assert said in qrspi("task", "list").out.splitlines()


@pytest.mark.rule("IMP-11", "OUT-02", "OUT-10")
def test_the_agent_of_a_blocked_task_is_sent_again(shop: Workshop, qrspi: Call) -> None:
    qrspi("next")
    assert qrspi("task", "report", "01", "--status", "BLOCKED", "-m", "No key.").code == 0
    would = checked(qrspi("task", "retry", "01", "--dry-run", "--json").json, "task-retry")
    done = checked(qrspi("task", "retry", "01", "-m", "Here.", "--json").json, "task-retry")
    assert [one["change"] for one in done["changes"]] == ["append", "write"]
    assert (would["status"], done["status"]) == ("sent-again", "sent-again")
    assert "task-01" in done["next"]["waits_for"]
