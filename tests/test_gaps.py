"""Runs that lack something, one file each: what `verify` says of them.

fixtures/gaps/NNN-name.json damages one run of three closed rounds and an approval: it removes,
writes, appends or copies files, and lists the gaps that this makes.
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
from tests.test_fixtures import RUN, STORIES, Stage, play

GAPS = sorted((STORIES.parent / "gaps").glob("*.json"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose run is as it should be."""
    return tmp_path_factory.mktemp("whole").resolve() / "shop"


@pytest.fixture
def project(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    if not whole.exists():
        whole.mkdir()
        monkeypatch.chdir(whole)
        story = STORIES / "006-narrow-third-round"
        stage = Stage(whole, story, True, capsys)
        for moment in json.loads((story / "story.json").read_text("utf-8"))["moments"]:
            play(stage, moment)
        assert stage.call("approve", "goals")[0] == 0
        subprocess.run(["git", "add", "-A"], cwd=whole, check=True)
        subprocess.run(["git", "commit", "-qm", "the rest"], cwd=whole, check=False)
    root = tmp_path.resolve() / "shop"
    shutil.copytree(whole, root, symlinks=True)
    monkeypatch.chdir(root)
    return root


def verify(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(["verify", *words])
    assert isinstance(stop.value.code, int)
    return stop.value.code, capsys.readouterr().out


def damage(run: Path, how: dict[str, Any]) -> None:
    for path in how.get("remove", ()):
        shutil.rmtree(run / path) if (run / path).is_dir() else (run / path).unlink()
    for path, text in how.get("write", {}).items():
        (run / path).write_text(text)
    for path, text in how.get("append", {}).items():
        (run / path).write_text((run / path).read_text() + text)
    for path, source in how.get("copy", {}).items():
        shutil.copy(run / source, run / path)


@pytest.mark.rule("PRF-01")
def test_a_whole_run_is_proven(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(capsys) == (
        0,
        f"{RUN}\n  3 rounds proven; answers: 8 found\n\n3 proven, 0 unproven, 0 gaps\n",
    )


@pytest.mark.rule("PRF-01", "SEC-22")
@pytest.mark.parametrize("file", GAPS, ids=lambda path: path.stem)
def test_each_gap_is_found_and_nothing_is_repaired(
    file: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(file.read_text("utf-8"))
    run = project / "docs" / "qrspi" / RUN
    damage(run, told)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    code, out = verify(capsys, "--json")
    found = json.loads(re.sub(r"[0-9a-f]{12} is the commit", "SHA is the commit", out))
    assert (code, found["ok"]) == (3, False)
    assert [{key: gap[key] for key in gap if key != "run"} for gap in found["gaps"]] == told["gaps"]
    assert before == {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


@pytest.mark.rule("PRF-01")
def test_annotations_and_sarif_say_the_same(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = project / "docs" / "qrspi" / RUN
    (run / "reviews/goals/round-01-commit.txt").write_text("0" * 40 + "\n")
    path = f"docs/qrspi/{RUN}/reviews/goals/round-01-commit.txt"
    text = "goals round 1: anchor: 000000000000 is not a commit of this run's history"
    assert verify(capsys, "--format", "github") == (
        3,
        f"::error file={path},title=qrspi verify::{text}\n2 proven, 0 unproven, 1 gap\n",
    )
    code, out = verify(capsys, "--format", "sarif")
    log = json.loads(out)
    assert (code, log["version"], list(log)) == (3, "2.1.0", ["$schema", "version", "runs"])
    (only,) = log["runs"]
    assert only["tool"]["driver"]["name"] == "qrspi"
    assert only["results"] == [
        {
            "ruleId": "gap",
            "level": "error",
            "message": {"text": text},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": path}}}],
        }
    ]
    known = {rule["id"] for rule in only["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in only["results"]} <= known


@pytest.mark.rule("PRF-01", "IMPT-03", "IMPT-12")
def test_what_was_made_elsewhere_is_unproven_and_no_gap(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = STORIES.parent / "imports" / "001-closed-rounds-of-the-plugin" / "run"
    run = project / "docs" / "qrspi" / "2026-03-02-old-run"
    shutil.copytree(source, run)
    with pytest.raises(SystemExit):
        main(["import", str(run), "--yes"])
    assert verify(capsys, "old-run") == (
        0,
        "2026-03-02-old-run\n  unproven: design rounds 1, 2: it was made elsewhere\n"
        "  adopted: goals.md, questions.md, research/summary.md, approved without a record or a "
        "round\n\n0 proven, 2 unproven, 0 gaps\n",
    )
    code, out = verify(capsys, "old-run", "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["checked"], len(found["unproven"])) == (0, True, 0, 2)
    assert found["unproven"][0] == {
        "run": "2026-03-02-old-run",
        "step": "design",
        "round": 1,
        "because": "it was made elsewhere",
    }
    clean = run / "reviews/design/round-02/quality-claude.clean.md"
    clean.write_text(clean.read_text() + "\n")
    (run / "reviews/design/round-02-dispositions.md").unlink()
    code, out = verify(capsys, "old-run", "--json")
    gaps = [(gap["step"], gap["because"]) for gap in json.loads(out)["gaps"]]
    assert (code, gaps[:2]) == (
        3,
        [("import", "it was imported and is gone"), ("import", "it is not as it was imported")],
    )


@pytest.mark.rule("PRF-01", "SEC-18")
def test_a_clone_without_the_trail_goes_by_commits(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(project), str(clone)], check=True)
    monkeypatch.chdir(clone)
    assert verify(capsys) == (
        0,
        f"{RUN}\n  3 rounds proven; answers: 8 found\n\n3 proven, 0 unproven, 0 gaps\n",
    )


@pytest.mark.rule("PRF-01")
def test_git_is_asked_as_often_for_many_rounds_as_for_few(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def asked(name: str) -> int:
        trace = tmp_path / name
        monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
        verify(capsys)
        monkeypatch.delenv("GIT_TRACE2_EVENT")
        return sum('"event":"start"' in line for line in trace.read_text().splitlines())

    few = asked("few")
    reviews = project / "docs" / "qrspi" / RUN / "reviews" / "goals"
    for number in range(4, 24):
        shutil.copytree(reviews / "round-01", reviews / f"round-{number:02d}")
    subprocess.run(["git", "add", "-A"], cwd=project, check=True)
    subprocess.run(["git", "commit", "-qm", "more"], cwd=project, check=True)
    assert asked("many") == few <= 8


@pytest.mark.rule("PRF-01")
def test_a_scope_set_is_not_missed_where_the_tagger_was_off(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviews = project / "docs" / "qrspi" / RUN / "reviews" / "goals"
    (reviews / "round-01-scope-set.txt").unlink()
    manifest = reviews / "round-02" / ".dispatch-manifest.json"
    document = json.loads(manifest.read_text())
    document["decision"]["rule"] = "CNV-01"
    manifest.write_text(json.dumps(document))
    gaps = json.loads(verify(capsys, "--json")[1])["gaps"]
    assert "scope set" not in [gap["missing"] for gap in gaps]


@pytest.mark.rule("SEC-22")
def test_an_approved_text_is_missed_when_its_removal_is_committed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"docs/qrspi/{RUN}/goals.md"
    subprocess.run(["git", "rm", "-q", place], cwd=project, check=True)
    subprocess.run(["git", "commit", "-qm", "gone"], cwd=project, check=True)
    code, out = verify(capsys)
    restore = re.search(r"Ada approved it on 2026-05-17, and it is gone: .* `(.*)`", out)
    assert code == 3
    assert restore, out
    subprocess.run(restore[1], shell=True, cwd=project, check=True)
    assert verify(capsys)[0] == 0
