"""Every command that changes a run leaves one line in the audit trail for each thing it did, which
names each file that changed with its hash before and after, and no other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import quick, runs
from tests.cli.conftest import NOW, Call
from tests.project import Project
from tests.quick import place, put
from tests.runs import contents

TRAIL = ".qrspi/audit.jsonl"


class Story:
    """A run, commands on it, and what each left in the trail."""

    def __init__(self, root: Path, run: Path, qrspi: Call) -> None:
        self.root, self.run, self.qrspi = root, run, qrspi

    def command(self, *words: str, code: int = 0) -> list[Any]:
        """The lines that a command added, held against the files it changed."""
        before, known = self._hashes(), len(runs.lines(self.run, TRAIL))
        told = self.qrspi(*words)
        assert told.code == code, (told.out, told.err)
        added = runs.lines(self.run, TRAIL)[known:]
        assert self._replayed(before, added) == self._hashes(), words
        return added

    def events(self, *words: str) -> list[tuple[str, str, int | None]]:
        return [(line["event"], line["step"], line["round"]) for line in self.command(*words)]

    def _hashes(self) -> dict[str, str]:
        found = contents(self.run)
        return {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}

    def _replayed(self, files: dict[str, str], added: list[Any]) -> dict[str, str]:
        """What the trail says became of the files."""
        for line in added:
            assert (line["time"], line["actor"], line["files"] != []) == (NOW, "cli", True), line
            for file in line["files"]:
                assert files.get(file["path"]) == file["before"], file
                assert file["before"] != file["after"], file
                files.pop(file["path"], None)
                if file["after"]:
                    files[file["path"]] = file["after"]
        return files

    def commit(self) -> None:
        Project(self.root).commit()


@pytest.fixture
def story(project: Path, qrspi: Call) -> Callable[..., Story]:
    def tell(step: str, **config: str) -> Story:
        run = quick.make(project, step, git=True, **config)
        return Story(project, run, qrspi)

    return tell


Tell = Callable[..., Story]


@pytest.mark.rule("AUD-01")
def test_reviews_that_end_in_a_cascade(story: Tell) -> None:
    told = story("questions")
    assert told.events("next") == [("prepare-round", "questions", 1)]
    quick.find(told.run, "questions")
    assert told.events("next") == [("assemble", "questions", 1)]
    quick.fix(told.run, "questions", 1)
    assert told.events("next") == [
        ("commit-round", "questions", 1),
        ("choose-loop", "questions", 1),
        ("prepare-round", "questions", 2),
    ]
    quick.say_clean(told.run, "questions", 2)
    assert told.events("next") == [("assemble", "questions", 2), ("cascade", "questions", 2)]
    assert told.events("next") == []
    assert told.events("status") == []


@pytest.mark.rule("AUD-01")
def test_decisions_of_people(story: Tell) -> None:
    told = story("goals")
    told.events("next")
    quick.say_clean(told.run, "goals")
    told.events("next")
    assert told.events("approve", "goals", "--yes") == [("approve", "goals", 1)]
    assert told.events("unapprove", "goals") == [("unapprove", "goals", 1)]
    assert told.events("reject", "goals", "-m", "Say more.") == [("reject", "goals", 1)]
    assert told.command("approve", "goals", code=3) == []
    approve = ("approve", "goals", "--yes", "--unreviewed")
    assert told.events(*approve) == [("approve", "goals", 1)]
    assert told.events("rewind", "--to", "goals", "--yes") == [("rewind", "goals", 1)]


@pytest.mark.rule("AUD-01")
def test_menus_and_findings_that_wait(story: Tell) -> None:
    told = story("goals")
    told.events("next")
    folder = place("goals")
    kind = runs.finding("scope-claude", kind="scope", cites="goals.md:L7")
    put(told.run, f"{folder}/scope-claude.finding-F01.md", kind)
    assert told.events("resolve", "skip") == [("skip", "goals", 1)]
    assert told.events("next") == [("assemble", "goals", 1)]
    assert told.events("decide", "scope-claude.R1-F01", "skip")[0] == ("decide", "goals", 1)
    assert told.events("next") == [("commit-round", "goals", 1)]


@pytest.mark.rule("AUD-01")
def test_a_reviewer_that_is_sent_again(story: Tell) -> None:
    told = story("goals")
    told.events("next")
    put(told.run, f"{place('goals')}/quality-claude.finding-F01.md", "no frontmatter\n")
    quick.say_clean(told.run, "goals")
    assert told.events("resolve", "retry") == [("retry", "goals", 1)]


@pytest.mark.rule("AUD-01")
def test_settings(story: Tell) -> None:
    told = story("goals")
    assert len(told.events("config", "set", "question_budget", "7")) == 1
    assert len(told.events("route", "set", "full")) == 1
    assert len(told.events("close", "--reason", "Not now.")) == 1
    assert len(told.events("reopen")) == 1
    owner = ("frontmatter", "set", str(told.run / "goals.md"), "owner", "ada")
    assert len(told.events(*owner)) == 1


@pytest.mark.rule("AUD-01", "CFG-11")
def test_a_setting_that_is_written_back(story: Tell) -> None:
    told = story("goals")
    config = runs.config("quick", drop=("scope_tagger_enabled",))
    put(told.run, "config.md", config)
    told.commit()
    assert told.events("next") == [("backfill", "goals", None), ("prepare-round", "goals", 1)]


@pytest.mark.rule("AUD-01")
def test_the_parts_of_a_round(story: Tell) -> None:
    told = story("goals")
    assert told.events("round", "prepare", "goals") == [("prepare-round", "goals", 1)]
    quick.find(told.run, "goals")
    assert told.events("round", "check", "goals") == []
    assert len(told.events("round", "assemble", "goals")) == 1
    told.events("round", "scope", "goals")
    quick.fix(told.run, "goals", 1)
    assert len(told.events("round", "commit", "goals")) == 1
    assert told.events("round", "converge", "goals") == []


@pytest.mark.rule("AUD-01")
def test_what_could_not_be_finished_is_on_the_trail_too(story: Tell) -> None:
    told = story("questions")
    told.events("next")
    quick.say_clean(told.run, "questions")
    Project(told.root).hook("pre-commit", "echo no >&2; exit 1")
    added = told.command("next", code=4)
    assert [line["event"] for line in added] == ["assemble", "cascade"]
    assert told.command("next", code=4) == []


@pytest.mark.rule("AUD-01", "CSC-04")
def test_a_command_that_was_stopped_half_way_says_so(story: Tell) -> None:
    told = story("questions")
    told.events("next")
    quick.say_clean(told.run, "questions")
    (told.run / "cascade-clean-questions-quality-claude.md").mkdir()
    _, line = told.command("next", code=4)
    assert [file["path"] for file in line["files"]] == ["cascade-audit.log"]
    assert line["outcome"].startswith(
        "stopped: cannot write cascade-clean-questions-quality-claude.md: "
    )


@pytest.mark.rule("AUD-01", "ENG-04")
def test_a_rehearsal_leaves_no_line(story: Tell) -> None:
    told = story("questions")
    assert told.command("next", "--dry-run") == []
    told.events("next")
    quick.say_clean(told.run, "questions")
    for words in (("next",), ("reject", "-m", "No."), ("approve", "--unreviewed", "--yes")):
        assert told.command(*words, "--dry-run") == []
    assert json.loads(told.qrspi("log", "--json").out)["event"] == "prepare-round"
