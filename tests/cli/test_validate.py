from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from qrspi.core.config.edit import initial
from tests import runs
from tests.cli.conftest import COMMAND, Call
from tests.users import plain_user, public

__all__ = ("public",)

ROUND = "reviews/goals/round-01"
TASK = (
    b"---\nstatus: draft\nenforcement: x\nallowed_files: [a]\nconstraints: [b]\n---\n# Task 1: A\n"
)
PLAN = b"""---
status: draft
---
## Branch Map

| Task | Branch | Base |
|---|---|---|
| task-01 | shop/task-01 | feature branch tip |

## Dependency Analysis

| Task | Dependencies | Files |
|---|---|---|
| task-01 | none | a.py |
"""
GOOD = {
    "config.md": initial("2026-05-17", "full", second_reviewer=False),
    "goals.md": runs.artifact("approved"),
    "research/q01.md": b"Notes without frontmatter\n",
    "tasks/task-01.md": TASK,
    "parallelization.md": PLAN,
    "approvals.jsonl": b'{"event": "approve"}\n',
    f"{ROUND}/.dispatch-manifest.json": runs.manifest(),
    f"{ROUND}/quality-claude.finding-F01.md": runs.finding(),
    f"{ROUND}/quality-claude.finding-F01.score.yml": runs.score(),
    f"{ROUND}/scope-claude.clean.md": runs.clean("scope-claude"),
    f"{ROUND}-scope-set.txt": b"# scope-set for round 1\n## Approach\n",
    f"{ROUND}-dispositions.md": b"# Done\n\nFixed.\n",
    f"{ROUND}-commit.txt": b"0" * 40 + b"\n",
    "reviews/goals/loop.md": b"---\nmode: loop\n---\n",
    "reviews/goals-loop-pause-round-01.md": b"---\ndecisions:\n  a.R1-F01: pending\n---\n",
    "notes.txt": b"\xff left alone",
    ".qrspi/lock": b"",
}


def test_a_whole_run(project: Path, qrspi: Call) -> None:
    run = runs.on_disk(project, GOOD)
    assert qrspi("validate", run) == (0, "15 files checked: all good.\n", "")
    kinds = {item["file"]: item["kind"] for item in qrspi("validate", run, "--json").json["files"]}
    assert sorted(set(kinds.values())) == [
        "anchor",
        "artifact",
        "clean",
        "companion",
        "config",
        "dispositions",
        "finding",
        "log",
        "loop-choice",
        "manifest",
        "parallelization",
        "pause",
        "scope-set",
        "sidecar",
        "task",
    ]


@pytest.mark.parametrize("word", [".", "docs", "docs/qrspi/", "user-auth", "2026-05-17-user-auth"])
def test_folders_and_names_of_runs(project: Path, qrspi: Call, word: str) -> None:
    runs.on_disk(project, {"config.md": GOOD["config.md"]})
    assert qrspi("validate", word) == (0, "1 file checked: all good.\n", "")


