"""Which branch tasks are merged into: the default one only when a person named it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import deliveries, runs
from tests.cli.conftest import Call
from tests.cli.test_git_records import INIT
from tests.deliveries import quick
from tests.handlers.workshop import Workshop
from tests.project import Project

RUN = runs.RUN
ASK = (
    f"Which branch is task-01 merged into? Say it with `qrspi next {RUN} --onto BRANCH`: the "
    "default branch, or one of your own, such as feature/user-auth."
)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Before the approval of a plan, on main, which nobody has named."""
    plan = runs.artifact("draft")
    files = {**quick(), "config.md": deliveries.config("quick", feature_branch=""), "plan.md": plan}
    made = Workshop(tmp_path.resolve() / "project", files)
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    return made


def implemented(shop: Workshop) -> None:
    shop.approve("plan")
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()


def named(shop: Project) -> list[Any]:
    lines = [one for one in shop.records() if one["event"] == "onto"]
    return [(one["step"], one["option"], one["who"]) for one in lines]


@pytest.mark.rule("LIV-12")
def test_a_run_on_the_default_branch_is_asked_before_anything_is_merged(
    shop: Workshop, qrspi: Call
) -> None:
    implemented(shop)
    assert "\nfeature_branch: null\n" in shop.read("plan.md")
    gate = qrspi("next", "--json").json["next"]
    assert gate["options"][0] == {
        "key": "continue",
        "label": "approve implementation.md; then say which branch to merge task-01 into",
        "command": f"qrspi resolve {RUN} continue",
    }
    tip = shop.git("rev-parse", "main^{tree}")
    assert ASK in qrspi("resolve", RUN, "continue").out
    following = qrspi("next", "--json").json["next"]
    assert (following["kind"], following["who"]) == ("onto", "human")
    assert following["command"] is None  # a person names the branch
    assert [one["command"] for one in following["options"]] == [f"qrspi next {RUN} --onto BRANCH"]
    code = ":(exclude)docs"
    assert shop.git("diff", "--name-only", tip, "main", "--", ".", code) == ""
    branch = shop.git("rev-parse", "--short=12", "qrspi/user-auth/task-01")
    result = qrspi("next", RUN, "--onto", "main")
    assert result.code == 0
    merge = shop.git("log", "--merges", "-1", "--format=%h", "--abbrev=12", "main")
    assert (
        f"merged task-01 (qrspi/user-auth/task-01 at {branch}) into main as {merge}" in result.err
    )
    assert result.out.startswith("done: merge the tasks\n")
    assert "\nfeature_branch: main\n" in shop.read("config.md")
    assert [one[:2] for one in named(shop)] == [("implement", "main")]


@pytest.mark.rule("LIV-12")
def test_a_branch_made_for_it_is_as_good(shop: Workshop, qrspi: Call) -> None:
    implemented(shop)
    qrspi("resolve", RUN, "continue")
    main = shop.git("rev-parse", "main")
    refused = qrspi("next", RUN, "--onto", "feature/user-auth")
    make = f"git -C {shop.root} switch -c feature/user-auth"
    assert refused.code == 3 and f"`{make}`" in refused.err
    assert named(shop) == []
    subprocess.run(make.split(), check=True, capture_output=True)
    assert qrspi("next", RUN, "--onto", "feature/user-auth").code == 0
    assert shop.git("rev-parse", "main") == main
    assert "task-01" in shop.git("log", "--merges", "-1", "--format=%s", "feature/user-auth")


def beside(shop: Workshop) -> None:
    shop.git("branch", "feature/user-auth")


def older(shop: Workshop) -> None:
    """From before the run's newest records."""
    shop.git("branch", "feature/user-auth", "HEAD~1")


def in_a_task(shop: Workshop) -> None:
    """As whoever makes it where the implementer stands."""
    shop.git("switch", "-q", "-c", "feature/user-auth", at=shop.tree("task-01"))


