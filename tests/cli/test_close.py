from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import runs
from tests.cli.conftest import NOW, Call


@pytest.fixture
def run(project: Path) -> Path:
    return runs.on_disk(project, {"config.md": runs.config("quick"), **runs.approved("goals")})


def test_a_closed_run_leaves_the_status_and_keeps_its_files(run: Path, qrspi: Call) -> None:
    assert qrspi("close", "--reason", " Nobody wants it.\n") == (
        0,
        "Closed 2026-05-17-user-auth: closed.md\n"
        "`qrspi reopen 2026-05-17-user-auth` takes it up again.\n",
        "",
    )
    text = (run / "closed.md").read_text()
    assert text == f"---\nclosed: {NOW}\n---\n\nNobody wants it.\n"
    assert qrspi("status", "--json").json["runs"] == []
    assert [item["closed"] for item in qrspi("status", "--all", "--json").json["runs"]] == [True]
    line = json.loads((run / ".qrspi/audit.jsonl").read_text())
    assert (line["event"], line["notes"]) == ("close", [" Nobody wants it.\n"])


def test_a_closed_run_is_not_closed_twice(run: Path, qrspi: Call) -> None:
    qrspi("close", "--reason", "Nobody wants it.")
    assert qrspi("close", "user-auth", "--reason", "Still true") == (
        3,
        "",
        f"2026-05-17-user-auth is closed since {NOW}, because: Nobody wants it: "
        "`qrspi reopen 2026-05-17-user-auth` takes it up again\n",
    )


def test_reopening_goes_on_where_it_was_left(run: Path, qrspi: Call) -> None:
    before = qrspi("status", "--json").json["runs"]
    qrspi("close", "--reason", "Nobody wants it.")
    assert qrspi("reopen") == (
        0,
        """\
Reopened 2026-05-17-user-auth: closed.md removed

Next: Write questions.md, then run `qrspi next 2026-05-17-user-auth`. \
`qrspi prompt 2026-05-17-user-auth author` prints what to tell an agent.
""",
        "",
    )
    assert qrspi("status", "--json").json["runs"] == before


def test_an_open_run_cannot_be_reopened(run: Path, qrspi: Call) -> None:
    assert qrspi("reopen") == (
        3,
        "",
        "2026-05-17-user-auth is not closed: there is nothing to reopen\n"
        "  qrspi status 2026-05-17-user-auth\n",
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["close"], "Missing option '-m' / '--reason'.\n  qrspi close --help\n"),
        (
            ["close", "--reason", " \n"],
            "the reason is empty: say why in a few words\n  qrspi close --help\n",
        ),
    ],
)
def test_a_reason_is_needed(run: Path, qrspi: Call, words: list[str], error: str) -> None:
    assert qrspi(*words) == (2, "", error)
    assert not (run / "closed.md").exists()


@pytest.mark.rule("OUT-10")
def test_dry_runs(run: Path, qrspi: Call) -> None:
    assert qrspi("close", "--reason", "No", "--dry-run").out.startswith("Would close 2026-05-17")
    assert sorted(path.name for path in run.iterdir()) == ["config.md", "goals.md"]
    qrspi("close", "--reason", "No")
    assert qrspi("reopen", "--dry-run").out.startswith("Would reopen 2026-05-17-user-auth")
    assert (run / "closed.md").exists()


@pytest.mark.rule("LIV-02", "LIV-04")
def test_a_closed_run_says_so_wherever_it_is_asked_about(run: Path, qrspi: Call) -> None:
    qrspi("close", "--reason", "Nobody wants it.")
    reopen = f"qrspi reopen {runs.RUN}"
    since = f"closed since {NOW}, because: Nobody wants it"
    said = f"Next: The run is {since}; `{reopen}` takes it up again.\n"
    assert qrspi("next", runs.RUN).out.endswith(said)
    assert qrspi("next", runs.RUN, "--dispatch").out.endswith(said)
    assert qrspi("status", runs.RUN, "--json").json["runs"][0]["next"]["command"] == reopen
    refused = f"{runs.RUN} is {since}: `{reopen}` takes it up again\n"
    asked = (
        ["approve", runs.RUN, "questions"],
        ["reject", runs.RUN, "-m", "Too long."],
        ["unapprove", runs.RUN, "goals"],
        ["rewind", runs.RUN, "--to", "goals"],
        ["decide", runs.RUN, "--all", "apply"],
        ["resolve", runs.RUN, "loop"],
        ["task", "start", runs.RUN],
        ["task", "skip", runs.RUN, "task-01", "--reason", "Not needed."],
    )
    assert qrspi("next", runs.RUN, "--onto", "main").err == refused
    assert {words[0]: (qrspi(*words).code, qrspi(*words).err) for words in asked} == {
        words[0]: (3, refused) for words in asked
    }


def test_the_status_counts_the_closed_runs_that_it_leaves_out(
    run: Path, project: Path, qrspi: Call
) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick")}, "2026-05-18-other-run")
    qrspi("close", runs.RUN, "--reason", "Nobody wants it.")
    assert qrspi("status").out.endswith("\n1 closed run is left out; `--all` shows it.\n")
    assert "left out" not in qrspi("status", "--all").out


@pytest.mark.rule("LIV-02")
@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("close -m TEXT", "-m"),
        ("reject goals -m TEXT", "-m"),
        ("task accept 01 --reason TEXT", "--reason"),
        ("test report --passed -m TEXT", "-m"),
        ("approve goals --failing -m REASON", "-m"),
    ],
)
def test_what_stands_for_words_is_not_put_on_record(
    run: Path, qrspi: Call, command: str, option: str
) -> None:
    before = runs.contents(run)
    said = command.rpartition(" ")[2]
    text = f"{option}: {said} only stands for your own words; say them in its place\n"
    assert qrspi(*command.split()) == (2, "", text)
    assert runs.contents(run) == before
