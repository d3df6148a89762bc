"""A run to take away."""

from __future__ import annotations

import os
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.cli.conftest import COMMAND


def report(run: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [COMMAND, "report", runs.RUN, *words]
    return subprocess.run(command, cwd=run.parents[2], capture_output=True, text=True)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    found = scenes.fixed(tmp_path / "shop")
    scenes.advance(found)
    return found


@pytest.mark.rule("WEB-14")
def test_the_same_files_give_the_same_bytes(run: Path) -> None:
    first, second = report(run), report(run)
    assert (first.returncode, first.stdout) == (0, second.stdout)
    assert first.stdout.startswith(f"# {runs.RUN}\n\nfull pipeline, phase 1.\n\n- [~] goals\n")
    assert "\n> The second claim contradicts the first.\n" in first.stdout
    assert "\n## Proof\n" in first.stdout


@pytest.mark.rule("WEB-14")
def test_html_is_one_file_without_script(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    folder = tmp_path / "out"
    folder.mkdir()
    files = [folder / "a.html", folder / "b.html"]
    for file in files:
        done = report(run, "--html", str(file))
        assert (done.returncode, done.stdout) == (0, f"Wrote {file}.\n")
    text = files[0].read_text()
    assert text == files[1].read_text()
    assert re.findall(r"<(script|link|img|iframe)\b|\bsrc=|https?://", text) == []
    assert "The second claim contradicts the first." in text
    assert sorted(os.listdir(folder)) == ["a.html", "b.html"]


@pytest.mark.rule("WEB-14")
def test_a_file_that_cannot_be_written_is_said(run: Path, tmp_path: Path) -> None:
    done = report(run, "--md", str(tmp_path / "none" / "a.md"))
    assert (done.returncode, done.stdout) == (4, "")


@pytest.mark.rule("WEB-14")
def test_what_cannot_be_proven_is_said(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    scenes.save(run / scenes.ANCHOR, b"0" * 40 + b"\n")
    plain = report(run)
    because = "goals round 1: anchor: 000000000000 is no commit of this run's history"
    assert plain.stdout.endswith(f"derived again: 1 missing.\n- {because}\n")
    done = report(run, "--html", str(tmp_path / "a.html"))
    assert done.returncode == 0
    assert f"<li>{because}</li>" in unescape((tmp_path / "a.html").read_text())
