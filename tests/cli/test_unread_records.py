"""A run whose record of decisions cannot be read: everything waits until somebody puts it right."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import quick, scenes
from tests.cli.conftest import COMMAND, Call
from tests.quick import LOG, RECORDS
from tests.runs import RUN, lines
from tests.users import plain_user, public

__all__ = ["public"]

Harm = Callable[[Path], None]


def garbled(run: Path) -> None:
    """The line in which the approval was taken back."""
    approve, unapprove = (run / RECORDS).read_bytes().splitlines(keepends=True)
    (run / RECORDS).write_bytes(approve + unapprove[9:])


def symlink(name: str) -> Harm:
    def harm(run: Path) -> None:
        (run / name).rename(run.parent.parent / name)
        (run / name).symlink_to(f"../../{name}")

    return harm


def folder(name: str) -> Harm:
    def harm(run: Path) -> None:
        (run / name).unlink()
        (run / name).mkdir()

    return harm


def record_is(found: str) -> str:
    return f"{RECORDS}: the record of decisions is {found}, expected a regular file: put it right"


def log_is(found: str) -> str:
    what = "the log of approvals without a person"
    return f"{LOG}: {what} is {found}, expected a regular file: put it right"


GARBLED = (
    f"{RECORDS} line 2 is text that is not JSON, expected a record of a decision: correct it or "
    "restore the file"
)
HARMS: dict[str, tuple[Harm, int, str]] = {
    "garbled": (garbled, 3, GARBLED),
    "symlink": (symlink(RECORDS), 4, record_is("a symlink")),
    "folder": (folder(RECORDS), 4, record_is("a directory")),
    "log-symlink": (symlink(LOG), 4, log_is("a symlink")),
    "log-folder": (folder(LOG), 4, log_is("a directory")),
}
LOCKS = (".qrspi/lock", ".qrspi/dispatch-lock")
COMMANDS = [
    ["next"],
    ["next", "--dry-run"],
    ["next", "--dispatch"],
    ["approve", "questions", "--yes"],
    ["reject", "questions", "--message", "No."],
    ["unapprove", "goals"],
    ["rewind", "--to", "goals", "--yes"],
    ["decide", "quality-claude.F01", "skip"],
    ["resolve", "approve"],
    ["round", "prepare", "questions"],
    ["round", "assemble", "questions"],
]


@pytest.fixture
def taken_back(project: Path, qrspi: Call) -> Path:
    """A quick run that approved its questions by itself; a person took that back."""
    run = quick.reviewed(project)
    qrspi("next")
    assert quick.status(run, "questions") == "approved"
    assert qrspi("unapprove", "questions").code == 0
    return run


def everything(run: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run).as_posix()
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif name not in LOCKS and not name.startswith(".qrspi/cache"):
            found[name] = path.read_bytes() if path.is_file() else "folder"
    return found


@pytest.mark.rule("APV-01", "ENG-05")
@pytest.mark.parametrize(("harm", "code", "message"), HARMS.values(), ids=HARMS)
def test_status_tells_and_nothing_is_done(
    taken_back: Path, qrspi: Call, harm: Harm, code: int, message: str
) -> None:
    harm(taken_back)
    before = everything(taken_back)
    shown = qrspi("status", "--json").json["runs"][0]
    assert [error["message"] for error in shown["errors"]] == [message]
    assert shown["next"]["summary"] == f"{message}, then run `qrspi status {RUN}`."
    page = qrspi("status", RUN).out.splitlines()
    assert f"Next: {message}, then run `qrspi status {RUN}`." in page
    for words in COMMANDS:
        refused = qrspi(*words)
        assert (words, refused) == (words, (code, "", f"{message}\n  qrspi status {RUN}\n"))
        assert (words, everything(taken_back)) == (words, before)


def linked(run: Path) -> None:
    symlink(RECORDS)(run)


def scribbled(run: Path) -> None:
    (run / RECORDS).write_bytes(b"<<<<<<< HEAD\n" + (run / RECORDS).read_bytes())


@pytest.fixture
def committed(project: Path, qrspi: Call) -> Path:
    run = scenes.clean(project)
    scenes.advance(run)
    assert qrspi("approve", "goals").code == 0
    return run


@pytest.mark.rule("LIV-02", "APV-01")
@pytest.mark.parametrize("harm", [linked, scribbled])
def test_git_brings_back_what_it_has(committed: Path, qrspi: Call, harm: Harm) -> None:
    way = ("git", "-C", str(committed), "checkout", "--ignore-skip-worktree-bits", "HEAD", "--")
    before = (committed / RECORDS).read_bytes()
    harm(committed)
    refused = qrspi("next", "--json").json
    assert refused["hint"] == " ".join((*way, RECORDS))
    assert refused["message"].endswith(f" with `{refused['hint']}`")
    assert qrspi("status", "--json").json["runs"][0]["next"]["command"] == refused["hint"]
    assert f"        {refused['hint']}" in qrspi("doctor").out.splitlines()
    subprocess.run(shlex.split(refused["hint"]), check=True, capture_output=True)
    assert (committed / RECORDS).read_bytes() == before
    assert qrspi("next").code == 0


@pytest.mark.rule("LIV-02", "APV-01")
def test_no_decision_is_lost_by_what_is_named(committed: Path, qrspi: Call) -> None:
    first, *_ = (committed / RECORDS).read_bytes().splitlines(keepends=True)
    with (committed / RECORDS).open("ab") as log:
        log.write(b"<<<<<<< HEAD\n" + first.replace(b"goals", b"plan"))
    shown = qrspi("next", "--json").json["hint"]
    assert shown == f"git -C {committed} diff HEAD -- {RECORDS}"
    assert qrspi("next").code == 3
    assert "to be kept" in qrspi("next").err


@pytest.mark.rule("LIV-02", "APV-01")
def test_a_folder_is_moved_away_first(committed: Path, qrspi: Call) -> None:
    folder(RECORDS)(committed)
    refused = qrspi("next", "--json").json
    assert (refused["hint"], "move it away, and `git " in refused["message"]) == (
        f"qrspi status {RUN}",
        True,
    )


@pytest.mark.rule("APV-01", "ENG-05")
@pytest.mark.parametrize("name", [RECORDS, LOG])
def test_without_the_right_to_read(public: Path, name: str) -> None:
    run = quick.reviewed(public)
    quick.advance(run)
    (run / "questions.md").write_bytes(
        (run / "questions.md").read_bytes().replace(b"status: approved", b"status: draft")
    )
    with plain_user(public) as user:
        (run / name).chmod(0)
        before = everything(run) if not os.geteuid() else {}
        done = user.run(COMMAND, "--root", public, "next")
        after = everything(run) if not os.geteuid() else {}
    what = "record of decisions" if name == RECORDS else "log of approvals without a person"
    assert (done.returncode, done.stdout, done.stderr) == (
        4,
        "",
        f"{name}: the {what} is unreadable (Permission denied), expected a readable file: put it "
        f"right\n  qrspi --root {public} status {RUN}\n",
    )
    assert after == before


@pytest.mark.rule("APV-01", "ENG-04")
def test_the_beginning_of_a_line_that_a_kill_left_is_kept_aside(
    taken_back: Path, qrspi: Call
) -> None:
    whole = (taken_back / RECORDS).read_bytes()
    (taken_back / RECORDS).write_bytes(whole + b'{"event": "appr')
    assert qrspi("status", "--json").json["runs"][0]["errors"] == []
    assert qrspi("approve", "questions", "--as", "Ada").code == 0
    assert (taken_back / f"{RECORDS}.torn-1").read_bytes() == b'{"event": "appr'
    events = [line["event"] for line in lines(taken_back, RECORDS)]
    assert events == ["approve", "unapprove", "approve"]
