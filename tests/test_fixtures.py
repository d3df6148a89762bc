"""Whole stories, folder by folder: what agents drop into a run, and what `next` makes of it.

Each fixtures/runs/NNN-name has `before/`, the run as it starts; `replies/`, folders of files that
agents and people write, run-relative; `story.json`, the moments in order; and `after/`, files that
the run must hold in the end, byte for byte. A moment drops a folder, gives a command, and says
what was done and what is next; only what it says is compared.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from qrspi.cli import main
from tests.named_files import lacking
from tests.printed_commands import Known, Watch

STORIES = Path(__file__).resolve().parent.parent / "fixtures" / "runs"
RUN = "2026-05-17-user-auth"
QUIET = ("write-prompts",)  # told of elsewhere; they would only repeat every `next` below


class Stage:
    """A project with the story's run in it."""

    def __init__(self, root: Path, story: Path, git: bool, capsys: pytest.CaptureFixture[str]):
        self.run = root / "docs" / "qrspi" / RUN
        self._replies = story / "replies"
        self._capsys = capsys
        shutil.copytree(story / "before", self.run)
        if git:
            for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
                subprocess.run(["git", *words], cwd=root, check=True)

    def drop(self, folder: str) -> None:
        shutil.copytree(self._replies / folder, self.run, dirs_exist_ok=True)

    def call(self, *words: str) -> tuple[int, dict[str, Any]]:
        code, out, _ = self.say(*words, "--json")
        return code, json.loads(out)

    def say(self, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        assert isinstance(stop.value.code, int)
        told = self._capsys.readouterr()
        return stop.value.code, told.out, told.err


def stories() -> list[Path]:
    return sorted(path for path in STORIES.iterdir() if path.is_dir())


def test_stories_are_numbered() -> None:
    names = [path.name for path in stories()]
    assert [name for name in names if not re.fullmatch(r"\d{3}-[a-z0-9-]+", name)] == []
    assert len({name[:3] for name in names}) == len(names) >= 12


@pytest.mark.parametrize("story", stories(), ids=lambda path: path.name)
@pytest.mark.rule("ST-06", "RND-02", "RND-05")
def test_the_story_goes_as_it_is_told(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads((story / "story.json").read_text("utf-8"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    stage = Stage(tmp_path, story, told.get("git", True), capsys)
    for at, moment in enumerate(told["moments"], 1):
        happened = play(stage, moment)
        assert happened == {key: moment[key] for key in happened}, f"moment {at}: {moment}"
    for file in sorted(path for path in (story / "after").rglob("*") if path.is_file()):
        name = file.relative_to(story / "after")
        assert (stage.run / name).read_text("utf-8") == file.read_text("utf-8"), name


def play(stage: Stage, moment: dict[str, Any]) -> dict[str, Any]:
    """What the moment speaks of, as it really is."""
    if "drop" in moment:
        stage.drop(moment["drop"])
    code, document = stage.call(*moment.get("do", "next").split())
    happened: dict[str, Any] = {"exit": code} if "exit" in moment else {}
    assert "exit" in moment or code == 0, document
    if "done" in moment:
        handlers = [one["handler"] for one in document["performed"]]
        happened["done"] = [name for name in handlers if name not in QUIET]
    if "next" in moment:
        state = stage.call("status")[1]["runs"][0]
        happened["next"] = {key: state["next"][key] for key in moment["next"]}
    if "decision" in moment:
        happened["decision"] = decision(stage, moment["decision"])
    return happened


def decision(stage: Stage, told: dict[str, Any]) -> dict[str, Any]:
    """What the newest manifest says of the ref."""
    manifests = sorted(stage.run.glob("reviews/*/round-*/.dispatch-manifest.json"))
    found = json.loads(manifests[-1].read_text("utf-8"))["decision"]
    return {key: found[key] for key in told}


@pytest.mark.parametrize("story", stories(), ids=lambda path: path.name)
@pytest.mark.rule("LIV-03")
def test_every_file_that_is_read_or_written_is_named(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At each moment, by what the prompts say that are waiting then."""
    told = json.loads((story / "story.json").read_text("utf-8"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    stage = Stage(tmp_path, story, told.get("git", True), capsys)
    for at, moment in enumerate(told["moments"], 1):
        if "drop" in moment:
            stage.drop(moment["drop"])
        stage.call(*moment.get("do", "next").split())
        answer = stage.call("next")[1].get("next")
        assert not answer or lacking(stage.run, answer) == [], f"moment {at}"


VIEWS = ("status", "status --explain", "next --dry-run", "explain", "brief", "inbox", "show")
ASIDE = ("inbox --commands", "doctor", "log", "prompt", "config validate")
REFUSED = (
    "approve --dry-run",
    "reject -m no --dry-run",
    "resolve nothing",
    "decide --all skip",
)


@pytest.mark.parametrize("story", stories(), ids=lambda path: path.name)
@pytest.mark.rule("LIV-02")
def test_every_command_that_a_story_prints_runs(
    story: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At each moment of the story every view is looked at, in words and as JSON, in the project
    and in the run's folder; what they name is run in a copy, where it was read."""
    told = json.loads((story / "story.json").read_text("utf-8"))
    project = tmp_path.resolve() / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    stage = Stage(project, story, told.get("git", True), capsys)
    known = Known(tmp_path_factory, "printed-by-stories")
    watch = Watch(tmp_path.resolve(), tmp_path_factory.mktemp("printed"), known)
    for moment in told["moments"]:
        if "drop" in moment:
            stage.drop(moment["drop"])
        for place in (project, stage.run):
            monkeypatch.chdir(place)
            look_around(stage, watch, known)
        monkeypatch.chdir(project)
        for text in stage.say(*moment.get("do", "next").split())[1:]:
            watch.look(text)
    wrong = watch.verdicts(lambda words: stage.say(*words)[:2])
    assert wrong == [], "\n".join(wrong)


def look_around(stage: Stage, watch: Watch, known: Known) -> None:
    """Every view, and what a person may try too early, once for each kind of state."""
    state = stage.call("status")[1]["runs"][0]["next"]
    kind = (state["action"], state["kind"], state["step"], Path.cwd() == stage.run)
    if not known.is_new("looked at", *kind):
        return
    prompts = [f"prompt {ask}" for ask in state["waits_for"][:1] if state["prompts"]]
    for view in (*VIEWS, *ASIDE, *REFUSED, *prompts):
        for form in ((), ("--json",)):
            for text in stage.say(*view.split(), *form)[1:]:
                watch.look(text, state)
