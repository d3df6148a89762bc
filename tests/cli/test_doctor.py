from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.cli.conftest import Call
from tests.deliveries import quick

MACHINE = [
    f"ok      python: Python {platform.python_version()}",
    "ok      git: "
    + subprocess.run(["git", "version"], capture_output=True, text=True).stdout[:-1],
]


def no_repository(project: Path) -> list[str]:
    return [
        "note    git: this project is in no git repository: nothing is committed, and tasks need "
        "one",
        f"        git init {project}",
    ]


@pytest.mark.rule("LIV-28")
def test_a_healthy_project(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick")})
    result = qrspi("doctor")
    assert (result.code, result.out.splitlines(), result.err) == (
        0,
        [
            *MACHINE,
            *no_repository(project),
            "ok      daemon: none is watching",
            "ok      2026-05-17-user-auth: nothing is odd",
        ],
        "",
    )


@pytest.mark.rule("RUN-01", "RUN-07")
def test_everything_odd_is_listed(project: Path, qrspi: Call) -> None:
    folder = project / "docs/qrspi"
    runs.on_disk(
        project,
        {
            "config.md": runs.config("quick", colour="blue"),
            ".qrspi/audit.jsonl": b'{"event": "approve"}\n<<<<<<< HEAD\n{"cut',
            "approvals.jsonl": b'{"event": "app',
            "reviews/goals/round-3/x": b"",
            "reviews/tasks/task-01/round-02/x": b"",
            ".goals.md.qrspi-0123456789abcdef.tmp": b"",
            ".qrspi/lock": b"4711 qrspi next\n",
        },
    )
    (folder / "ideas").mkdir()
    (folder / "moved/tasks").mkdir(parents=True)
    (folder / "moved/plan.md").write_bytes(b"")
    (folder / "notes.txt").write_bytes(b"")
    (folder / "other").symlink_to("/etc")
    (folder / ".2026-05-17-x.qrspi-0123456789abcdef.tmp").mkdir()
    result = qrspi("doctor")
    assert (result.code, result.out.splitlines()[2:]) == (
        0,
        [
            *no_repository(project),
            f"note    leftover: {folder}/.2026-05-17-x.qrspi-0123456789abcdef.tmp is left of a "
            "command that was killed; the next run that is started removes it",
            "note    runs: ideas is not a run: it has neither config.md nor goals.md",
            "note    runs: moved is not a run: it has neither config.md nor goals.md",
            f"        qrspi init --adopt {folder}/moved --pipeline quick",
            "note    runs: notes.txt is not a run: it is not a folder",
            "note    runs: other is not a run: it is a link, which is not followed",
            "ok      daemon: none is watching",
            "note    2026-05-17-user-auth: config.md: `colour` is not a known field and is ignored",
            "        qrspi config validate 2026-05-17-user-auth",
            "note    2026-05-17-user-auth: reviews/goals/round-3 is not a round: expected a "
            "directory round-NN",
            "note    2026-05-17-user-auth: reviews/tasks/task-01: round 01 is missing below "
            "round 02",
            "note    2026-05-17-user-auth: approvals.jsonl line 1 was cut off by a command that "
            "was killed: it does not count, and is kept aside when the next line is added",
            "note    2026-05-17-user-auth: .qrspi/audit.jsonl line 2 is the conflict mark of a "
            "merge: keep the entries of both sides and delete the mark",
            "note    2026-05-17-user-auth: .qrspi/audit.jsonl line 3 was cut off by a command that "
            "was killed: it does not count, and is kept aside when the next line is added",
            "note    leftover: 2026-05-17-user-auth/.goals.md.qrspi-0123456789abcdef.tmp is left "
            "of a command that was killed; the next command on it removes it",
            "note    2026-05-17-user-auth: .qrspi/lock: its last holder was killed; the lock is "
            "free, and the next command on the run cleans up",
        ],
    )


def test_what_blocks_a_run_is_a_problem(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick", second_reviewer="maybe")})
    result = qrspi("doctor", "--json")
    assert (result.code, result.json["ok"], result.json["findings"][-1]) == (
        3,
        False,
        {
            "level": "problem",
            "about": "2026-05-17-user-auth",
            "message": "config.md: second_reviewer is `maybe`; expected true or false",
            "hint": "qrspi config validate 2026-05-17-user-auth",
        },
    )


@pytest.mark.rule("LIV-28")
def test_a_task_that_was_lost_after_its_approval_is_a_problem(project: Path, qrspi: Call) -> None:
    scenes.git(project, "init", "-q")
    approved = b"---\nstatus: approved\nphase: 1\n---\n\n# X\n"
    runs.on_disk(project, {**quick(), "implementation.md": approved})
    scenes.commit_all(project)
    lines = qrspi("doctor").out.splitlines()
    at = next(at for at, line in enumerate(lines) if "test cannot go on: task-01 (ready)" in line)
    assert lines[at].startswith("problem 2026-05-17-user-auth: ")
    assert lines[at + 1].strip() == "qrspi rewind 2026-05-17-user-auth --to implement --dry-run"


def test_a_record_of_decisions_that_cannot_be_read_is_one_problem(
    project: Path, qrspi: Call
) -> None:
    files = {"config.md": runs.config("quick"), "approvals.jsonl": b"<<<<<<< HEAD\n{}\n"}
    runs.on_disk(project, files)
    result = qrspi("doctor")
    assert (result.code, result.out.splitlines()[5:]) == (
        3,
        [
            "problem 2026-05-17-user-auth: approvals.jsonl line 1 is text that is not JSON, "
            "expected a record of a decision: correct it or restore the file",
            "        qrspi status 2026-05-17-user-auth",
        ],
    )


def test_a_machine_without_git(project: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".git").mkdir()
    monkeypatch.setenv("PATH", "/nowhere")
    result = qrspi("doctor", "--json")
    (sign,) = [item for item in result.json["findings"] if item["about"] == "git"]
    assert (result.code, sign["level"]) == (3, "problem")


def test_a_place_without_runs(tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = qrspi("doctor")
    assert (result.code, result.out.splitlines()[2:]) == (
        0,
        [
            "note    runs: no docs/qrspi here or above in this project: no run was started yet",
            '        qrspi init "TEXT" --pipeline quick',
        ],
    )
    assert qrspi("--root", tmp_path / "gone", "doctor").code == 2


@pytest.mark.rule("FM-04")
def test_an_artifact_that_cannot_be_read_is_a_problem_and_a_doubtful_one_a_note(
    project: Path, qrspi: Call
) -> None:
    broken = {"goals.md": b"---\nstatus: draft\nstatus: approved\n---\n", "questions.md": b"Why?\n"}
    run = runs.on_disk(project, {"config.md": runs.config("quick"), **broken})
    result = qrspi("doctor")
    assert (result.code, result.out.splitlines()[5:]) == (
        3,
        [
            f"problem {run.name}: goals.md:3:1: repeated key 'status'",
            f"        qrspi explain {run.name}",
            f"note    {run.name}: questions.md: no frontmatter, so no status, expected draft, "
            "approved or replan-draft; read as draft",
        ],
    )


def read_so_far() -> int:
    """Bytes that this process has asked the kernel for."""
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="only Linux counts what was read")
@pytest.mark.rule("SEC-24")
@pytest.mark.parametrize("name", ["approvals.jsonl", ".qrspi/audit.jsonl", ".qrspi/spend.jsonl"])
def test_an_enormous_log_is_named_and_not_read(project: Path, qrspi: Call, name: str) -> None:
    run = runs.on_disk(project, {"config.md": runs.config("quick"), name: b""})
    with (run / name).open("r+b") as log:
        log.truncate(20 * 1024**3)
    before = read_so_far()
    found = qrspi("doctor")
    assert (found.code, read_so_far() - before < 2**30) == (3, True)
    assert f"{name}" in found.out and "21,474,836,480 bytes" in found.out


@pytest.mark.rule("LIV-28")
def test_a_git_that_knows_nobody_is_a_problem(
    project: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes.git(project, "init", "-q")
    for role in ("AUTHOR", "COMMITTER"):
        for key in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{key}", raising=False)
    scenes.git(project, "config", "user.useConfigOnly", "true")
    runs.on_disk(project, {"config.md": runs.config("quick")})
    result = qrspi("doctor")
    assert result.code == 3
    assert result.out.splitlines()[2] == (
        "problem git: nobody told git who you are, so nothing can be committed: set user.name and "
        "user.email in its configuration"
    )


@pytest.mark.rule("LIV-28")
def test_a_git_that_knows_nobody_is_told_before_the_first_run(
    tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        for key in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{key}", raising=False)
    scenes.git(tmp_path, "init", "-q")
    scenes.git(tmp_path, "config", "user.useConfigOnly", "true")
    monkeypatch.chdir(tmp_path)
    result = qrspi("doctor")
    assert (result.code, result.out.splitlines()[2].partition(",")[0]) == (
        3,
        "problem git: nobody told git who you are",
    )


@pytest.mark.rule("LIV-28")
@pytest.mark.parametrize(
    ("file", "said", "hint"),
    [
        ("MERGE_HEAD", "a merge is under way in {0}: finish or abort it", "git -C {0} status"),
        ("index.lock", "{0}/.git/index.lock exists: another git", "rm {0}/.git/index.lock"),
    ],
)
def test_what_a_killed_git_left_is_named(
    project: Path, qrspi: Call, file: str, said: str, hint: str
) -> None:
    scenes.git(project, "init", "-q")
    runs.on_disk(project, {"config.md": runs.config("quick")})
    scenes.commit_all(project)
    (project / ".git" / file).write_text("x\n")
    first, second = qrspi("doctor").out.splitlines()[2:4]
    assert first.startswith(f"problem git: {said.format(project.resolve())}")
    assert second.strip() == hint.format(project.resolve())


@pytest.mark.rule("LIV-28")
def test_unknown_files_and_work_trees_that_are_left_are_named(project: Path, qrspi: Call) -> None:
    scenes.git(project, "init", "-q")
    known = dict.fromkeys(("request.md", "roadmap.md", "future-web.md", "goals.md~"), b"x")
    closed = {"closed.md": b"---\nreason: x\n---\n", "notes.txt": b"x"}
    runs.on_disk(project, {"config.md": runs.config("quick")} | known | closed)
    runs.on_disk(project, {"config.md": runs.config("quick")}, "2026-05-18-dark-mode")
    scenes.commit_all(project)
    for slug in ("user-auth", "dark-mode", "gone-run"):
        place = f".worktrees/{slug}/task-01"
        scenes.git(project, "worktree", "add", "-q", "-b", slug, place)
    lines = qrspi("doctor").out.splitlines()
    said = [line for line in lines if "no file that" in line or "is left" in line]
    root = project.resolve()
    assert said == [
        "note    2026-05-17-user-auth: notes.txt is not a file that qrspi knows, and is left alone",
        f"note    work trees: {root}/.worktrees/gone-run/task-01 is left of no run that is here",
        f"note    work trees: {root}/.worktrees/user-auth/task-01 is left of "
        "2026-05-17-user-auth, which is over",
    ]
    assert "        qrspi task clean 2026-05-17-user-auth" in lines


@pytest.mark.rule("GRD-05")
def test_files_of_any_round_that_nobody_read_are_notes(project: Path, qrspi: Call) -> None:
    folder = "reviews/goals/round-0"
    runs.on_disk(
        project,
        {
            "config.md": runs.config(),
            "goals.md": runs.artifact(),
            f"{folder}1/quality-claude-finding-2.md": b"x",
            f"{folder}2/scope-claude.clean": b"x",
        },
    )
    lines = [line for line in qrspi("doctor").out.splitlines() if "not a name" in line]
    text = "not a name that a round knows; the file is left alone. Did you mean"
    assert sorted(lines) == [
        f"note    {runs.RUN}: {folder}1/quality-claude-finding-2.md: {text} "
        "quality-claude.finding-F02.md?",
        f"note    {runs.RUN}: {folder}2/scope-claude.clean: {text} scope-claude.clean.md?",
    ]
