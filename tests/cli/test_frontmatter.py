from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests import runs
from tests.cli.conftest import Call

TEXT = (
    b"\xef\xbb\xbf---\r\n# why\r\nstatus:   draft  # not yet\r\ntags: [a, 'b']\r\n---\r\nBody\r\n"
)


@pytest.fixture
def file(project: Path) -> Path:
    path = project / "notes.md"
    path.write_bytes(TEXT)
    return path


@pytest.mark.parametrize(
    ("key", "shown", "value"), [("status", "draft\n", "draft"), ("tags", "[a, 'b']\n", ["a", "b"])]
)
def test_get(file: Path, qrspi: Call, key: str, shown: str, value: object) -> None:
    assert qrspi("frontmatter", "get", file, key) == (0, shown, "")
    document = qrspi("frontmatter", "get", file, key, "--json").json
    assert document == {"schema": "qrspi/frontmatter-get/v1", "value": value}


@pytest.mark.rule("FM-06")
def test_set_changes_one_value_and_no_other_byte(file: Path, qrspi: Call) -> None:
    assert qrspi("frontmatter", "set", "notes.md", "status", "approved") == (
        0,
        "Changed notes.md:\n  - status:   draft  # not yet\n  + status:   approved  # not yet\n",
        "",
    )
    assert file.read_bytes() == TEXT.replace(b"draft", b"approved")
    assert sorted(path.name for path in file.parent.iterdir()) == ["docs", "notes.md"]


@pytest.mark.rule("OUT-10")
def test_a_dry_run_only_says_so(file: Path, qrspi: Call) -> None:
    result = qrspi("frontmatter", "set", "notes.md", "owner", "ada", "--dry-run")
    assert result == (0, "Would change notes.md:\n  + owner: ada\n", "")
    assert file.read_bytes() == TEXT


def test_the_same_value_is_not_written_again(file: Path, qrspi: Call) -> None:
    before = file.stat()
    result = qrspi("frontmatter", "set", file, "status", "draft")
    assert result == (0, f"{file} stays as it is: the field has this value.\n", "")
    assert file.stat() == before


def test_in_a_run_the_change_is_on_record(project: Path, qrspi: Call) -> None:
    run = runs.on_disk(project, {"config.md": runs.config(), "goals.md": runs.artifact()})
    result = qrspi("frontmatter", "set", run / "goals.md", "status", "approved")
    assert (result.code, result.err) == (
        0,
        "No approval is on record for this: only the command approve records one.\n",
    )
    line = json.loads((run / ".qrspi/audit.jsonl").read_text())
    assert (line["event"], line["notes"], [file["path"] for file in line["files"]]) == (
        "frontmatter-set",
        ["status: approved"],
        ["goals.md"],
    )


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ("get missing.md status", 2, "missing.md is not there"),
        ("get docs status", 3, "docs is a directory; expected a regular file; it is not opened"),
        (
            "get link.md status",
            3,
            "link.md is a symlink; expected a regular file; it is not opened",
        ),
        ("get pipe status", 3, "pipe is a fifo; expected a regular file; it is not opened"),
        ("get notes.md owner", 3, "notes.md has no field 'owner'; it has status, tags"),
        ("get plain.md owner", 3, "plain.md has no field 'owner'; it has no field"),
        (
            "get bad.md status",
            3,
            "bad.md:1:1: frontmatter without an end: no further line is '---' alone",
        ),
        (
            "set notes.md status a:\tb",
            3,
            "notes.md: cannot set 'status' to 'a:\\tb', expected one YAML value on one line",
        ),
        (
            "set link.md status draft",
            3,
            "link.md is a symlink; expected a regular file; it is not opened",
        ),
    ],
)
def test_what_cannot_be_read_or_set(
    file: Path, qrspi: Call, words: str, code: int, error: str
) -> None:
    (file.parent / "link.md").symlink_to(file)
    os.mkfifo(file.parent / "pipe")
    (file.parent / "plain.md").write_text("# No frontmatter\n")
    (file.parent / "bad.md").write_text("---\nstatus: draft\n")
    result = qrspi("frontmatter", *words.split(" "))
    assert (result.code, result.err.partition("\n")[0]) == (code, error)
    assert file.read_bytes() == TEXT