BAD: Mapping[str, tuple[bytes, str]] = {
    "config.md": (b"---\nroute: x\n---\n", "{}: pipeline is missing; expected full or quick"),
    "goals.md": (
        b"---\nstatus: [\n---\n",
        "{}:3:1: expected the node content, but found '<stream end>'",
    ),
    "research/q01.md": (
        b"---\nstatus: a\nstatus: b\n---\n",
        "{}:3:1: repeated key 'status'",
    ),
    "tasks/task-01.md": (
        b"---\nphase: two\n---\n",
        "{}: phase is two; expected a whole number from 1",
    ),
    "approvals.jsonl": (
        b"{}\n{",
        "{} line 2 was cut off by a command that was killed: it does "
        "not count, and is kept aside when the next line is added",
    ),
    f"{ROUND}/.dispatch-manifest.json": (
        b"[]",
        "{}: the round's manifest is a JSON list, expected the JSON that preparing wrote",
    ),
    f"{ROUND}/quality-claude.finding-F01.md": (
        runs.finding(severity="huge"),
        "{}: severity is 'huge'; expected low, medium or high",
    ),
    f"{ROUND}/scope-claude.clean.md": (
        runs.clean("scope-claude", 2),
        "{}: round is '2'; expected 1",
    ),
    f"{ROUND}/quality-claude.finding-F01.score.yml": (
        b"score: 101\nreason: r\n",
        "{}: score is '101'; expected a whole number from 0 to 100, or VERIFY_FAILED",
    ),
    f"{ROUND}-scope-set.txt": (
        b"#bad heading\n",
        "{}: tag line '#bad heading' has neither file-path shape nor ## prefix nor <full> literal",
    ),
    f"{ROUND}-dispositions.md": (b"line\n" * 31, "{}: 31 lines; expected at most 30"),
    f"{ROUND}-commit.txt": (
        b"HEAD\n",
        "{}: expected the full id of one commit on a line of its own",
    ),
    "reviews/goals/loop.md": (b"---\nmode: x\n---\n", "{}: mode is 'x'; expected present or loop"),
    "reviews/goals-loop-pause-round-01.md": (
        b"---\ndecisions:\n  a.R1-F01: maybe\n---\n",
        "{}: decisions.a.R1-F01 is maybe, expected pending, apply, skip, loop-back",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_bad_file_of_each_kind(project: Path, qrspi: Call, name: str) -> None:
    data, message = BAD[name]
    run = runs.on_disk(project, GOOD | {name: data})
    shown = f"docs/qrspi/{runs.RUN}/{name}"
    result = qrspi("validate", shown, "--json")
    (file,) = result.json["files"]
    assert (result.code, result.json["ok"], file["file"]) == (3, False, shown)
    assert file["problems"][0]["message"] == message.replace("{}", shown)
    assert qrspi("validate", run).out.endswith("\n15 files checked: 1 of 15 bad.\n")


@pytest.mark.rule("LIV-18")
def test_a_draft_that_nobody_is_asked_to_review(project: Path, qrspi: Call) -> None:
    okay = runs.artifact(body="Okay, will do.\n")
    texts = {"plan.md": okay, "questions.md": okay, "research/q01.md": runs.artifact(body="")}
    runs.on_disk(project, GOOD | texts | {"design.md": runs.artifact("approved", "Okay.\n")})
    found = qrspi("validate", "docs", "--json").json
    faults = [one["message"] for file in found["files"] for one in file["problems"]]
    assert [fault.removeprefix(f"docs/qrspi/{runs.RUN}/") for fault in faults] == [
        "questions.md has no question; expected a list such as `1. [codebase] Which modules …?`",
        "research/q01.md has no text; expected what was found, or that nothing was",
    ]


def test_one_bad_file_hides_no_other(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, GOOD)
    config = f"docs/qrspi/{runs.RUN}/config.md"
    assert qrspi("validate", "gone.md", config) == (
        3,
        "error: gone.md is not there\n\n2 files checked: 1 of 2 bad.\n",
        "",
    )


def test_a_file_outside_any_run_is_held_against_itself(project: Path, qrspi: Call) -> None:
    path = project / "quality-claude.finding-F02.md"
    path.write_bytes(runs.finding(number=2, round=7, step="design", cites="design.md:L3"))
    assert qrspi("validate", path.name) == (0, "1 file checked: all good.\n", "")


def test_a_strict_run_is_strict_about_each_file(project: Path, qrspi: Call) -> None:
    finding = runs.finding().replace(b"reviewer: quality-claude\n", b"")
    name = f"{ROUND}/quality-claude.finding-F01.md"
    codes = []
    for guard in ("tolerant", "strict"):
        run = runs.on_disk(project, {"config.md": runs.config(guard=guard), name: finding})
        codes.append(qrspi("validate", run / name).code)
    assert codes == [0, 3]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("link", "config.md is a symlink; expected a regular file; it is not opened"),
        ("pipe", "config.md is a fifo; expected a regular file; it is not opened"),
        ("large", "config.md has 300,000 bytes; expected at most 262,144 bytes; it is not read"),
    ],
)
def test_what_is_no_ordinary_file(project: Path, qrspi: Call, kind: str, message: str) -> None:
    path = project / "config.md"
    match kind:
        case "link":
            path.symlink_to("/etc/hostname")
        case "pipe":
            os.mkfifo(path)
        case "large":
            path.write_bytes(b"x" * 300_000)
    assert qrspi("validate", "config.md").out.splitlines()[0] == f"error: {message}"


def test_a_folder_without_anything_to_check_is_a_usage_error(project: Path, qrspi: Call) -> None:
    message = "docs holds no file of a run: expected a run, a part of one, or a file\n"
    assert qrspi("validate", "docs") == (2, "", message)


def test_warnings_alone_are_no_failure(project: Path, qrspi: Call) -> None:
    (project / "goals.md").write_text("# Goals\n")
    assert qrspi("validate", "goals.md") == (
        0,
        "warning: goals.md: no frontmatter, so no status, expected draft, approved or "
        "replan-draft; read as draft\n\n1 file checked: all good.\n",
        "",
    )


