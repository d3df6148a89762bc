"""What helps with the commands themselves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from qrspi import __version__
from qrspi.cli.verb_table import VERBS
from tests.cli.conftest import COMMAND, Call

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("words", [["--version"], ["--json", "--version"]])
def test_the_version(qrspi: Call, words: list[str]) -> None:
    assert qrspi(*words) == (0, f"qrspi {__version__}\n", "")


def test_the_module_is_the_command() -> None:
    words = [sys.executable, "-m", "qrspi", "--version"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"qrspi {__version__}\n")


def test_help_names_every_command(qrspi: Call) -> None:
    listed = {line.split()[0] for line in qrspi("--help").out.splitlines() if line.strip()}
    assert set(VERBS) - listed == set()


@pytest.mark.rule("LIV-27")
def test_help_begins_with_the_five_commands_of_a_day(qrspi: Call) -> None:
    sections = qrspi("--help").out.partition("\nEvery day:\n")[2].split("\n\n")
    assert [line.split()[0] for line in sections[0].splitlines()] == [
        "init",
        "status",
        "next",
        "prompt",
        "approve",
    ]


@pytest.mark.rule("OUT-03")
def test_what_is_missing_is_said_in_one_line(qrspi: Call) -> None:
    said = "Missing option '--status'. Choose from: done, done_with_concerns, blocked"
    assert qrspi("--json", "task", "report", "task-01").json["message"] == said


@pytest.mark.rule("LIV-27")
@pytest.mark.parametrize(
    ("word", "ending"),
    [
        ("aprove", "; did you mean approve?"),
        ("stauts", "; did you mean status?"),
        ("xyzzy", ""),
    ],
)
def test_a_command_that_is_spelled_wrongly(qrspi: Call, word: str, ending: str) -> None:
    said = f"no such command {word!r}{ending}\n  qrspi --help\n"
    assert qrspi(word) == (2, "", said)


@pytest.mark.rule("LIV-27")
def test_the_bare_word_shows_every_command_on_one_screen(qrspi: Call) -> None:
    result = qrspi()
    assert (result.code, result.out) == (2, "")
    top, more = result.err.split("\nMore, which `qrspi --help` explains:\n")
    first, *others = top.split("\nEvery day:\n")[1].splitlines()
    assert first.split() == 'init "TEXT"  Start a run: what you want, in your words.'.split()
    assert [line.split()[0] for line in others] == ["status", "next", "prompt", "approve"]
    named = {word.strip(",") for word in f"{top}{more}".split()}
    assert set(VERBS) <= named
    assert len(result.err.splitlines()) <= 24


@pytest.mark.parametrize("words", [("config",), ("round",)])
def test_without_a_command_the_help_is_shown(qrspi: Call, words: tuple[str, ...]) -> None:
    assert qrspi(*words) == (2, "", qrspi(*words, "--help").out)


def test_without_a_command_a_program_gets_an_error(qrspi: Call) -> None:
    result = qrspi("--json", "config")
    assert (result.code, result.json["code"], result.json["message"], result.json["hint"]) == (
        2,
        "usage",
        "Missing command.",
        "qrspi config --help",
    )


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help(qrspi: Call, verb: str) -> None:
    result = qrspi(verb, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: qrspi {verb} [OPTIONS]")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(qrspi: Call, shell: str) -> None:
    result = qrspi("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert f"_QRSPI_COMPLETE={shell}_complete" in result.out


def test_words_are_completed() -> None:
    environment = {"_QRSPI_COMPLETE": "bash_complete", "COMP_WORDS": "qrspi sta", "COMP_CWORD": "1"}
    done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "plain,status")


def test_an_unknown_shell(qrspi: Call) -> None:
    assert qrspi("completion", "tcsh") == (
        2,
        "",
        "Invalid value for '{bash|zsh|fish}': 'tcsh' is not one of 'bash', 'zsh', 'fish'.\n"
        "  qrspi completion --help\n",
    )


PATH = "schemas/finding.schema.json"  # as `next --json` names it


@pytest.mark.rule("OUT-02")
def test_schemas_are_listed_and_printed(qrspi: Call) -> None:
    names = sorted(path.name.partition(".")[0] for path in (ROOT / "schemas").glob("*.json"))
    listed = qrspi("schema", "--json").json["schemas"]
    assert [item["name"] for item in listed] == names
    assert [line.split()[0] for line in qrspi("schema").out.splitlines()] == ["NAME", *names]
    for word in ("finding", "qrspi/finding/v1", "finding.schema.json", PATH):
        printed = qrspi("schema", word)
        assert printed.out == (ROOT / "schemas/finding.schema.json").read_text("utf-8")
        assert json.loads(printed.out)["$schema"].endswith("2020-12/schema")


def test_an_unknown_schema(qrspi: Call) -> None:
    assert qrspi("schema", "findings") == (
        2,
        "",
        "there is no schema 'findings'; `qrspi schema` lists them all\n  qrspi schema finding\n",
    )


def test_the_roles_can_be_looked_at_before_there_is_a_project(
    qrspi: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QRSPI_ROOT", raising=False)
    listed = qrspi("roles", "list", "--json")
    assert (listed.code, {role["shipped"] for role in listed.json["roles"]}) == (0, {True})
    assert qrspi("--root", "nowhere", "roles", "list").code == 2
