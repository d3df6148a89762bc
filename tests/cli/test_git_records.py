"""What `init` and `next` put on record in git, and on which branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import runs
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal
from tests.project import Project

INIT = ("init", "user-auth", "--pipeline", "quick", "--no-second-reviewer")
FOLDER = "docs/qrspi/2026-05-17-user-auth"
QUICK = """
Clean questions, research and plan are approved without you; `cascade: off` in config.md asks you \
each time.
"""
NEXT = """
Next: Write goals.md, then run `qrspi next 2026-05-17-user-auth`. \
`qrspi prompt 2026-05-17-user-auth author` prints what to tell an agent.
"""


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with a commit on main."""
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    found = Project(project)
    found.git("init", "-q", "-b", "main")
    (project / "a.py").write_text("a = 0\n")
    found.commit("start")
    return found


def branch(shop: Project) -> str:
    return shop.git("symbolic-ref", "--short", "HEAD")


class TestInit:
    @pytest.mark.rule("LIV-11", "LIV-12")
    def test_a_run_is_committed_on_a_branch_of_its_own(self, shop: Project, qrspi: Call) -> None:
        result = qrspi(*INIT)
        commit = shop.git("rev-parse", "--short=12", "HEAD")
        assert result == (
            0,
            f"""\
Made {FOLDER} (quick pipeline, 6 steps):
  config.md
  goals.md
  approvals.jsonl
  committed as {commit} on qrspi/user-auth, a new branch from main (--here stays)
{QUICK}{NEXT}""",
            "",
        )
        assert branch(shop) == "qrspi/user-auth"
        assert shop.status() == []
        assert shop.subjects() == ["docs(qrspi): start user-auth", "start"]
        assert shop.git("log", "--format=%s", "main") == "start"

    @pytest.mark.rule("LIV-11", "LIV-23")
    def test_the_request_is_committed_too(self, shop: Project, qrspi: Call) -> None:
        assert qrspi("init", "Let people sign in", "--pipeline", "full").code == 0
        assert shop.status() == []

    @pytest.mark.rule("LIV-12")
    def test_changes_of_the_person_stay_as_they_are(self, shop: Project, qrspi: Call) -> None:
        (shop.root / "a.py").write_text("a = 1\n")
        (shop.root / "b.py").write_text("b = 1\n")
        shop.git("add", "b.py")
        assert qrspi(*INIT).code == 0
        assert shop.status() == [" M a.py", "A  b.py"]

    @pytest.mark.rule("LIV-12")
    def test_here_stays_on_the_default_branch(self, shop: Project, qrspi: Call) -> None:
        result = qrspi(*INIT, "--here", "--json").json
        assert (result["branch"], result["new_branch"]) == ("main", False)
        assert result["commit"] == shop.git("rev-parse", "main")
        assert shop.branches() == ["main"]

    @pytest.mark.rule("LIV-12")
    def test_who_is_on_another_branch_stays_there(self, shop: Project, qrspi: Call) -> None:
        shop.git("switch", "-q", "-c", "sign-in")
        assert "on sign-in\n" in qrspi(*INIT).out
        assert shop.branches() == ["main", "sign-in"]

    @pytest.mark.rule("LIV-12")
    @pytest.mark.parametrize("taken", ["qrspi/user-auth", "qrspi/user-auth/task-01"])
    def test_a_name_that_is_taken_leads_to_the_full_name(
        self, taken: str, shop: Project, qrspi: Call
    ) -> None:
        shop.git("branch", taken)
        assert qrspi(*INIT, "--json").json["branch"] == "qrspi/2026-05-17-user-auth"

    @pytest.mark.rule("LIV-12")
    def test_no_name_is_left(self, shop: Project, qrspi: Call) -> None:
        for name in ("qrspi/user-auth", "qrspi/2026-05-17-user-auth"):
            shop.git("branch", name)
        result = qrspi(*INIT)
        assert (result.code, result.out, shop.run.exists()) == (3, "", False)
        assert "(`git switch -c NAME`)" in result.err

    @pytest.mark.rule("LIV-12")
    def test_a_detached_head_is_refused_with_the_way_out(self, shop: Project, qrspi: Call) -> None:
        shop.git("checkout", "-q", "--detach")
        assert qrspi(*INIT) == (
            3,
            "",
            f"HEAD of {shop.root} is on no branch, where a commit is soon lost: go to one, or make "
            f"one with `git -C {shop.root} switch -c NAME`, then start the run again\n",
        )
        assert not shop.run.exists()
        assert qrspi(*INIT, "--no-commit").code == 0

    @pytest.mark.rule("LIV-12")
    def test_a_branch_without_a_commit_is_stayed_on(self, project: Path, qrspi: Call) -> None:
        Project(project).git("init", "-q", "-b", "main")
        assert qrspi(*INIT, "--json").json["branch"] == "main"
        assert Project(project).subjects() == ["docs(qrspi): start user-auth"]

    @pytest.mark.rule("LIV-12", "LIV-02", "DIF-03")
    def test_where_git_names_no_default_the_branch_one_is_on_is_the_base(
        self, shop: Project, qrspi: Call
    ) -> None:
        shop.git("branch", "-m", "develop")
        said = qrspi(*INIT).out.splitlines()
        assert said[4].endswith("on qrspi/user-auth, a new branch from develop (--here stays)")
        assert said[5] == (
            "  reviewers compare with develop (base_branch in config.md): "
            "no branch is main, master or trunk"
        )
        assert b"base_branch: develop\n" in (shop.run / "config.md").read_bytes()
        shop.write("goals.md", runs.artifact())
        assert qrspi("next").code == 0

    @pytest.mark.rule("LIV-12")
    def test_a_rehearsal_names_the_branch_and_makes_none(self, shop: Project, qrspi: Call) -> None:
        said = qrspi(*INIT, "--dry-run").out.splitlines()[4]
        assert said == "  to be committed on qrspi/user-auth, a new branch from main (--here stays)"
        assert (shop.branches(), shop.run.exists()) == (["main"], False)

    @pytest.mark.rule("LIV-12")
    @pytest.mark.parametrize(("key", "where"), [("1", "qrspi/user-auth"), ("2", "main")])
    def test_a_person_at_a_terminal_is_asked(self, key: str, where: str, shop: Project) -> None:
        with Terminal(*INIT, "--test-command", "none") as screen:
            screen.until("Number")
            assert "You are on main, the default branch. Where shall the run be?" in screen.screen
            screen.type(f"{key}\n")
            assert screen.end() == 0
        assert branch(shop) == where

    @pytest.mark.rule("LIV-11")
    def test_adopting_commits_the_artifacts_too(self, shop: Project, qrspi: Call) -> None:
        shop.put({"goals.md": runs.artifact(), "notes.txt": b"mine\n"})
        result = qrspi("init", "--adopt", FOLDER, "--pipeline", "quick", "--no-second-reviewer")
        assert result.code == 0
        assert shop.committed() == ["approvals.jsonl", "config.md", "goals.md"]
        assert shop.status() == [f"?? {FOLDER}/notes.txt"]