@pytest.mark.rule("LIV-12", "LIV-02", "LIV-13")
@pytest.mark.parametrize("make", [beside, older, in_a_task])
def test_a_branch_where_nobody_stands_is_refused_before_anything_is_written(
    make: Callable[[Workshop], None], shop: Workshop, qrspi: Call
) -> None:
    implemented(shop)
    qrspi("resolve", RUN, "continue")
    make(shop)
    before = (shop.git("rev-parse", "main"), shop.read("config.md"))
    refused = qrspi("next", RUN, "--onto", "feature/user-auth")
    assert (refused.code, named(shop)) == (3, [])
    assert (shop.git("rev-parse", "main"), shop.read("config.md")) == before
    way = refused.err.split("`")[1]
    subprocess.run(way, shell=True, check=True, capture_output=True, cwd=shop.tree("task-01"))
    assert qrspi("next", RUN, "--onto", "feature/user-auth").code == 0
    assert (
        shop.git("branch", "--show-current", at=shop.tree("task-01")) == "qrspi/user-auth/task-01"
    )
    assert [one[:2] for one in named(shop)] == [("implement", "feature/user-auth")]
    assert shop.git("merge-base", "feature/user-auth", "main") == before[0]


@pytest.mark.rule("LIV-12")
def test_who_named_the_branch_before_is_told_and_not_asked(shop: Workshop, qrspi: Call) -> None:
    assert qrspi("config", "set", RUN, "feature_branch", "main").code == 0
    implemented(shop)
    label = shop.answer.options[0].label
    assert label == "approve implementation.md, and merge task-01 into main"
    said = qrspi("resolve", RUN, "continue").out
    assert "done: merge the tasks\n  merged task-01 (qrspi/user-auth/task-01 at " in said


@pytest.mark.rule("LIV-12")
def test_an_older_plan_that_says_main_is_asked_about_too(shop: Workshop, qrspi: Call) -> None:
    implemented(shop)
    plan = shop.read("plan.md").replace("feature_branch: null", "feature_branch: main")
    shop.write("plan.md", plan)
    qrspi("resolve", RUN, "continue")
    result = qrspi("next", RUN)
    assert result.code == 3 and f"`qrspi next {RUN} --onto main`" in result.err
    assert shop.git("log", "--merges", "--format=%s", "main") == ""


@pytest.mark.rule("LIV-12")
def test_init_takes_the_branch_at_once_and_stays_on_it(
    project: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    found = Project(project)
    found.git("init", "-q", "-b", "main")
    (project / "a.py").write_text("a = 0\n")
    found.commit("start")
    assert qrspi(*INIT, "--onto", "nowhere").code == 3
    assert not found.run.exists()
    begun = json.loads(qrspi(*INIT, "--onto", "main", "--json").out)
    assert (begun["branch"], begun["new_branch"]) == ("main", False)
    assert "\nfeature_branch: main\n" in found.read("config.md")
    assert [one[:2] for one in named(found)] == [("implement", "main")]
    assert found.status() == []


@pytest.mark.rule("LIV-02", "LIV-12")
@pytest.mark.parametrize("remote", ["", "upstream"])
def test_a_pull_request_is_named_only_where_it_can_be_sent(
    remote: str, shop: Workshop, qrspi: Call
) -> None:
    shop.git("switch", "-q", "-c", "work")
    implemented(shop)
    qrspi("resolve", RUN, "continue")
    if remote:
        elsewhere = str(shop.root.parent / "elsewhere")
        shop.git("init", "-q", "--bare", elsewhere)
        shop.git("remote", "add", remote, elsewhere)
    shop.review("test", 1, ("spec-claude", "code-quality-claude", "goal-traceability-claude"))
    qrspi("next", RUN)
    shipped = qrspi("resolve", RUN, "ship")
    named = (
        "to send the branch: git push upstream work\n"
        "then, for a pull request on GitHub: gh pr create --head work --title Text --body-file "
    )
    assert (named in shipped.err) == bool(remote)
    assert (
        f"Its work waits on branch work; docs/qrspi/{RUN}/pull-request.md has the text for a "
        in (shipped.out)
    )
    assert "gh pr" not in qrspi("status", RUN).out


@pytest.mark.rule("LIV-02", "LIV-12")
def test_a_clone_of_the_runs_own_branch_merges_into_it_without_asking(
    shop: Workshop, qrspi: Call
) -> None:
    shop.git("switch", "-q", "-c", "qrspi/user-auth")
    implemented(shop)
    shop.git("update-ref", "refs/remotes/origin/qrspi/user-auth", "HEAD")
    own = "refs/remotes/origin/qrspi/user-auth"
    shop.git("symbolic-ref", "refs/remotes/origin/HEAD", own)
    assert qrspi("resolve", RUN, "continue").out.endswith(".\n")
    assert shop.git("log", "--merges", "--format=%h", "qrspi/user-auth") != ""
