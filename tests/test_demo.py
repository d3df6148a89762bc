"""`qrspi demo`, for real: what it says, and what it leaves behind."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTES
from qrspi.core.records import approvals
from qrspi.core.rounds import scope_set
from qrspi.core.tree import MemoryTree
from qrspi.demo import narration, performance, stage, story
from qrspi.demo.story import Script
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import scratch_repository
from tests.named_files import lacking

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "schemas" / "demo.schema.json").read_text("utf-8"))
QRSPI = Path(sys.executable).with_name("qrspi")

# The worst that somebody's git may be set up to do.
HOSTILE = """
[init]
    defaultBranch = trunk
[commit]
    gpgSign = true
[gpg]
    program = /bin/false
[core]
    hooksPath = {hooks}
    autocrlf = true
[merge]
    ff = only
"""


class Demo(NamedTuple):
    document: dict[str, Any]
    repository: Path
    run: Path
    stderr: str

    @property
    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = self.document["summary"]
        return summary

    def git(self, *args: str) -> str:
        command = ("git", "-C", str(self.repository), *args)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def says(self, who: str) -> list[str]:
        return [beat["says"] for beat in self.document["beats"] if beat["who"] == who]


def _play(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """As a user without a git identity, and with a git set up by somebody who likes it strict."""
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    (home / ".gitconfig").write_text(HOSTILE.format(hooks=hooks))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "QRSPI_NOW": "2026-01-05T09:30:00Z",
    }
    return subprocess.run(
        [QRSPI, "demo", *words], cwd=home, env=environment, capture_output=True, text=True
    )


def _kept(home: Path, *words: str) -> Demo:
    done = _play(home, "--keep", "--json", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (home / ".config").exists()  # nothing of it is remembered as allowed
    document = json.loads(done.stdout)
    repository = Path(document["folder"])
    (run,) = (repository / "docs" / "qrspi").glob("2026-01-05-*")
    return Demo(document, repository, run, done.stderr)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return _kept(tmp_path_factory.mktemp("full"))


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return _kept(tmp_path_factory.mktemp("quick"), "--quick")


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return _kept(tmp_path_factory.mktemp("gates"), "--gates")


@pytest.fixture(params=["full", "quick", "gated"])
def either(request: pytest.FixtureRequest) -> Demo:
    demo: Demo = request.getfixturevalue(request.param)
    return demo


@pytest.mark.rule("PPL-05", "OUT-02")
def test_the_document_fits_its_schema(either: Demo) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(either.document)
    assert either.stderr == ""


@pytest.mark.rule("PPL-05")
def test_the_run_is_complete_and_derives_so_from_its_files(either: Demo) -> None:
    state = derive(DiskTree(either.run))
    assert state.complete
    assert state.route == ROUTES[either.document["pipeline"]]
    assert (state.warnings, state.errors) == ((), ())


@pytest.mark.rule("PPL-05")
def test_it_shows_what_it_promises(full: Demo) -> None:
    """All steps; a finding kept, one dropped, one paused; a narrow round; a wave; a merge."""
    shown = [beat["step"] for beat in full.document["beats"] if beat["who"] == "step"]
    assert tuple(shown) == ROUTES["full"]
    promised = ("findings_kept", "findings_dropped", "findings_paused", "narrow_rounds", "merges")
    assert [name for name in promised if full.summary[name] < 1] == []
    assert full.summary["tasks"] == 2
    assert full.summary["approved_by_a_person"] == len(ROUTES["full"])


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


@pytest.mark.rule("PPL-05")
def test_findings_kept_dropped_and_paused_are_on_record(full: Demo) -> None:
    design = _lines(full.run / "reviews" / "design" / "round-01-verified.md")
    assert design[:7] == [
        "---",
        "verifier_enabled: true",
        "scored: 3",
        "kept: 2",
        "dropped: 1",
        "failed: 0",
        "clean: 0",
    ]
    pause = (full.run / "reviews" / "goals-loop-pause-round-01.md").read_text("utf-8")
    assert "scope-claude.R1-F01: apply\n" in pause
    assert "scope-claude.R1-F02: skip\n" in pause


@pytest.mark.rule("PPL-05")
def test_two_equal_scope_sets_narrow_the_third_round(full: Demo) -> None:
    reviews = full.run / "reviews" / "design"
    files = [reviews / f"round-0{n}-scope-set.txt" for n in (1, 2)]
    sets = [scope_set.tag_lines(file.read_bytes()) for file in files]
    assert sets == [("## Approach",), ("## Approach",)]
    manifest = json.loads((reviews / "round-03" / ".dispatch-manifest.json").read_text("utf-8"))
    decision = manifest["decision"]
    assert (decision["decision"], decision["rule"]) == ("narrow", "CNV-07")
    assert decision["scope_hint"] == ["## Approach"]
    diff = (reviews / "round-03.diff").read_text("utf-8")
    assert "+by the `csv` module." in diff and "+# Design" not in diff


@pytest.mark.rule("PPL-05")
def test_each_anchor_is_the_commit_of_its_round(full: Demo) -> None:
    anchors = sorted((full.run / "reviews").rglob("round-*-commit.txt"))
    assert len(anchors) >= 4
    for anchor in anchors:
        message = full.git("log", "-1", "--format=%B", anchor.read_text().strip())
        subject = anchor.parent.name
        number = anchor.name.split("-")[1]
        assert f"QRSPI-Round: {full.run.name}/{subject}/{number}" in message.splitlines()


@pytest.mark.rule("PPL-05")
def test_every_step_has_its_approval_on_record(either: Demo) -> None:
    records = approvals.read((either.run / approvals.FILE).read_bytes())
    assert not isinstance(records, Problem), records
    route = ROUTES[either.document["pipeline"]]
    assert tuple(record.step for record in records if record.event == "approve") == route
    assert either.git("status", "--porcelain", "--untracked-files=no") == ""


@pytest.mark.rule("PPL-05")
def test_a_quick_run_cascades(quick: Demo) -> None:
    entries = [json.loads(line) for line in _lines(quick.run / "cascade-audit.log")]
    assert [(entry["artifact"], entry["rationale"]) for entry in entries] == [
        ("questions", "initial-clean"),
        ("research", "first-fix-clean"),
        ("plan", "initial-clean"),
    ]
    assert quick.summary["approved_by_cascade"] == 3
    assert quick.summary["approved_by_a_person"] == 3


def _rows(demo: Demo, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(demo.run / "orchestration.db")) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.rule("PPL-05")
def test_the_gates_stop_a_task_warn_about_a_plan_and_send_work_back(gated: Demo) -> None:
    lines = _lines(gated.run / "reviews" / "plan" / "quality.jsonl")
    verdicts = [json.loads(line)["line"].split()[0] for line in lines]
    assert verdicts == ["REJECT", "PASS"]
    report = json.loads((gated.run / "reviews" / "plan" / "audit-report.json").read_text("utf-8"))
    assert (report["overall_verdict"], report["reviews"][0]["total_score"]) == ("concerns", 74)
    reviews = _rows(gated, "SELECT score, verdict FROM orchestration_reviews ORDER BY id")
    assert reviews == [(6, "revision"), (2, "approve")]
    counted = ("texts_rejected", "checkpoints_reviewed", "approved_by_cascade")
    assert [gated.summary[name] for name in counted] == [1, 2, 3]


@pytest.mark.rule("PPL-05")
def test_no_line_is_wider_than_a_terminal(gated: Demo) -> None:
    commands = [f"  $ {sentence}" for sentence in gated.says("command")]
    assert [line for line in commands if len(line) > 80] == []


@pytest.mark.rule("PPL-05")
def test_both_tasks_are_merged_and_the_code_works(full: Demo) -> None:
    merges = full.git("log", "--merges", "--format=%s", "main..HEAD").splitlines()
    assert len(merges) == full.summary["merges"] == 2
    for name in ("shop/table.py", "shop/period.py"):
        assert full.git("cat-file", "-t", f"HEAD:{name}") == "blob\n"
    done = subprocess.run(
        ["sh", "tests/run.sh"],
        cwd=full.repository,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "Ran 7 tests" in done.stderr, done.stderr


@pytest.mark.rule("PPL-05")
def test_nothing_in_it_depends_on_where_it_is_played(either: Demo) -> None:
    told = json.dumps(either.document["beats"])
    assert str(either.repository) not in told
    assert "/tmp" not in told
    assert [word for word in told.split() if len(word) == 40 and word.isalnum()] == []


@pytest.mark.rule("PPL-05")
def test_without_keep_nothing_is_left_and_the_same_is_said_again(
    quick: Demo, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    done = _play(home, "--quick", "--pause")  # nobody is there to press Enter
    assert done.returncode == 0, done.stderr
    assert [path.name for path in home.iterdir() if path.name.startswith("qrspi-demo-")] == []
    for sentence in quick.says("command"):
        assert f"  $ {sentence}\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.rule("PPL-05")
@pytest.mark.rule("LIV-03")
@pytest.mark.parametrize("name", ["full", "quick", "gates"])
def test_every_file_that_is_read_or_written_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of whole runs: each time that an agent or a person is waited for."""
    monkeypatch.setenv("QRSPI_NOW", "2026-01-05T09:30:00Z")
    seen = set()
    told = story.load(name)
    with scratch_repository.repository(story.project(), keep=False) as folder:
        here = _last(stage.begin(told, folder))
        while not (answer := _last(here.type("next")))["complete"]:
            now = answer["next"]
            assert lacking(Path(here.run), now) == []
            seen.add((now["who"], now["action"]))
            _last(performance.PARTS[now["action"]](here, now))
    assert {("agent", "author"), ("agent", "review"), ("agent", "dispatch-tasks")} < seen


