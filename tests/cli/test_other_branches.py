"""A run that is not here, as another branch is checked out or its files are gone: nobody is told
to begin anew, nor that something is lost."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests import scenes
from tests.cli.conftest import Call
from tests.runs import RUN
from tests.scenes import git

pytestmark = pytest.mark.rule("LIV-01", "LIV-02")
SWITCH = "git switch qrspi/user-auth"
THERE = f"{RUN} is on branch qrspi/user-auth: `{SWITCH}` goes there"


@pytest.fixture
def run(project: Path) -> Path:
    """On a branch of its own, with a reviewed text; the default branch has nothing of it."""
    run = scenes.clean(project)
    git(project, "checkout", "-q", "--orphan", "empty")
    git(project, "rm", "-rq", "--cached", ".")
    git(project, "commit", "-q", "--allow-empty", "-m", "Nothing")
    git(project, "checkout", "-qf", "-B", "qrspi/user-auth", "main")
    scenes.advance(run)
    scenes.commit_all(project)
    git(project, "branch", "-qM", "empty", "main")
    return run


def elsewhere(project: Path) -> None:
    git(project, "switch", "-q", "main")


def test_a_run_of_another_branch_is_named_with_it(run: Path, project: Path, qrspi: Call) -> None:
    elsewhere(project)
    runs = project / "docs/qrspi"
    init = '`qrspi init "TEXT" --pipeline quick`'
    assert f"No runs in {runs}: {THERE}. Start one with {init}.\n" == qrspi("status").out
    refused = qrspi("next", "--json")
    assert (refused.code, refused.json["code"], refused.json["hint"]) == (2, "no-run", SWITCH)
    assert refused.json["message"] == f"no run in {runs}: {THERE}; or start one with {init}"
    named = qrspi("next", "user-auth", "--json").json
    assert (named["code"], named["hint"]) == ("unknown-run", SWITCH)
    assert named["message"] == f"no run 'user-auth' in {runs}: {THERE}; or {init} starts one"
    assert f"        {SWITCH}" in qrspi("doctor").out.splitlines()
    subprocess.run(shlex.split(refused.json["hint"]), check=True, capture_output=True)
    assert qrspi("next").code == 0


def test_so_it_is_where_no_run_ever_was(
    run: Path, project: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere(project)
    subprocess.run(["rm", "-r", project / "docs"], check=True)
    refused = qrspi("next", "--json").json
    assert (refused["code"], refused["hint"]) == ("no-root", SWITCH)
    assert f"{THERE}; or go to the project" in refused["message"]
    assert f"no docs/qrspi here or above in this project: {THERE}" in qrspi("doctor").out


def test_of_several_branches_that_of_the_run_is_meant(
    run: Path, project: Path, qrspi: Call
) -> None:
    git(project, "branch", "-q", "qrspi/wip")
    elsewhere(project)
    assert qrspi("next", "--json").json["hint"] == SWITCH
    git(project, "branch", "-qm", "qrspi/user-auth", "another")
    refused = qrspi("next", "--json").json
    assert f"{RUN} is on another, qrspi/wip: `git switch BRANCH` goes there" in refused["message"]


def test_a_run_that_is_gone_is_brought_back(run: Path, project: Path, qrspi: Call) -> None:
    subprocess.run(["rm", "-r", run], check=True)
    back = f"git checkout HEAD -- :/docs/qrspi/{RUN}"
    refused = qrspi("next", "--json").json
    assert (refused["code"], refused["hint"]) == ("no-run", back)
    assert f"{RUN} is gone here, and `{back}` brings it back" in qrspi("status").out
    subprocess.run(shlex.split(back), check=True, capture_output=True)
    assert qrspi("next").code == 0


def test_files_of_another_branch_are_not_gone(run: Path, project: Path, qrspi: Call) -> None:
    git(project, "checkout", "-q", "-b", "older", "HEAD~2")
    warnings = qrspi("status", "--json").json["runs"][0]["warnings"]
    said = [one["message"] for one in warnings if one["code"] == "vanished"]
    assert said == [
        "reviews/goals/round-01.diff and 4 more files are on branch qrspi/user-auth, which is not "
        f"checked out: `{SWITCH}` goes there"
    ]
    assert qrspi("doctor").code == 0
    assert qrspi("verify", "--json").json["gaps"] == []


@pytest.mark.rule("SEC-22")
def test_what_was_taken_away_here_is_gone_whoever_else_has_it(
    run: Path, project: Path, qrspi: Call
) -> None:
    git(project, "branch", "-q", "copy")
    (run / "reviews/goals/round-01-verified.md").unlink()
    for _ in range(2):
        assert "round-01-verified.md is gone: qrspi wrote it" in str(qrspi("status", "--json").json)
        assert qrspi("verify").code == 3
        scenes.commit_all(project)
