"""A run to take away."""

from __future__ import annotations

import json
import os
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from qrspi.handlers.tasks import reports
from tests import runs, scenes
from tests.deliveries import quick
from tests.forked_command import qrspi
from tests.handlers.workshop import Workshop


def report(run: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [qrspi(), "report", runs.RUN, *words]
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
    because = "goals round 1: anchor: 000000000000 is not a commit of this run's history"
    assert plain.stdout.endswith(f"derived again: 1 missing.\n- {because}\n")
    done = report(run, "--html", str(tmp_path / "a.html"))
    assert done.returncode == 0
    assert f"<li>{because}</li>" in unescape((tmp_path / "a.html").read_text())


@pytest.mark.rule("WEB-14")
def test_it_has_the_track_the_decisions_the_plot_and_the_spend(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    folder = run.parents[2]
    cost = ("--role", "quality", "--model", "large", "--usd", "0.25", "--input-tokens", "90")
    spent = ("spend", "add", runs.RUN, "--step", "goals", "--round", "1", *cost)
    for words in (("close", runs.RUN, "--reason", "Later."), ("reopen", runs.RUN), spent):
        subprocess.run([qrspi(), *words], cwd=folder, check=True, capture_output=True)
    assert report(run, "--html", str(tmp_path / "a.html")).returncode == 0
    html, plain = unescape((tmp_path / "a.html").read_text()), report(run).stdout
    decided = re.findall(r"^- \S+Z Ada Example: (.+)$", plain, re.MULTILINE)
    assert decided == ["close: Later.", "reopen"]
    assert html.count("Ada Example") == 2
    assert "\n1 call, 90 tokens, 0.2500 USD.\n" in plain
    assert "1 call, 90 tokens, 0.2500 USD." in html
    assert "Round 1: 1 kept, 1 part in scope, the whole text. Round 2: 0 kept" in html
    assert plain.count("\n- [ ] ") == html.count('<li class="pending">') == 10


@pytest.mark.rule("WEB-14", "SEC-23")
def test_a_forged_decision_is_no_more_than_words(run: Path) -> None:
    line = {"step": "[a](b)", "body_hash": "", "round": 0, "event": "<img src=x>"}
    line |= {"who": "Mallory", "when": "<b>"}
    with (run / "approvals.jsonl").open("a") as file:
        file.write(f"{json.dumps(line)}\n")
    told = next(one for one in report(run).stdout.splitlines() if "Mallory" in one)
    assert re.findall(r"(?<!\\)[<\[]", told) == []


@pytest.fixture
def delivered(tmp_path: Path) -> Path:
    """A task whose implementer has concerns, and whose reviewer found something."""
    shop = Workshop(tmp_path / "shop", quick())
    shop.did()
    shop.work("task-01", "a.py", "a = 1\n")
    concerns = "The name stays.\nAsk <Ann> about it."
    shop.make(lambda job: reports.report(job, "task-01", "DONE_WITH_CONCERNS", "HEAD", concerns))
    shop.did()
    shop.review("task-01", 1, wrong="It fails.")
    return shop.run


TASKS = """\
## implement

### task-01: Part 1

reviewing, reported DONE\\_WITH\\_CONCERNS.

> The name stays.
> Ask \\<Ann\\> about it.

| round | stage | kept | dropped | looked at |
|---|---|---|---|---|
| 1 | scored | 1 | 0 | the whole text |

**spec-claude.R1-F01** (medium, correctness): kept, score 90 reaches 70 for correctness

> It fails.

"""


@pytest.mark.rule("WEB-14")
def test_it_has_the_tasks_and_what_their_implementers_say(delivered: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    plain = report(delivered).stdout
    found = plain[plain.index("## implement") : plain.index("## Decisions")]
    assert found == TASKS
    assert report(delivered, "--html", str(tmp_path / "a.html")).returncode == 0
    html = unescape((tmp_path / "a.html").read_text())
    assert "<h3>task-01: " in html and "Ask <Ann> about it." in html


@pytest.mark.rule("WEB-14", "LIV-01")
def test_it_says_what_was_decided_and_what_a_quick_run_approved_by_itself(run: Path) -> None:
    lines = [
        {"event": "decide", "who": "Ann <a@b.c>", "finding": "scope-claude.R1-F01"},
        {"event": "approve", "who": "qrspi", "surface": "cascade", "note": "initial-clean"},
    ]
    lines[0] |= {"option": "apply", "surface": "cli"}
    with (run / "approvals.jsonl").open("a") as file:
        for line in lines:
            about = {"step": "design", "body_hash": "", "round": 1, "when": "2026-05-17T09:00:00Z"}
            file.write(f"{json.dumps(about | line)}\n")
    told = [one for one in report(run).stdout.splitlines() if "2026-05-17T09:00:00Z" in one]
    assert told == [
        "- 2026-05-17T09:00:00Z Ann: decide design: scope-claude.R1-F01 apply",
        "- 2026-05-17T09:00:00Z qrspi: approve design by itself: initial-clean",
    ]


@pytest.mark.rule("WEB-14", "LIV-01")
@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ((), "1 call. Nobody said what 1 call cost."),
        (("--input-tokens", "9"), "1 call, 9 tokens. Nobody said what 1 call cost."),
        (("--usd", "0.5"), "1 call, 0 tokens, 0.5000 USD."),
    ],
)
def test_what_nobody_said_is_no_zero(run: Path, cost: tuple[str, ...], said: str) -> None:
    words = ("spend", "add", runs.RUN, "--step", "goals", "--role", "quality", "--model", "x")
    folder = run.parents[2]
    subprocess.run([qrspi(), *words, *cost], cwd=folder, check=True, capture_output=True)
    assert f"\n## Spend\n\n{said}\n" in report(run).stdout


@pytest.mark.rule("WEB-14")
def test_a_message_of_several_lines_stays_so(run: Path) -> None:
    file = run / "reviews/goals/round-01/quality-claude.finding-F01.md"
    text = file.read_bytes().replace(b"claim contradicts", b"claim\ncontradicts")
    file.write_bytes(text)
    assert "\n> The second claim\n> contradicts the first.\n" in report(run).stdout