def _last(beats: Generator[Any, None, Any]) -> Any:
    while True:
        try:
            next(beats)
        except StopIteration as end:
            return end.value


def test_a_run_that_comes_to_something_else_than_the_story_is_an_error(tmp_path: Path) -> None:
    told = story.load("quick")
    other = told._replace(expected={**told.expected, "rounds": 8})
    with (
        scratch_repository.repository(story.project(), keep=False) as folder,
        pytest.raises(RuntimeError) as error,
    ):
        list(performance.play(other, folder))
    assert str(error.value) == f"the run came to {{'rounds': 7}}, and the story to {other.expected}"


@pytest.mark.rule("OUT-01")
def test_a_reader_that_has_enough_ends_it_in_good_order(tmp_path: Path) -> None:
    line = f'"{QRSPI}" demo --quick | head -1 > /dev/null; echo ${{PIPESTATUS[0]}}'
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert list(tmp_path.iterdir()) == []


def test_scenes_that_nobody_asked_for_are_listed() -> None:
    script = Script(story.load("quick"))
    assert sorted(script.scene("research", "author")) == ["research/q01-codebase.md"]
    assert sorted(script.scene("research", "author")) == ["research/summary.md"]
    assert script.scene("research", "author") == {}
    assert script.unplayed() == [
        "goals/author",
        "plan/author",
        "questions/author",
        "research/round-01/apply-fixes",
        "research/round-01/review",
        "research/round-01/verify",
        "task-01/work",
    ]


