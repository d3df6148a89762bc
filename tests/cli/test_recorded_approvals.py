"""Approvals that nobody gave, and records that somebody took away, as a person meets them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import scenes
from tests.cli.conftest import Call
from tests.project import Project
from tests.runs import RUN, artifact, config

CLAIM = (
    "goals.md says approved, but nobody approved it: it counts as a draft; "
    f"`qrspi unapprove {RUN} goals` makes it one"
)


@pytest.fixture
def run(project: Path) -> Project:
    files = {"config.md": config("quick", approvals="recorded"), "goals.md": artifact("approved")}
    return Project(project).begin(files)


@pytest.mark.rule("LIV-08")
def test_init_asks_for_records(project: Path, qrspi: Call) -> None:
    qrspi("init", "dark-mode", "--pipeline", "quick", "--date", "2026-05-17")
    made = project / "docs/qrspi/2026-05-17-dark-mode/config.md"
    assert "\napprovals: recorded\n" in made.read_text()


@pytest.mark.rule("LIV-08")
def test_an_adopted_run_keeps_its_approvals(project: Path, qrspi: Call) -> None:
    folder = project / "docs/qrspi/2026-05-17-dark-mode"
    folder.mkdir(parents=True)
    (folder / "goals.md").write_bytes(artifact("approved"))
    assert qrspi("init", "--adopt", folder, "--pipeline", "quick").code == 0
    assert "approvals:" not in (folder / "config.md").read_text()
    assert qrspi("status", "--json").json["runs"][0]["current_step"] == "questions"


@pytest.mark.rule("LIV-08")
@pytest.mark.parametrize("words", [("status",), ("inbox",), ("doctor",), ("brief",), ("explain",)])
def test_a_claim_is_told_everywhere(run: Project, qrspi: Call, words: tuple[str, ...]) -> None:
    assert CLAIM in qrspi(*words).out


@pytest.mark.rule("LIV-08", "LIV-02")
@pytest.mark.parametrize(
    "words", [("unapprove", RUN, "goals"), ("approve", RUN, "goals", "--unreviewed")]
)
def test_a_claim_is_settled_by_a_person(run: Project, qrspi: Call, words: tuple[str, ...]) -> None:
    done = qrspi(*words)
    assert done.code == 0, done.err
    assert "claims-approval" not in str(qrspi("status", "--json").json)
    assert [line["event"] for line in run.records()] == [words[0]]


@pytest.mark.rule("LIV-08")
def test_another_text_is_approved_again(run: Project, qrspi: Call) -> None:
    qrspi("approve", RUN, "goals", "--unreviewed", "--as", "Ada")
    run.write("goals.md", artifact("approved", "# Text\n\nAnother word.\n"))
    found = qrspi("status", "--json").json["runs"][0]
    codes = [item["code"] for item in found["warnings"]]
    assert (found["current_step"], codes) == ("goals", ["claims-approval", "edited-after-approval"])
    assert qrspi("approve", RUN, "goals", "--unreviewed").code == 0
    assert qrspi("status", "--json").json["runs"][0]["current_step"] == "questions"


@pytest.mark.rule("LIV-08")
@pytest.mark.parametrize("approval", ["recorded", "marker"])
def test_a_record_that_git_has_is_missed(project: Path, qrspi: Call, approval: str) -> None:
    files = {"config.md": config("quick", approvals=approval), "goals.md": artifact()}
    run = Project(project).begin(files)
    qrspi("approve", RUN, "goals", "--unreviewed")
    (run.run / "approvals.jsonl").unlink()
    said = (
        "approvals.jsonl: the record of decisions is gone, and git has it: restore it with "
        f"`git -C {run.run} checkout --ignore-skip-worktree-bits HEAD -- approvals.jsonl`"
    )
    found = qrspi("status", "--json").json["runs"][0]
    assert [item["message"] for item in found["errors"]] == [said]
    assert (found["next"]["action"], found["next"]["kind"]) == ("blocked", "records")
    assert said in qrspi("doctor").out
    assert qrspi("reject", RUN, "-m", "No.").code == 3
    run.git("checkout", "HEAD", "--", "approvals.jsonl", at=run.run)
    assert qrspi("status", "--json").json["runs"][0]["errors"] == []


@pytest.mark.rule("LIV-08")
def test_a_rejection_that_was_removed_is_missed(project: Path, qrspi: Call) -> None:
    files = {"config.md": config("quick"), "goals.md": artifact()}
    run = Project(project).begin(files)
    qrspi("reject", RUN, "-m", "No.")
    (run.run / "approvals.jsonl").unlink()
    assert [item["code"] for item in qrspi("status", "--json").json["runs"][0]["errors"]] == [
        "record-gone"
    ]
    shutil.rmtree(project / ".git")
    assert qrspi("status", "--json").json["runs"][0]["errors"] == []


@pytest.mark.rule("LIV-09")
def test_init_says_what_a_quick_run_approves_by_itself(project: Path, qrspi: Call) -> None:
    said = (
        "Clean questions, research and plan are approved without you; `cascade: off` in config.md "
        "asks you each time."
    )
    assert said in qrspi("init", "dark-mode", "--pipeline", "quick").out.splitlines()
    assert said not in qrspi("init", "light-mode", "--pipeline", "full").out.splitlines()


def settled(project: Path, qrspi: Call) -> Project:
    run = Project(project).begin({"config.md": config("quick"), "goals.md": artifact()})
    for value in ("dispatched", "any", "dispatched"):
        assert qrspi("config", "set", "evidence", value).code == 0
    return run


def merged(log: Path) -> None:
    first, *rest = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([first, first.replace(b"cli", b"web"), *rest]))


NO_LOSS: dict[str, Callable[[Path], object]] = {
    "lines of another branch between": merged,
    "line ends of another system": lambda log: log.write_bytes(
        log.read_bytes().replace(b"\n", b"\r\n")
    ),
    "no last line end": lambda log: log.write_bytes(log.read_bytes()[:-1]),
    "a line that a kill cut off": lambda log: log.write_bytes(log.read_bytes() + b'{"event": "app'),
}


@pytest.mark.rule("SEC-22")
@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("change", NO_LOSS.values(), ids=NO_LOSS)
def test_what_is_no_loss(
    project: Path, qrspi: Call, change: Callable[[Path], object], is_committed: bool
) -> None:
    run = settled(project, qrspi)
    change(run.run / "approvals.jsonl")
    if is_committed:
        run.commit()
    assert qrspi("config", "set", "evidence", "any").code == 0
    for look in ("status", "doctor", "verify"):
        assert "approvals.jsonl" not in qrspi(look).out


@pytest.mark.rule("SEC-22")
def test_a_line_that_came_back_is_not_missed(project: Path, qrspi: Call) -> None:
    run = settled(project, qrspi)
    log = run.run / "approvals.jsonl"
    was = log.read_bytes()
    log.write_bytes(was[: was.index(b"\n") + 1])
    run.commit()
    assert "gone since commit" in qrspi("verify").out
    log.write_bytes(was)
    run.commit()
    for look in ("doctor", "verify"):
        assert "approvals.jsonl" not in qrspi(look).out


@pytest.mark.rule("LIV-01", "PRF-01")
def test_no_round_of_an_approved_text_is_open(project: Path, qrspi: Call) -> None:
    scenes.prepared(project)
    [before] = qrspi("verify", "--json").json["rounds"]
    assert qrspi("approve", RUN, "goals", "--unreviewed").code == 0
    [after] = qrspi("verify", "--json").json["rounds"]
    assert (before["state"], after["state"]) == ("open", "left")
    assert "  1 round left by a decision, not looked at\n" in qrspi("verify").out


@pytest.mark.rule("LIV-01", "PRF-01")
def test_a_round_that_was_skipped_before_anybody_answered_proves_nothing(
    project: Path, qrspi: Call
) -> None:
    scenes.prepared(project)
    assert qrspi("resolve", RUN, "skip").code == 0
    assert qrspi("next").code == 0
    [one] = qrspi("verify", "--json").json["rounds"]
    assert (one["state"], sum(one["evidence"].values())) == ("left", 0)


@pytest.mark.rule("LIV-01", "LIV-03")
def test_a_round_that_came_to_no_end_is_not_replayed(project: Path, qrspi: Call) -> None:
    scenes.prepared(project)
    assert qrspi("approve", RUN, "goals", "--unreviewed").code == 0
    [loop] = qrspi("simulate", "--json").json["loops"]
    assert (loop["rounds"], loop["left"]) == ([], [1])
    assert qrspi("simulate").out.splitlines()[2:] == [
        "goals: no round has come to its end",
        "  round 1: abandoned, or still open: not counted",
    ]
