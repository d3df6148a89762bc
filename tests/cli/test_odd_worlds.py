"""Bad input and odd places: one clear line each, nothing changed, the other runs still shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.cli.answers.status import Request, look
from qrspi.cli.session import Session
from qrspi.core.errors import Halt
from tests import runs
from tests.cli.conftest import COMMAND, Call
from tests.users import plain_user, public

__all__ = ("public",)

GOOD = "2026-05-17-user-auth"
ODD = "2026-05-18-odd-one"


def _file(name: str, data: bytes) -> Callable[[Path], None]:
    def make(run: Path) -> None:
        (run / name).write_bytes(data)

    return make


def _directory(name: str) -> Callable[[Path], None]:
    return lambda run: (run / name / "x").mkdir(parents=True)


def _link(name: str, target: str) -> Callable[[Path], None]:
    return lambda run: (run / name).symlink_to(target)


def _fifo(name: str) -> Callable[[Path], None]:
    return lambda run: os.mkfifo(run / name)


def _huge(name: str) -> Callable[[Path], None]:
    def make(run: Path) -> None:
        with (run / name).open("wb") as file:
            file.write(runs.artifact("approved"))
            file.truncate(100 * 1024 * 1024)

    return make


def _config(**fields: str) -> Callable[[Path], None]:
    return _file("config.md", runs.config("quick", **fields))


STEPS = "; expected a list of different steps in pipeline order that starts with goals"
Row = tuple[str, Callable[[Path], None], str | None, str]
WORLDS: list[Row] = [
    ("a directory", _directory("config.md"), None, " is not a regular file (directory)"),
    ("a link", _link("config.md", "/etc/hostname"), None, " is not a regular file (symlink)"),
    ("a pipe", _fifo("config.md"), None, " is not a regular file (fifo)"),
    ("large", _file("config.md", b"x" * 300_000), None, " is larger than 256 KiB"),
    ("binary", _file("config.md", b"---\n\xff\0"), None, ":2:1: bytes that are not UTF-8"),
    (
        "empty",
        _file("config.md", b""),
        None,
        ":1:1: no frontmatter; expected '---' alone on line 1, then the fields",
    ),
    (
        "a list",
        _file("config.md", b"---\n- a\n---\n"),
        None,
        ":2:1: not a mapping of keys to values",
    ),
    (
        "route is text",
        _config(route="goals"),
        None,
        f": route is `goals`, which is not a list{STEPS}",
    ),
    (
        "route is unknown",
        _config(route="[goals, testing]"),
        None,
        f": route is `[goals, testing]`, where `testing` is not a step{STEPS}",
    ),
    (
        "route repeats",
        _config(route="[goals, goals]"),
        None,
        f": route is `[goals, goals]`, where goals stands twice{STEPS}",
    ),
    (
        "route is out of order",
        _config(route="[goals, test, plan]"),
        None,
        f": route is `[goals, test, plan]`, where plan belongs before test{STEPS}",
    ),
    ("route is empty", _config(route="[]"), None, f": route is missing{STEPS}"),
    (
        "wrong type",
        _config(verifier_enabled="{a: b}"),
        "goals",
        ": verifier_enabled is `{a: b}`; expected true or false",
    ),
]


@pytest.fixture
def odd(project: Path) -> Path:
    runs.on_disk(project, {"config.md": runs.config("quick")}, GOOD)
    return runs.on_disk(project, {"goals.md": runs.artifact()}, ODD)


@pytest.mark.parametrize(
    ("make", "step", "message"), [row[1:] for row in WORLDS], ids=[row[0] for row in WORLDS]
)
def test_a_bad_config(
    odd: Path, qrspi: Call, make: Callable[[Path], None], step: str | None, message: str
) -> None:
    make(odd)
    result = qrspi("status", "--json")
    good, bad = result.json["runs"]
    assert (result.code, result.err, good["next"]["action"]) == (0, "", "author")
    assert (bad["current_step"], bad["next"]["action"], bad["complete"]) == (step, "blocked", False)
    assert [error["message"] for error in bad["errors"]] == [f"config.md{message}"]
    assert sorted(path.name for path in odd.iterdir()) == ["config.md", "goals.md"]


@pytest.mark.parametrize(
    ("make", "status", "message"),
    [
        (_directory("goals.md"), "invalid", "goals.md: not a regular file (directory)"),
        (_link("goals.md", "/etc/hostname"), "invalid", "goals.md: not a regular file (symlink)"),
        (_fifo("goals.md"), "invalid", "goals.md: not a regular file (fifo)"),
        (_huge("goals.md"), "approved", ""),
        (
            _file("goals.md", bytes(range(256)) * 400),
            "draft",
            "goals.md: no frontmatter, so no status, expected draft, approved or replan-draft; "
            "read as draft",
        ),
        (
            _file("goals.md", b"---\n\xff: x\n---\n"),
            "invalid",
            "goals.md:2:1: the byte 0xFF, which is not UTF-8",
        ),
        (
            _file("goals.md", b"---\n" + b"a: b\n" * 20_000 + b"---\n"),
            "invalid",
            "goals.md:1:1: frontmatter larger than 64 KiB",
        ),
        (_directory("reviews"), "missing", ""),
        (_file("reviews", b""), "missing", ""),
        (_file("tasks", b""), "missing", ""),
        (_file("approvals.jsonl", b"\xff\n{}\n"), "missing", ""),
        (_directory("approvals.jsonl"), "missing", ""),
        (_link("reviews", "/"), "missing", ""),
    ],
)
def test_artifacts_that_are_something_else(
    odd: Path, qrspi: Call, make: Callable[[Path], None], status: str, message: str
) -> None:
    (odd / "config.md").write_bytes(runs.config("quick"))
    (odd / "goals.md").unlink()
    make(odd)
    result = qrspi("status", "--json")
    good, found = result.json["runs"]
    assert (result.code, result.err, good["next"]["action"]) == (0, "", "author")
    assert found["steps"][0]["status"] == status
    told = found["errors" if status == "invalid" else "warnings"]
    said = [item["message"] for item in told if item["file"] == "goals.md"]
    assert said == ([message] if message else [])


def test_no_root(tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    here = tmp_path.resolve()
    line = (
        f"no docs/qrspi in {here}: go to the project, name it with --root, or start "
        'a first run with `qrspi init "TEXT" --pipeline quick`'
    )
    assert qrspi("status") == (2, "", f"{line}\n")
    result = qrspi("status", "--json")
    assert (result.code, result.err, result.json["code"], result.json["message"]) == (
        2,
        "",
        "no-root",
        line,
    )


def test_the_runs_folder_vanishes_or_cannot_be_listed(project: Path, qrspi: Call) -> None:
    session = Session()
    assert session.root.runs_dir == str(project / "docs/qrspi")
    (project / "docs/qrspi").rmdir()
    with pytest.raises(Halt) as halt:
        look(session, Request())
    assert str(halt.value) == f"cannot list {project}/docs/qrspi: it is not there"


def test_a_folder_without_permission(public: Path) -> None:
    runs_dir = public / "docs/qrspi"
    runs_dir.mkdir(parents=True)
    with plain_user(public) as user:
        runs_dir.chmod(0)
        done = user.run(COMMAND, "--root", public, "status")
    assert (done.returncode, done.stdout, done.stderr) == (
        4,
        "",
        f"cannot list {runs_dir}: Permission denied\n",
    )


def test_the_current_directory_was_deleted(project: Path, process: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick")})
    gone = project / "gone"
    words = f'cd "{gone}" && rmdir "{gone}" && exec "{COMMAND}" "$@"'
    for command in (["status"], ["validate", "goals.md"], ["frontmatter", "get", "a.md", "b"]):
        gone.mkdir()
        done = subprocess.run(["sh", "-c", words, "sh", *command], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (
            2,
            "",
            "the current directory no longer exists: change to one that does, or name the project "
            "with --root and its full path\n",
        )
    gone.mkdir()
    rooted = ["sh", "-c", words, "sh", "--root", str(project), "status"]
    done = subprocess.run(rooted, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "2026-05-17-user-auth  (quick pipeline, phase 1)",
    )


@pytest.mark.parametrize(
    "settings",
    [{"LANG": "C"}, {"LC_ALL": "POSIX"}, {"PYTHONIOENCODING": "ascii"}, {"TERM": "dumb"}, {}],
    ids=str,
)
def test_bare_environments(project: Path, process: Call, settings: dict[str, str]) -> None:
    """HOME and everything else is unset."""
    runs.on_disk(project, {"config.md": runs.config("quick")}, "larger")
    runs.on_disk(project, {"config.md": runs.config("quick")}, "größer")
    result = process("status", env={"PATH": os.defpath, **settings}, encoding="utf-8")
    assert (result.code, result.out.startswith("larger  (quick")) == (0, True)
    assert result.err.startswith(("'größer' cannot be a run", "'gr\\xf6\\xdfer' cannot be"))


@pytest.mark.rule("OUT-01")
def test_a_reader_that_has_enough(project: Path) -> None:
    for at in range(40):
        runs.on_disk(project, {"config.md": runs.config("quick")}, f"2026-05-17-run-{at:02d}")
    line = f'"{COMMAND}" status | head -1; "{COMMAND}" status --json | head -c 1'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.stdout.splitlines()[0].split()[0], done.stderr) == ("RUN", "")


def test_a_full_disk_behind_stdout(project: Path) -> None:
    with Path("/dev/full").open("w") as full:
        for words in (["status"], ["status", "--json"], ["status", "nobody", "--json"]):
            done = subprocess.run([COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            assert (done.returncode, done.stderr) == (
                4,
                "cannot write: No space left on device\n",
            )


def test_closed_streams(project: Path) -> None:
    done = subprocess.run(["sh", "-c", f'"{COMMAND}" status >&- 2>&- <&-'])
    assert done.returncode == 0


@pytest.mark.rule("OUT-03", "OUT-02")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("nonsense --json", 2),
        ("status --nonsense --json", 2),
        ("status a b --json", 2),
        ("--json", 2),
        ("config --json", 2),
        ("config set --json", 2),
        ("status nobody --json", 2),
        ("--json config validate nobody", 2),
        ("frontmatter get gone.md x --json", 2),
        ("schema gone --json", 2),
    ],
)
def test_errors_in_json_mode_are_documents(
    project: Path, qrspi: Call, words: str, code: int
) -> None:
    result = qrspi(*words.split())
    assert (result.code, result.err, result.out.count("\n")) == (code, "", 1)
    assert list(result.json) == [
        "schema",
        "code",
        "file",
        "field",
        "found",
        "expected",
        "hint",
        "message",
        "options",
    ]
    assert result.json["schema"] == "qrspi/error/v1"


def test_a_bug_is_one_line_and_a_traceback_only_when_asked(project: Path) -> None:
    code = "import sys, qrspi.cli.answers.status as s\ns.look = lambda *a: 1 / 0\n"
    code += "from qrspi.cli import main; main(sys.argv[1:])"
    words = [sys.executable, "-c", code]
    short = subprocess.run([*words, "status"], capture_output=True, text=True)
    assert (short.returncode, short.stdout, short.stderr) == (
        1,
        "",
        "a bug in qrspi: ZeroDivisionError: division by zero\n"
        "  run it again with -v for the traceback\n",
    )
    long = subprocess.run([*words, "status", "-v"], capture_output=True, text=True)
    assert (long.returncode, long.stderr.splitlines()[0]) == (
        1,
        "Traceback (most recent call last):",
    )


@pytest.mark.rule("OUT-06")
def test_no_rule_ids_in_what_people_read(odd: Path, qrspi: Call) -> None:
    (odd / "config.md").write_bytes(runs.config("quick", route="[goals, x]", second_reviewer="1"))
    words = ("status", "status --explain", "explain odd-one", "config validate odd-one", "doctor")
    said = "".join(str(qrspi(*line.split())) for line in words)
    assert re.findall(r"\b[A-Z]{2,4}-\d\d\b", said) == []


FOREIGN = (
    "config.md: schema_version is `2`; expected 1, the only one that this qrspi knows; the run can "
    "be looked at and is not changed"
)


@pytest.mark.parametrize(
    "words",
    [
        "config set guard strict",
        "route set full",
        "close --reason done",
        "frontmatter set docs/qrspi/2026-05-17-user-auth/goals.md status approved",
        "approve goals --unreviewed --yes",
        "round prepare goals",
    ],
)
def test_a_run_of_a_newer_version_is_read_and_not_written(
    project: Path, qrspi: Call, words: str
) -> None:
    data = runs.config("quick", schema_version="2", second_reviewer="false")
    run = runs.on_disk(project, {"config.md": data, "goals.md": runs.artifact()})
    before = {path: path.read_bytes() for path in run.glob("*") if path.is_file()}
    refused = qrspi(*words.split())
    assert (refused.code, refused.out, refused.err.splitlines()[0]) == (3, "", FOREIGN)
    assert {path: path.read_bytes() for path in run.glob("*") if path.is_file()} == before


def test_where_a_run_of_a_newer_version_stands_is_shown(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick", schema_version="2")})
    [state] = qrspi("status", "--json").json["runs"]
    assert (state["current_step"], state["next"]["action"], state["next"]["summary"]) == (
        "goals",
        "blocked",
        FOREIGN,
    )
    assert qrspi("next").code == 0


def test_a_run_of_this_version_may_say_so(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick", schema_version="1")})
    assert qrspi("config", "validate").out.endswith("config.md is good.\n")
