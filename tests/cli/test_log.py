"""`qrspi log`: the audit trail, for people and for programs, from its end and as it grows."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.render.history import audit_lines
from qrspi.world.files import json_log
from qrspi.world.machine import git_person
from tests import runs
from tests.cli.conftest import COMMAND, NOW, Call

SCHEMA = json.loads(Path(__file__).parents[2].joinpath("schemas/log.schema.json").read_text())
TRAIL = audit_trail.FILE
OLD, NEW = "a" * 64, "b" * 64


def line(event: str = "assemble", **more: Any) -> Line:
    files = (Touched("reviews/goals/round-01-verified.md", None, NEW),)
    return Line(NOW, "cli", event, "goals", 1, files, "done")._replace(**more)


def write(run: Path, *lines: Line | bytes, mode: str = "ab") -> None:
    file = run / audit_trail.FILE
    file.parent.mkdir(exist_ok=True)
    with file.open(mode) as log:
        for item in lines:
            log.write(json_log.encode(audit_trail.render(item)) if isinstance(item, Line) else item)


@pytest.fixture
def run(project: Path) -> Path:
    return runs.on_disk(project, {"config.md": runs.config("quick"), "goals.md": runs.artifact()})


def documents(text: str) -> list[Any]:
    found = [json.loads(line) for line in text.splitlines()]
    for document in found:
        jsonschema.validate(document, SCHEMA)
    return found


@pytest.mark.rule("AUD-01", "LIV-27")
def test_a_table_of_what_was_done(run: Path, qrspi: Call) -> None:
    write(
        run,
        line("prepare-round", files=(Touched("reviews/goals/round-01.diff", None, NEW),)),
        line(
            "approve",
            who="Ada Lovelace as Ada",
            round=None,
            files=(Touched("goals.md", OLD, NEW), Touched("goals.md", NEW, OLD)),
        ),
        line("commit-round", step="", files=(), outcome="stopped: why"),
    )
    assert qrspi("log") == (
        0,
        "TIME                  WHO             WHAT            STEP         ROUND  FILES\n"
        f"{NOW}  qrspi           prepare-round   goals        1      reviews/goals/round-01.diff\n"
        f"{NOW}  Ada Lovelace …  approve         goals        -      goals.md\n"
        f"{NOW}  qrspi           commit-round (stopped)  -    1      -\n",
        "",
    )


@pytest.mark.rule("LIV-27")
def test_who_changed_a_setting_is_named(run: Path, qrspi: Call) -> None:
    assert qrspi("config", "set", "second_reviewer", "true").code == 0
    who = git_person.at(str(run)).partition(" <")[0]
    shown = who if len(who) <= 14 else f"{who[:13]}…"
    assert qrspi("log").out.splitlines()[1][22:52].split("  ")[0] == shown
    assert documents(qrspi("log", "--json").out)[0]["who"] == git_person.at(str(run))


@pytest.mark.rule("LIV-01")
def test_lines_that_are_left_out_are_spoken_of(run: Path, qrspi: Call) -> None:
    write(run, *(line(f"e{number}", files=()) for number in range(21)))
    told = qrspi("log")
    assert told.out.splitlines()[1].split()[2] == "e1"
    assert told.err == f"Earlier lines are left out: qrspi log {runs.RUN} --all\n"
    for words in (("-n", "20"), ("--all",), ("--json",)):
        assert qrspi("log", *words).err == ""


@pytest.mark.rule("AUD-01", "LIV-29")
def test_files_stand_below_a_row_without_room_for_them() -> None:
    task = tuple(Touched(f"tasks/task-{at:02d}.md", None, NEW) for at in range(5))
    rows = [one for item in (line(), line(files=task), line(files=())) for one in rendered(item)]
    assert rows == [
        f"{NOW}  qrspi           collect         goals        1",
        "    reviews/goals/round-01-verified.md",
        f"{NOW}  qrspi           collect         goals        1",
        "    tasks/task-00.md, tasks/task-01.md, tasks/task-02.md and 2 more",
        f"{NOW}  qrspi           collect         goals        1      -",
    ]


def rendered(item: Line) -> list[str]:
    return audit_lines.lines(item, 80)


@pytest.mark.rule("AUD-01")
def test_each_file_with_what_it_was_and_is(run: Path, qrspi: Call) -> None:
    files = (
        Touched("goals.md", OLD, NEW),
        Touched("gone.md", OLD, None),
        Touched("tasks", None, None, "phases/phase-01/tasks"),
    )
    stopped = line("prepare-round", files=(), outcome="stopped: the disk is full")
    write(run, line("approve", files=files, notes=("a note",)), stopped)
    assert qrspi("log", "--files").out.splitlines()[1:] == [
        f"{NOW}  qrspi           approve         goals        1      3",
        "  aaaaaaaaaaaa bbbbbbbbbbbb goals.md",
        "  aaaaaaaaaaaa -            gone.md",
        "  tasks -> phases/phase-01/tasks",
        "  a note",
        f"{NOW}  qrspi           prepare-round (stopped)  goals  1   0",
        "  stopped: the disk is full",
    ]


@pytest.mark.rule("AUD-01", "OUT-02")
def test_one_document_a_line(run: Path, qrspi: Call) -> None:
    moved = (Touched("tasks", None, None, "phases/phase-01/tasks"),)
    write(run, line(notes=("a note",)), line("phase", files=moved), b"bad\n")
    told = qrspi("log", "user-auth", "--json")
    entry = {"schema": "qrspi/log/v1", "run": runs.RUN, "kind": "entry"}
    assert (told.code, told.err) == (0, "")
    assert documents(told.out) == [
        entry | audit_trail.render(line(notes=("a note",))),
        entry | audit_trail.render(line("phase", files=moved)),
        {
            "schema": "qrspi/log/v1",
            "run": runs.RUN,
            "kind": "warning",
            "code": "malformed-line",
            "file": audit_trail.FILE,
            "message": f"{TRAIL} line 1 from the end is not a JSON object: it does not count, "
            "the other lines do",
        },
    ]


@pytest.mark.parametrize(
    ("words", "events"),
    [
        ((), [f"e{number}" for number in range(5, 25)]),
        (("-n", "2"), ["e23", "e24"]),
        (("--lines", "1"), ["e24"]),
        (("-n", "0"), []),
        (("--all",), [f"e{number}" for number in range(25)]),
    ],
)
def test_how_many(run: Path, qrspi: Call, words: tuple[str, ...], events: list[str]) -> None:
    write(run, *(line(f"e{number}") for number in range(25)))
    told = documents(qrspi("log", "--json", *words).out)
    assert [document["event"] for document in told] == events


@pytest.mark.rule("AUD-01")
def test_harm_in_the_trail_is_told_and_hides_nothing(run: Path, qrspi: Call) -> None:
    write(run, line("one"), b"<<<<<<< HEAD\n", b'{"time": 3}\n', line("two"), b'{"time')
    told = qrspi("log")
    assert [row.split()[2] for row in told.out.splitlines()[1:]] == ["one", "two"]
    assert told.err.splitlines() == [
        f"warning: {TRAIL} line 4 from the end is the conflict mark of a merge: keep the "
        "entries of both sides and delete the mark",
        f"warning: {TRAIL} line 3 from the end has no 'time': it is not a line of the trail, "
        "the other lines are",
        f"warning: {TRAIL} line 1 from the end was cut off by a command that was killed: it "
        "does not count, and is kept aside when the next line is added",
    ]
    assert told.code == 0


@pytest.mark.rule("SEC-04")
def test_what_was_slipped_into_the_trail_is_shown_and_not_obeyed(run: Path, qrspi: Call) -> None:
    write(run, line("\x1b[2J", actor="a\nb", step="\u202e", files=(Touched("\x07\udcff"),)))
    assert qrspi("log").out.splitlines()[1] == (
        f"{NOW}  a\\nb            \\x1b[2J         \\u202e       1      \\x07\\udcff"
    )


@pytest.mark.rule("LIV-27")
def test_a_run_begins_with_who_started_it(project: Path, qrspi: Call) -> None:
    qrspi("init", "user-auth", "--pipeline", "quick")
    (entry,) = qrspi("log").out.splitlines()[1:]
    files = "init - - config.md, goals.md, approvals.jsonl".split()
    assert entry.split()[1:] == [git_person.user(), *files]


def test_nothing_yet(run: Path, qrspi: Call) -> None:
    assert qrspi("log") == (0, f"Nothing is on record of {runs.RUN} yet.\n", "")
    assert qrspi("log", "--json") == (0, "", "")
    assert sorted(os.listdir(run)) == ["config.md", "goals.md"]


@pytest.mark.rule("LIV-11")
def test_a_clone_has_no_trail_and_tells_what_was_decided(project: Path, qrspi: Call) -> None:
    qrspi("init", "user-auth", "--pipeline", "quick")
    (run,) = project.glob("docs/qrspi/*")
    shutil.rmtree(run / ".qrspi")
    told = qrspi("log")
    assert [row.split()[1:] for row in told.out.splitlines()[1:]] == [
        [git_person.user(), "init", "-", "-", "-"]
    ]
    note = ".qrspi/audit.jsonl is not here, as git does not keep it: this is approvals.jsonl\n"
    assert (told.code, told.err) == (0, note)
    (entry,) = documents(qrspi("log", "--json").out)
    assert (entry["event"], entry["who"], entry["files"]) == ("init", git_person.user(), [])


def test_a_trail_that_is_no_file(run: Path, qrspi: Call) -> None:
    (run / audit_trail.FILE).mkdir(parents=True)
    assert qrspi("log") == (
        4,
        "",
        f"cannot read {audit_trail.FILE}: it is a directory, expected a regular file\n",
    )


def test_two_ways_to_say_how_many(run: Path, qrspi: Call) -> None:
    told = qrspi("log", "--all", "-n", "3")
    assert (told.code, told.err.splitlines()[0]) == (2, "--all and --lines cannot go together")


@pytest.mark.rule("AUD-01")
def test_lines_are_printed_as_they_come(run: Path) -> None:
    write(run, line("old"), line("before"))
    follower = subprocess.Popen(
        [COMMAND, "log", "--follow", "-n", "1", "--json"], stdout=subprocess.PIPE, text=True
    )
    with follower:
        assert follower.stdout
        assert json.loads(follower.stdout.readline())["event"] == "before"
        for event in ("one", "two"):
            write(run, line(event))
            assert json.loads(follower.stdout.readline())["event"] == event
        follower.stdout.close()
        assert follower.wait(10) == 0


def test_a_follower_starts_at_the_first_line_or_with_the_next(run: Path) -> None:
    write(run, line("one", files=()), line("two", files=()))
    for words, expected in ((("--all",), ["one", "two"]), (("-n", "0"), ["three"])):
        follower = subprocess.Popen(
            [COMMAND, "log", "--follow", *words], stdout=subprocess.PIPE, text=True
        )
        with follower:
            assert follower.stdout
            # Nobody knows when it has begun, so a line is added until it is seen.
            while not select.select([follower.stdout], [], [], 0.5)[0]:
                write(run, line("three", files=()))
            assert follower.stdout.readline().startswith("TIME ")
            events = [follower.stdout.readline().split()[2] for _ in expected]
            follower.stdout.close()
            assert (events, follower.wait(10)) == (expected, 0)


@pytest.mark.rule("LIV-29")
def test_a_long_cell_takes_its_room_from_the_next() -> None:
    found = Line(time=NOW, event="draft-pull-request", step="test", actor="cli")
    row = audit_lines.lines(found, 80)[0]
    head = audit_lines.head(80)
    assert (row[head.index("ROUND")], row[head.index("FILES")]) == ("-", "-")
