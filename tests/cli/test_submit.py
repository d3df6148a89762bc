"""`qrspi submit`: what an agent answered to a person."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests import runs, scenes
from tests.cli.conftest import Call

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
RUN = runs.RUN
QUESTIONS = "## Q1: Which?\n\nThis.\n\n## Q2: Where?\n\nThere.\n"


def checked(document: object, name: str) -> object:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


@pytest.fixture
def asking(project: Path) -> Path:
    """A run that waits for two answers of research."""
    files = {
        "config.md": runs.config(),
        **runs.approved("goals"),
        "questions.md": runs.artifact("approved", f"# Questions\n\n{QUESTIONS}"),
    }
    scenes.git(project, "init", "-q", "-b", "main")
    run = runs.on_disk(project, files)
    scenes.commit_all(project)
    return run


@pytest.mark.rule("HST-03", "OUT-10")
def test_a_dry_run_says_what_would_be_written(asking: Path, qrspi: Call, tmp_path: Path) -> None:
    reply = tmp_path / "reply.md"
    reply.write_text("---\nstatus: approved\n---\n# Answer\n\nThis one.\n")
    before = runs.contents(asking)
    words = ("submit", "artifact", reply, RUN, "research", "--name", "q01-hybrid")
    done = qrspi(*words, "--dry-run")
    assert (done.code, done.out.splitlines()[:2]) == (
        0,
        [
            "research: the text of q01-hybrid would be taken in.",
            "  would write research/q01-hybrid.md",
        ],
    )
    assert runs.contents(asking) == before
    document = qrspi(*words, "--json").json
    checked(document, "submit-artifact")
    assert (document["name"], document["files"]) == ("q01-hybrid", ["research/q01-hybrid.md"])
    written = "---\nstatus: draft\n---\n# Answer\n\nThis one.\n"
    assert (asking / "research/q01-hybrid.md").read_text() == written


@pytest.mark.rule("HST-03")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "research waits for 2 texts, q01-hybrid, q02-hybrid: say whose this is"),
        ("q03", "research waits for no text of 'q03', but of q01-hybrid, q02-hybrid"),
    ],
)
def test_of_several_texts_it_is_said_whose_this_is(
    name: str, said: str, asking: Path, qrspi: Call, tmp_path: Path
) -> None:
    reply = tmp_path / "reply.md"
    reply.write_text("# Answer\n")
    done = qrspi("submit", "artifact", reply, RUN, "research", "--name", name)
    assert (done.code, done.err) == (3, f"{said}\n")
    assert not (asking / "research").exists()


@pytest.mark.rule("HST-03")
def test_what_is_no_text_is_refused(asking: Path, qrspi: Call, tmp_path: Path) -> None:
    reply = tmp_path / "reply.md"
    reply.write_bytes(b"# Answer \xff\n")
    done = qrspi("submit", "artifact", reply, RUN, "research", "--name", "q01-hybrid")
    assert (done.code, done.err) == (3, "the text is not UTF-8: byte 9 is 0xff\n")


def test_standard_input_is_read(asking: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"---\n---\n# Answer\n")))
    assert qrspi("submit", "artifact", "-", "research", "--name", "q02-hybrid", "-q").code == 0
    assert (asking / "research/q02-hybrid.md").exists()