def test_what_the_story_has_no_sentence_for_is_an_error() -> None:
    done = {"handler": "backfill", "step": "goals", "round": None, "files": [], "notes": []}
    with pytest.raises(RuntimeError, match="the engine did something the story does not know"):
        list(narration.engine(MemoryTree({}), done))


def test_a_command_that_is_refused_is_named(tmp_path: Path) -> None:
    stage.call(str(tmp_path), "init", "first-light", "--pipeline", "quick")
    with pytest.raises(RuntimeError, match=r"^`qrspi approve questions` was refused: "):
        stage.call(str(tmp_path), "approve", "questions")


def test_the_users_own_environment_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Grace")
    monkeypatch.delenv("PYTHON", raising=False)
    before = dict(os.environ)
    with scratch_repository.repository({"a.txt": b"a\n"}, keep=False) as folder:
        assert os.environ["GIT_AUTHOR_NAME"] == "Ada Example"
        assert scratch_repository.history(folder) == (0, 0)
    assert dict(os.environ) == before
    assert not Path(folder).exists()


def _prompts(demo: Demo) -> dict[str, str]:
    home = demo.run / ".qrspi" / "dispatch"
    return {str(path.relative_to(home)): path.read_text("utf-8") for path in home.rglob("*.md")}


def _parameters(prompt: str) -> list[str]:
    return (
        prompt.split("\n# Parameters\n")[1].partition("<<<UNTRUSTED-ARTIFACT-START")[0].split("\n")
    )


@pytest.mark.rule("PRM-09", "LIV-20")
def test_every_path_in_a_prompt_leads_somewhere_in_the_project(either: Demo) -> None:
    prompts = _prompts(either)
    assert len(prompts) > 15
    paths = {
        (name, line.rpartition(": ")[2])
        for name, prompt in prompts.items()
        for line in _parameters(prompt)
        if line.rpartition(": ")[2].startswith("/")
    }
    assert {path for path in paths if not path[1].startswith(f"{either.repository}/")} <= {
        (name, f"{either.repository}") for name in prompts
    }
    assert [path for path in paths if not Path(path[1]).exists()] == []


@pytest.mark.rule("DSR-01", "PRM-09")
def test_no_prompt_about_facts_tells_what_they_are_wanted_for(either: Demo) -> None:
    told = {name: text for name, text in _prompts(either).items() if name.startswith("research/")}
    assert len(told) > 2
    goals = (either.run / "goals.md").read_text("utf-8")
    words = [line for line in goals.split("\n") if len(line) > 40]
    assert words
    for name, text in told.items():
        hidden = (either.run.name, either.run.name[11:], str(either.repository), *words)
        assert [word for word in hidden if word in text] == [], name


@pytest.mark.rule("LIV-20")
def test_whoever_works_on_all_tasks_is_given_them_and_where_their_code_is(full: Demo) -> None:
    prompts = _prompts(full)
    first = "parallelize/author", "parallelize/round-01/quality-claude"
    for name in (*first, "integrate/round-01/integration-claude", "test/round-01/spec-claude"):
        for task in ("task-01", "task-02"):
            assert f"{full.run}/tasks/{task}.md" in _parameters(prompts[f"{name}.md"]), name
    for name in ("integrate/round-01/security-claude", "test/round-01/code-quality-claude"):
        assert f"worktree: {full.repository}" in _parameters(prompts[f"{name}.md"]), name
    assert f"{full.run}/tasks/task-01.md" in _parameters(prompts["plan/round-01/fixer.md"])