def test_a_large_artifact_is_not_read_whole(project: Path, qrspi: Call) -> None:
    with (project / "goals.md").open("wb") as file:
        file.write(runs.artifact())
        file.truncate(200 * 1024 * 1024)
    assert json.loads(qrspi("validate", "goals.md", "--json").out)["ok"] is True


def test_nothing_is_wrong_with_a_repair_and_its_round(project: Path, qrspi: Call) -> None:
    head = b"---\nstatus: approved\nfix_round: ci-round-01\n---\n\n"
    reviews = "reviews/tasks/ci-round-01/ci-command"
    files = {
        "config.md": GOOD["config.md"],
        "fixes/ci-round-01/ci-command.md": head + b"# Repair it\n",
        f"{reviews}-review.md": b"# What was asked and answered\n",
        f"{reviews}/round-01/quality-claude.finding-F01.md": runs.finding(
            step="ci-round-01/ci-command"
        ),
        f"{reviews}/round-01/scope-claude.clean.md": runs.clean("scope-claude", 1),
    }
    runs.on_disk(project, files)
    assert qrspi("validate", "docs") == (0, "4 files checked: all good.\n", "")


def test_a_finding_outside_every_round_is_told_and_nothing_is_guessed_about_it(
    project: Path, qrspi: Call
) -> None:
    name = "reviews/tasks/task-01/round-05-fanout/quality-claude.finding-F01.md"
    data = runs.finding().replace(b"artifact: goals\n", b"")
    runs.on_disk(project, {"config.md": GOOD["config.md"], name: data})
    result = qrspi("validate", f"docs/qrspi/{runs.RUN}/{name}")
    assert (result.code, result.out.splitlines()[0]) == (
        0,
        f"warning: docs/qrspi/{runs.RUN}/{name}: lies in no round, so nobody counts it; expected "
        "a folder round-NN of the reviews of a step or a task",
    )
    assert "artifact" not in result.out


def test_a_folder_in_the_place_of_a_file_is_told(project: Path, qrspi: Call) -> None:
    run = runs.on_disk(project, {"config.md": GOOD["config.md"]})
    (run / "goals.md").mkdir()
    result = qrspi("validate", "user-auth")
    assert (result.code, result.out.splitlines()[0]) == (
        3,
        f"error: docs/qrspi/{run.name}/goals.md is a directory; expected a regular file; it is not "
        "opened",
    )


def test_a_folder_that_may_not_be_listed_is_no_good_answer(public: Path) -> None:
    run = runs.on_disk(public, {"config.md": GOOD["config.md"], "tasks/task-01.md": b""})
    with plain_user(public) as user:
        (run / "tasks").chmod(0)
        found = user.run(COMMAND, "validate", run)
    assert (found.returncode, found.stdout.splitlines()[0]) == (
        3,
        f"error: {run}/tasks/ cannot be listed: Permission denied",
    )


def test_a_runs_folder_that_may_not_be_listed_is_an_operation_that_failed(public: Path) -> None:
    run = runs.on_disk(public, {"config.md": GOOD["config.md"]})
    with plain_user(public) as user:
        run.parent.chmod(0)
        found = user.run(COMMAND, "--root", public, "config", "show")
    assert (found.returncode, found.stderr) == (
        4,
        f"cannot list {run.parent}: Permission denied\n",
    )


@pytest.mark.rule("GRD-05", "LIV-18")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("quality-claude-finding-2.md", " Did you mean quality-claude.finding-F02.md?"),
        ("R01-F01-quality-codex.md", ""),
        ("scope-codex.clean", " Did you mean scope-codex.clean.md?"),
        (
            "scope-claude.finding-F03.score.yaml",
            " Did you mean scope-claude.finding-F03.score.yml?",
        ),
    ],
)
def test_a_file_in_a_round_under_a_name_that_no_round_knows_is_bad(
    name: str, meant: str, project: Path, qrspi: Call
) -> None:
    runs.on_disk(project, {**GOOD, f"{ROUND}/{name}": runs.finding()})
    file = f"docs/qrspi/{runs.RUN}/{ROUND}/{name}"
    said = f"{file}: not a name that a round knows, so nobody reads it{meant and '.'}{meant}"
    result = qrspi("validate", file)
    assert (result.code, result.out.splitlines()[0]) == (3, f"error: {said}")
    assert qrspi("validate", runs.RUN).code == 3


def test_other_files_in_a_round_are_left_alone(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {**GOOD, f"{ROUND}/notes.txt": b"x", f"{ROUND}/a.md~": b"x"})
    assert qrspi("validate", runs.RUN).code == 0