class TestDrafts:
    @pytest.mark.rule("LIV-11")
    def test_next_commits_the_draft_that_was_written(self, shop: Project, qrspi: Call) -> None:
        qrspi(*INIT)
        shop.write("goals.md", runs.artifact(body="# Goals\n\n## G1\n\nSign in.\n"))
        result = qrspi("next")
        commit = shop.git("rev-parse", "--short=12", "HEAD")
        assert result.err == f"the draft of goals is committed as {commit}\n"
        assert shop.subjects()[0] == "docs(qrspi): draft goals for user-auth"
        assert shop.committed() == ["goals.md"]

    @pytest.mark.rule("LIV-11")
    def test_a_clone_has_the_config_and_every_draft(
        self, shop: Project, qrspi: Call, tmp_path: Path
    ) -> None:
        """A run that somebody made without git's help is whole after the first `next`."""
        shop.put({"config.md": runs.config(), "goals.md": runs.artifact()})
        qrspi("next")
        shop.git("clone", "-q", str(shop.root), str(tmp_path / "clone"))
        clone = qrspi("--root", tmp_path / "clone", "status", "--json").json["runs"][0]
        assert (clone["errors"], clone["next"]["action"]) == ([], "prepare-round")

    @pytest.mark.rule("LIV-11")
    def test_the_tasks_of_a_plan_go_along(self, shop: Project, qrspi: Call) -> None:
        earlier = runs.approved("goals", "questions", "research")
        shop.put({"config.md": runs.config("quick"), **earlier})
        shop.commit("so far")
        shop.put({"plan.md": runs.artifact(), "tasks/task-01.md": runs.artifact()})
        assert qrspi("next").code == 0
        assert shop.committed() == ["plan.md", "tasks/task-01.md"]

    @pytest.mark.rule("LIV-11")
    def test_what_is_staged_stays_staged(self, shop: Project, qrspi: Call) -> None:
        qrspi(*INIT)
        shop.write("goals.md", runs.artifact())
        (shop.root / "a.py").write_text("a = 1\n")
        shop.git("add", "a.py")
        qrspi("next")
        assert (shop.committed(), shop.status()[0]) == (["goals.md"], "M  a.py")

    @pytest.mark.rule("LIV-11")
    @pytest.mark.parametrize("place", [".", FOLDER])
    @pytest.mark.parametrize("how", ["flag", "config"])
    def test_who_commits_by_hand_is_told_in_one_line(
        self,
        how: str,
        place: str,
        shop: Project,
        qrspi: Call,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        off = {"commit": "off"} if how == "config" else {}
        shop.put({"config.md": runs.config(**off), "goals.md": runs.artifact()})
        monkeypatch.chdir(shop.root / place)
        path = "goals.md" if place == FOLDER else f"{FOLDER}/goals.md"
        words = ("next", "--no-commit") if how == "flag" else ("next",)
        assert qrspi(*words) == (
            3,
            "",
            "artifact goals.md is untracked — commit before reviewer dispatch\n"
            f"  git add -- {path}\n",
        )
        shop.git("add", "--", path, at=Path.cwd())
        assert qrspi(*words).code == 0
        assert shop.subjects() == ["start"]

    @pytest.mark.rule("LIV-11")
    def test_several_files_are_one_short_line(self, shop: Project, qrspi: Call) -> None:
        earlier = runs.approved("goals", "questions", "research")
        shop.put({"config.md": runs.config("quick"), **earlier})
        shop.commit("so far")
        shop.put({"plan.md": runs.artifact(), "tasks/task-01.md": runs.artifact()})
        result = qrspi("next", "--no-commit", "--json").json
        assert result["hint"] == f"git add -- {FOLDER}"

    @pytest.mark.rule("LIV-11")
    def test_who_opens_a_round_by_hand_commits_by_hand(self, shop: Project, qrspi: Call) -> None:
        shop.put({"config.md": runs.config(), "goals.md": runs.artifact()})
        assert qrspi("round", "prepare", "goals").code == 3

    @pytest.mark.rule("LIV-11")
    def test_a_later_round_is_not_parted_from_the_one_before(
        self, shop: Project, qrspi: Call
    ) -> None:
        """It is compared with the commit before the last: one more would widen it."""
        qrspi(*INIT)
        shop.write("goals.md", runs.artifact())
        qrspi("next")
        for tag in ("quality-claude", "scope-claude"):
            shop.write(f"reviews/goals/round-01/{tag}.clean.md", runs.clean(tag))
        shop.write("goals.md", runs.artifact(body="# Other goals\n"))
        before = shop.subjects()
        result = qrspi("next")
        assert "open goals round 2" in result.out
        assert shop.subjects() == before


class TestConfig:
    @pytest.mark.rule("LIV-11")
    def test_what_is_set_is_committed(self, shop: Project, qrspi: Call) -> None:
        qrspi(*INIT)
        done = qrspi("config", "set", "gates.test_command", "true")
        assert shop.subjects()[0] == "docs(qrspi): config set for user-auth"
        assert (shop.committed(), shop.status()) == (["approvals.jsonl", "config.md"], [])
        commit = shop.git("rev-parse", "HEAD").strip()
        said = f"  committed as {commit[:12]}: approvals.jsonl, config.md"
        assert (done.code, done.out.splitlines()[-1]) == (0, said)
        same = qrspi("config", "set", "gates.test_command", "true", "--json").json
        assert (same["changed"], same["commit"]) == (False, None)
        routed = qrspi("route", "set", "full", "--json").json
        assert routed["commit"] == shop.git("rev-parse", "HEAD").strip()

    @pytest.mark.rule("LIV-11")
    def test_who_switches_commits_off_commits_by_hand(self, shop: Project, qrspi: Call) -> None:
        qrspi(*INIT)
        before = shop.subjects()
        shop.git("checkout", "-q", "--detach")
        assert qrspi("config", "set", "commit", "off").code == 0
        assert qrspi("config", "set", "review_depth", "deep", "--json").json["commit"] is None
        written = [f" M {FOLDER}/{name}" for name in ("approvals.jsonl", "config.md")]
        assert (shop.subjects(), shop.status()) == (before, written)


@pytest.mark.rule("LIV-12")
def test_a_run_on_the_branch_of_another_one_is_told(shop: Project, qrspi: Call) -> None:
    assert "is the branch of" not in qrspi(*INIT).err
    second = ("init", "user-names", *INIT[2:])
    said = (
        "qrspi/user-auth is the branch of 2026-05-17-user-auth, and both runs share it. To keep "
        "them apart, switch to the default branch before `init`.\n"
    )
    assert qrspi(*second, "--dry-run").err == said
    assert qrspi(*second).err == said
    shop.git("switch", "-q", "main")
    assert "is the branch of" not in qrspi("init", "user-roles", *INIT[2:]).err
