"""Runs from elsewhere, folder by folder: what is asked, what is taken in, and that they go on.

Each fixtures/imports/NNN-name has `run/`, as another tool or a person left it, and `story.json`:
the questions, the answers that only a person can give, and what is next before and after `next`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qrspi.cli import main

STORIES = Path(__file__).resolve().parent.parent / "fixtures" / "imports"
RUN = "2026-03-02-old-run"
WRITTEN = {"import.md", "import-files.txt", "config.md"}
Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([*words, "--json"])
        assert isinstance(stop.value.code, int)
        return stop.value.code, json.loads(capsys.readouterr().out)

    return called


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path.resolve() / "shop"
    (root / "docs" / "qrspi").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    (root / "app.py").write_text("print()\n")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def stories() -> list[Path]:
    return sorted(path for path in STORIES.iterdir() if path.is_dir())


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if path.relative_to(folder).parts[0] != ".qrspi"
    }


def of(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    return {key: found["next"][key] for key in wanted}


@pytest.mark.parametrize("story", stories(), ids=lambda path: path.name)
@pytest.mark.rule("IMPT-01", "IMPT-02", "IMPT-04", "IMPT-05", "IMPT-07", "IMPT-09", "IMPT-11")
def test_it_goes_on_without_an_edit_by_hand(story: Path, project: Path, call: Call) -> None:
    told = json.loads((story / "story.json").read_text("utf-8"))
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(story / "run", run)
    before = contents(run)

    status, asked = call("import", f"docs/qrspi/{RUN}")
    assert (status, asked["imported"], contents(run)) == (3, False, before)
    assert [one["key"] for one in asked["questions"]] == told["questions"]
    unknown = [one["key"] for one in asked["questions"] if one["recommended"] is None]
    assert unknown == list(told["set"])
    if unknown:
        assert call("import", f"docs/qrspi/{RUN}", "--yes")[0] == 3
        assert contents(run) == before

    answers = [f"--set={key}={value}" for key, value in told["set"].items()]
    status, done = call("import", f"docs/qrspi/{RUN}", "--yes", *answers)
    assert (status, done["imported"]) == (0, True)
    assert (done["rounds"], done["open"]) == (told["rounds"], told["open"])
    assert of(done, told["next"]) == told["next"]
    after = contents(run)
    assert {path: data for path, data in after.items() if path not in WRITTEN} == {
        path: data for path, data in before.items() if path not in WRITTEN
    }
    subprocess.run(["sha256sum", "--quiet", "-c", "import-files.txt"], cwd=run, check=True)

    status, again = call("import", f"docs/qrspi/{RUN}")
    assert (status, again["files"], again["commit"], contents(run)) == (0, [], None, after)
    subjects = subprocess.run(
        ["git", "log", "--format=%s"], cwd=project, capture_output=True, text=True, check=True
    )
    assert subjects.stdout.splitlines() == ["docs(qrspi): import old-run", "start"]

    status, went = call("next", RUN)
    assert (status, of(went, told["then"])) == (0, told["then"])
    for path, data in before.items():
        assert path in WRITTEN or (run / path).read_bytes() == data, path


@pytest.mark.rule("IMPT-07", "IMPT-10")
def test_from_elsewhere_it_is_copied(project: Path, tmp_path: Path, call: Call) -> None:
    source = tmp_path / "theirs" / RUN
    shutil.copytree(STORIES / "001-closed-rounds-of-the-plugin" / "run", source)
    (source / ".qrspi").mkdir()
    (source / ".qrspi" / "lock").write_text("")
    (source / "link").symlink_to("/etc/passwd")
    before = {path: data for path, data in contents(source).items() if path != "link"}
    status, done = call("import", str(source), "--as", "2026-04-01-taken-in", "--yes")
    assert "2026-04-01-taken-in" in done["next"]["command"]
    assert (status, done["copied"], done["run"]) == (0, True, "2026-04-01-taken-in")
    run = project / "docs" / "qrspi" / "2026-04-01-taken-in"
    there = contents(run)
    assert set(there) == set(before) | WRITTEN
    assert {path for path in before if there[path] != before[path]} == {"config.md"}
    assert not (run / ".qrspi" / "lock").exists()
    left_out = [one for one in done["oddities"] if one["kind"] == "files that are left out"]
    assert left_out[0]["examples"] == [
        ".qrspi is left out",
        "link is a link, which is not followed",
    ]
    assert contents(source).keys() - {"link"} == before.keys()
    status, again = call("import", str(source), "--as", "2026-04-01-taken-in")
    assert (status, again["files"], contents(run)) == (0, [], there)
    assert call("import", str(source.parent), "--yes")[0] == 3


@pytest.mark.rule("IMPT-07")
def test_a_config_that_is_no_file_is_to_be_mended_where_it_lies(
    project: Path, tmp_path: Path, call: Call
) -> None:
    source = tmp_path / "theirs" / RUN
    source.mkdir(parents=True)
    (source / "config.md").symlink_to("/etc/passwd")
    status, refused = call("import", str(source), "--yes")
    assert (status, refused["options"], refused["hint"]) == (3, [], "")
    assert refused["message"] == (
        f"{source}: config.md is not a regular file (symlink); mend it there, then run the same "
        "command again"
    )
    assert not (project / "docs" / "qrspi" / RUN).exists()


@pytest.mark.rule("IMPT-10")
def test_a_kill_before_config_is_finished_by_the_same_command(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "001-closed-rounds-of-the-plugin" / "run", run)
    old = (run / "config.md").read_bytes()
    assert call("import", RUN, "--yes")[0] == 0
    whole = contents(run)
    (run / "config.md").write_bytes(old)
    status, done = call("import", RUN, "--yes")
    assert (status, done["files"], contents(run)) == (0, ["config.md"], whole)
    for words in (("reset", "-q", "--soft", "HEAD~1"), ("reset", "-q")):
        subprocess.run(["git", *words], cwd=project, check=True)
    status, done = call("import", RUN)
    assert (status, done["files"], bool(done["commit"]), contents(run)) == (0, [], True, whole)


@pytest.mark.rule("IMPT-10")
def test_a_kill_before_a_new_config_gives_the_same_day(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "005-by-hand-without-a-config" / "run", run)
    assert call("import", RUN, "--yes")[0] == 0
    whole = contents(run)
    (run / "config.md").unlink()
    assert call("import", RUN, "--yes")[0] == 0
    assert contents(run) == whole


@pytest.mark.rule("IMPT-09")
@pytest.mark.parametrize("data", [b"\xff\xfe---\nroute: x\n---\n", b"---\nroute: x\0\n---\n"])
def test_a_config_that_is_no_text_is_replaced_only_when_somebody_says_so(
    project: Path, call: Call, data: bytes
) -> None:
    run = project / "docs" / "qrspi" / RUN
    run.mkdir()
    (run / "config.md").write_bytes(data)
    (run / "goals.md").write_text("---\nstatus: draft\n---\n\n# Goals\n")
    status, asked = call("import", RUN, "--yes")
    assert (status, asked["questions"][0]["key"]) == (3, "config")
    assert (run / "config.md").read_bytes() == data
    assert call("import", RUN, "--yes", "--set", "config=new")[0] == 0
    assert call("next", RUN)[1]["next"]["action"] == "review"
    assert data in (run / "import.md").read_bytes()


@pytest.mark.rule("IMPT-10", "IMPT-04")
def test_rounds_made_elsewhere_since_are_asked_for_and_added(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "001-closed-rounds-of-the-plugin" / "run", run)
    assert call("import", RUN, "--yes")[0] == 0
    new = run / "reviews" / "design" / "round-03"
    new.mkdir()
    shutil.copy(
        run / "reviews/design/round-02/quality-claude.clean.md", new / "quality-claude.clean.md"
    )
    assert call("status", RUN)[1]["runs"][0]["next"]["command"] == f"qrspi import docs/qrspi/{RUN}"
    status, asked = call("import", f"docs/qrspi/{RUN}")
    assert (status, [one["key"] for one in asked["questions"]]) == (3, ["open.design"])
    config = (run / "config.md").read_bytes()
    status, done = call("import", f"docs/qrspi/{RUN}", "--set", "open.design=close")
    assert (status, done["rounds"]) == (0, {"reviews/design": [3]})
    assert done["next"]["round"] == 4
    assert (run / "config.md").read_bytes() == config
    listed = (run / "import-files.txt").read_text()
    digest = hashlib.sha256((new / "quality-claude.clean.md").read_bytes()).hexdigest()
    assert f"{digest}  reviews/design/round-03/quality-claude.clean.md\n" in listed


@pytest.mark.rule("IMPT-04")
def test_a_round_of_the_engine_is_never_taken_for_an_imported_one(
    project: Path, call: Call
) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "001-closed-rounds-of-the-plugin" / "run", run)
    assert call("import", RUN, "--yes")[0] == 0
    assert call("next", RUN)[0] == 0
    manifest = run / "reviews/design/round-03/.dispatch-manifest.json"
    subprocess.run(["git", "add", "-A"], cwd=project, check=True)
    subprocess.run(["git", "commit", "-qm", "round 3"], cwd=project, check=True)
    manifest.unlink()
    (manifest.parent / "x.md").write_text("x\n")
    status, done = call("import", f"docs/qrspi/{RUN}")
    assert (status, done["rounds"], done["files"]) == (0, {}, [])
    assert call("status", RUN)[1]["runs"][0]["next"]["action"] == "blocked"


@pytest.mark.rule("IMPT-06")
def test_tasks_done_elsewhere_are_accepted_together(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "004-tasks-done-elsewhere" / "run", run)
    assert call("import", RUN, "--yes")[0] == 0
    status, done = call("task", "accept", RUN, "--imported", "--reason", "Merged long ago.")
    assert (status, done["task"], done["next"]["kind"]) == (0, "task-01", "draft-implementation")
    assert call("next", RUN)[1]["next"]["kind"] == "batch"
    records = (run / "approvals.jsonl").read_text().splitlines()
    assert [json.loads(one)["option"] for one in records] == ["accepted-with-issues"]
    status, refused = call("task", "accept", RUN, "--imported", "--reason", "Again.")
    assert (status, refused["code"]) == (3, "nothing-to-accept")


@pytest.mark.rule("IMPT-06")
def test_what_was_integrated_elsewhere_was_implemented_there(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "004-tasks-done-elsewhere" / "run", run)
    shutil.rmtree(run / "reviews/tasks")
    folder = run / "reviews/integration/round-01"
    folder.mkdir(parents=True)
    (folder / "integration-claude.NO_FINDINGS").write_text("integration-claude: CLEAN\n")
    assert call("import", RUN, "--yes")[1]["next"]["kind"] == "task"
    assert call("task", "accept", RUN, "--imported", "--reason", "Merged long ago.")[0] == 0
    assert call("next", RUN)[1]["next"]["kind"] == "batch"
    status, went = call("resolve", RUN, "continue")
    assert (status, went["next"]["kind"], went["next"]["step"]) == (
        0,
        "imported-round",
        "integrate",
    )
    assert call("resolve", RUN, "close")[1]["next"]["action"] == "prepare-round"


@pytest.mark.rule("IMPT-05")
def test_a_round_that_is_left_is_asked_about_and_then_taken_over(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "002-an-open-round-is-taken-over" / "run", run)
    assert call("import", RUN, "--yes", "--set", "open.design=leave")[0] == 0
    waits = call("next", RUN)[1]["next"]
    assert (waits["kind"], waits["command"]) == ("imported-round", None)
    assert waits["options"][0]["command"] == f"qrspi resolve {RUN} take-over"
    status, chosen = call("resolve", RUN, "take-over")
    assert (status, chosen["next"]["action"]) == (0, "verify")
    folder = run / "reviews/design/round-01"
    (folder / "sec-claude-F02.score.yml").write_text("score: 10\nreason: A matter of taste.\n")
    status, went = call("next", RUN)
    assert (status, went["next"]["action"]) == (0, "apply-fixes")
    assert "made-elsewhere" in [one["code"] for one in went["warnings"]]
    design = run / "design.md"
    design.write_text(design.read_text() + "\nOne thing only.\n")
    (run / "reviews/design/round-01-dispositions.md").write_text(
        "# Round 01 dispositions\n\nDone.\n"
    )
    status, went = call("next", RUN)
    assert (status, went["next"]["action"], went["next"]["round"]) == (0, "review", 2)
    assert [one["handler"] for one in went["performed"]][:2] == ["commit-round", "prepare-round"]
    assert (run / "reviews/design/round-02.diff").exists()


@pytest.mark.rule("IMPT-11")
def test_what_cannot_be_read_as_a_finding_is_shown(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "003-an-open-round-with-faults-is-closed" / "run", run)
    assert call("import", RUN, "--yes")[0] == 0
    status, shown = call("show", RUN, "design", "--round", "4")
    file = "reviews/design/round-04/quality-claude.finding-F01.md"
    assert (status, shown["findings"]) == (0, [])
    assert {(one["file"], one["field"]) for one in shown["unread"]} == {
        (file, "severity"),
        (file, "change_type"),
        (file, "referenced_files"),
    }


@pytest.mark.rule("IMPT-08")
def test_the_first_round_after_imported_ones_looks_at_everything(project: Path, call: Call) -> None:
    run = project / "docs" / "qrspi" / RUN
    shutil.copytree(STORIES / "001-closed-rounds-of-the-plugin" / "run", run)
    assert call("import", RUN, "--yes")[0] == call("next", RUN)[0] == 0
    manifest = json.loads((run / "reviews/design/round-03/.dispatch-manifest.json").read_text())
    decision = manifest["decision"]
    assert (decision["decision"], decision["rule"], decision["diagnostics"]) == (
        "broaden",
        "CNV-03",
        [],
    )


@pytest.mark.rule("IMPT-01", "IMPT-09")
def test_the_report_alone_has_examples_and_the_questions(
    project: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    run = project / "docs" / "qrspi" / "2026-03-02-old-run"
    shutil.copytree(STORIES / "002-an-open-round-is-taken-over" / "run", run)
    before = contents(run)
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(["import", f"docs/qrspi/{RUN}", "--set", "second_reviewer=true", "--dry-run"])
    folder = "reviews/design/round-01"
    called = "score is called 'verifier_score'; expected score; it is read"
    no_models = (
        "model_routing is missing; expected a block with the rows extra-low, low, medium, high and "
        "extra-high"
    )
    assert (stop.value.code, contents(run)) == (0, before)
    assert capsys.readouterr().out == (
        f"""Would import {RUN}: 7 files, 1 round made elsewhere
  config.md: model_routing: the usual table
  config.md: visual_fidelity_required: false
  config.md: second_reviewer: true
  {folder} was open: take-over

What is odd:
  ids of another form, read all the same: 2
    {folder}/quality-claude.F01.md: finding_id is 'F01'; read as R1-F01
  words that a field does not know, read all the same: 2
    {folder}/quality-claude.F01.md: severity is 'blocker'; read as high
  files that lack a field, read all the same: 1
    {folder}/quality-claude.F01.score.md: {called}
  findings without a score: 1
    {folder}/sec-claude-F02.md

Would write: import-files.txt, import.md, config.md

Next: Score 1 finding of design round 1: it needs a .score.yml beside it in {folder}.

To be answered first:
  Which models are used? ({no_models})
    --set model_routing=usual; recommended: usual
  What becomes of {folder}, which nothing closes?
    --set open.design=take-over | close | leave; recommended: take-over

`qrspi import docs/qrspi/{RUN} --set second_reviewer=true --yes` takes what is recommended.
"""
    )
