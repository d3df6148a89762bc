"""What is wrong with how a command was called has a name, as it was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import scenes
from tests.cli.conftest import Call
from tests.runs import RUN


@pytest.fixture
def run(project: Path) -> Path:
    return scenes.prepared(project)


@pytest.mark.rule("OUT-03")
@pytest.mark.parametrize(
    ("words", "field", "found", "expected"),
    [
        ("status a b", "", "b", ""),
        ("frob", "COMMAND", "frob", ""),
        ("next --frob", "--frob", "", ""),
        ("next --max-calls x", "--max-calls", "x", "integer range"),
        ("wait --for x", "--for", "x", "human, agent, change"),
        ("ingest", "FILE", "", "a value"),
        ("split absent", "FILE", "absent", "filename"),
        ("rewind", "--to", "", "a value"),
        ("init user-auth --quick --date x", "--date", "x", ""),
        ("config set", "KEY", "", ""),
        ("show a b c", "", "c", "qrspi show [RUN] [STEP] [--round N]"),
        ("close", "--reason", "", "a value"),
    ],
)
def test_a_usage_error_names_its_part(
    run: Path, qrspi: Call, words: str, field: str, found: str, expected: str
) -> None:
    refused = qrspi(*words.split(), "--json")
    told = refused.json
    assert (refused.code, told["code"]) == (2, "usage")
    assert (told["field"], told["found"], told["expected"]) == (field, found, expected)


@pytest.mark.rule("LIV-02")
@pytest.mark.parametrize("name", ["-m", "--message"])
def test_an_option_is_named_as_it_was_typed(run: Path, qrspi: Call, name: str) -> None:
    told = qrspi("comment", "add", "goals.md:L1", name, "", "--json").json
    assert (told["field"], told["message"]) == (name, f"say it: {name} TEXT")
    told = qrspi("approve", RUN, "goals", f"{name}", "Because.", "--json").json
    assert (told["field"], name in told["message"]) == ("--failing", True)


@pytest.mark.rule("LIV-02")
def test_so_is_the_reason_of_a_close(run: Path, qrspi: Call) -> None:
    assert qrspi("close", "--reason", " ", "--json").json["field"] == "--reason"
    assert qrspi("close", "-m", " ", "--json").json["field"] == "-m"


@pytest.mark.rule("OUT-03")
@pytest.mark.parametrize("verb", ["split", "ingest"])
def test_a_text_that_holds_no_finding_is_named_by_its_file(
    run: Path, project: Path, qrspi: Call, verb: str
) -> None:
    (project / "reply.md").write_text("hello\n")
    words = (verb, "reply.md", RUN, "goals", "--tag", "quality-claude", "--round", "1")
    told = qrspi(*words, "--json").json
    assert (told["code"], told["file"]) == ("unsplittable", "reply.md")
