"""Comments on lines: they move with their text, and whoever writes it next reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qrspi.core.model import Problem
from qrspi.core.records import comments
from qrspi.core.records.comments import Comment
from qrspi.core.tree import MemoryTree
from tests import runs, scenes
from tests.cli.conftest import Call

TEXT = "one\ntwo\nthree\nfour\n"
TWO = Comment("c1", "goals.md", 2, 3, "two\nthree", "Why both?", "Ada <ada@x>", "then")


@pytest.mark.rule("PPL-02")
@pytest.mark.parametrize(
    ("text", "place", "cited"),
    [
        (TEXT, "same", "goals.md:L2-L3"),
        ("new\n" + TEXT, "moved", "goals.md:L3-L4"),
        ("two\nthree\nx\nx\nx\ntwo\nthree\n", "moved", "goals.md:L1-L2"),
        ("one\ntwo!\nthree\n", "changed", "goals.md:L2-L3"),
        ("nothing of it\n", "changed", "goals.md:L2"),
    ],
)
def test_a_comment_moves_with_its_lines(text: str, place: str, cited: str) -> None:
    found = comments.placed(MemoryTree({"goals.md": text.encode()}), TWO)
    assert (found.place, found.cited) == (place, cited)
    assert comments.placed(MemoryTree({}), TWO).place == "gone"


@pytest.mark.rule("PPL-02")
def test_what_is_written_is_read_back() -> None:
    data = comments.render(TWO) + comments.render_resolved("c1", "Bob", "later")
    (found,) = comments.read(MemoryTree({comments.FILE: data})) or (None,)
    assert found == TWO._replace(resolved="later", resolved_by="Bob")
    assert comments.next_id([TWO]) == "c2"


@pytest.mark.parametrize(
    "line", [b"x", b"[]", b"{}", b'{"id": 1}', b'{"id": "c1"}', b'{"event": "resolve", "id": "c9"}']
)
def test_a_line_that_is_no_comment_is_told(line: bytes) -> None:
    found = comments.read(MemoryTree({comments.FILE: line}))
    assert isinstance(found, Problem)
    assert found.message == (
        f"{comments.FILE} line 1 is not a comment: correct it or restore the file"
    )


@pytest.fixture
def run(project: Path) -> Path:
    files = {
        "config.md": runs.config("quick"),
        "goals.md": runs.artifact(body="# Goals\n\nWords.\n"),
    }
    return runs.on_disk(project, files)


@pytest.mark.rule("PPL-02")
def test_a_comment_is_made_listed_shown_and_resolved(run: Path, qrspi: Call) -> None:
    done = qrspi("comment", "goals.md:L7", "-m", "Which words?", "--json")
    assert (done.code, done.json["id"]) == (0, "c1")
    assert qrspi("comment", "list").out == (
        f"c1 goals.md:L7, {who(run)}\n  > Words.\n  Which words?\n"
    )
    goals = run / "goals.md"
    goals.write_text(goals.read_text().replace("# Goals\n", "# Goals\n\nMore.\n"))
    listed = qrspi("comment", "list", "--json").json["comments"]
    assert [(one["id"], one["place"], one["start"]) for one in listed] == [("c1", "moved", 9)]
    assert "c1 goals.md:L9" in qrspi("show", "goals").out
    assert "## Open comments\n\n- c1 goals.md:L9: Which words?" in qrspi("brief").out
    assert qrspi("comment", "resolve", "c1").code == 0
    assert qrspi("comment", "list").out == f"{run.name} has no open comment.\n"
    again = qrspi("comment", "resolve", "c1", "--json")
    assert (again.code, again.json["code"]) == (3, "already-resolved")
    assert "None is open." in (run / "feedback/goals-comments.md").read_text()


def who(run: Path) -> str:
    line = json.loads((run / comments.FILE).read_text().splitlines()[0])
    return str(line["who"]).partition(" <")[0]


@pytest.mark.rule("PPL-02")
def test_whoever_writes_the_text_next_is_told(run: Path, qrspi: Call) -> None:
    qrspi("comment", "goals.md:L7", "-m", "Which words?")
    qrspi("reject", "goals", "-m", "Say more.")
    answer = qrspi("status", "--json").json["runs"][0]["next"]
    assert answer["action"] == "author"
    assert "feedback/goals-comments.md" in answer["inputs"]
    page = (run / "feedback/goals-comments.md").read_text()
    assert page == (
        "# Comments on goals\n\nEach is about the lines that are quoted with it.\n\n"
        f"## c1: goals.md:L7, {who(run)}\n\n> Words.\n\n| Which words?\n"
    )
    qrspi("next")
    prompt = (run / ".qrspi/dispatch/goals/author.md").read_text()
    assert f"{run}/feedback/goals-comments.md" in prompt


@pytest.mark.rule("PPL-02", "LIV-10")
def test_a_gate_tells_of_comments_that_nobody_dealt_with(
    tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes.clean(tmp_path)
    monkeypatch.chdir(tmp_path)
    qrspi("comment", "goals.md:L7", "-m", "Which words?")
    told = "Not dealt with: 1 comment about it, which whoever writes it next would read"
    assert told in qrspi("next").out
    qrspi("comment", "resolve", "c1")
    assert told not in qrspi("next").out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("goals.md", "-m", "x"), 2, "'goals.md' names no lines; expected a file with its lines"),
        (("goals.md:L99", "-m", "x"), 3, "goals.md has 7 lines; L99-L99 is not among them"),
        (("config.md:L1", "-m", "x"), 3, "config.md is not the text of a step"),
        (("design.md:L1", "-m", "x"), 3, "design.md cannot be read (it is not there)"),
        (("goals.md:L7",), 2, "say it: -m TEXT"),
        (("resolve", "c7"), 3, "there is no comment 'c7'"),
    ],
)
def test_what_cannot_be_commented(
    run: Path, qrspi: Call, words: tuple[str, ...], code: int, said: str
) -> None:
    done = qrspi("comment", *words)
    assert (done.code, done.err.startswith(said)) == (code, True), done.err
    assert not (run / "feedback").exists()


@pytest.mark.rule("PPL-02")
def test_a_rehearsal_writes_nothing(run: Path, qrspi: Call) -> None:
    path = f"docs/qrspi/{run.name}/goals.md:L7"
    done = qrspi("comment", path, "-m", "Which?", "--dry-run")
    assert (done.code, done.out.splitlines()[0]) == (
        0,
        "Would comment on goals.md:L7: c1. Whoever writes goals.md next reads it; a comment alone "
        "sends nobody.",
    )
    assert not (run / "feedback").exists()
