from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.errors import Refusal
from qrspi.world.git import commits, refs
from qrspi.world.git.refs import EMPTY_TREES, Ref
from qrspi.world.git.repository import Repo, find
from tests.project import RUN, Project, init

NO_BASE = (
    "no base branch to compare with: the remote names none, and there is no main, master or "
    "trunk; set base_branch in config.md to a branch of this repository"
)


def repo_of(project: Project) -> Repo:
    repo = find(str(project.run))
    assert repo
    return repo


def cloned(project: Project, tmp_path: Path, *options: str) -> Project:
    project.git("clone", "-q", *options, f"file://{project.root}", str(tmp_path / "clone"))
    return Project(tmp_path / "clone")


@pytest.mark.rule("DIF-03", "DIF-06")
@pytest.mark.parametrize(
    ("branches", "configured", "name"),
    [
        (["main", "master", "trunk"], None, "main"),
        (["trunk", "master"], None, "master"),
        (["trunk", "develop"], None, "trunk"),
        (["main", "develop"], "develop", "develop"),
        (["main", "release/1.0"], "release/1.0", "release/1.0"),
        (["main", "develop"], "refs/heads/develop", "develop"),
    ],
)
def test_the_base_is_the_configured_branch_or_a_usual_one(
    branches: list[str], configured: str | None, name: str, project: Project
) -> None:
    base = project.git("rev-parse", "main")
    project.git("branch", "-D", "-q", "main")
    for branch in branches:
        project.git("branch", branch, base)
    assert refs.base(repo_of(project), configured) == Ref(name, base)


@pytest.mark.rule("DIF-03", "DIF-06")
def test_the_remotes_head_branch_comes_before_the_usual_names(
    project: Project, tmp_path: Path
) -> None:
    project.git("branch", "-q", "main2", "main")
    project.git("branch", "-q", "-M", "main", "develop")
    project.git("branch", "-q", "-M", "main2", "main")
    project.git("checkout", "-q", "develop")
    base = project.git("rev-parse", "develop")
    clone = cloned(project, tmp_path)
    clone.git("checkout", "-q", "-b", "work")
    assert refs.base(repo_of(clone), None) == Ref("develop", base)
    clone.write("x.md", "local\n")
    local = clone.commit()
    clone.git("branch", "-q", "-f", "develop", local)
    assert refs.base(repo_of(clone), None) == Ref("develop", local)
    clone.git("branch", "-q", "-D", "develop")
    assert refs.base(repo_of(clone), None) == Ref("origin/develop", base)


@pytest.mark.rule("DIF-03")
def test_a_branch_of_the_remote_a_tag_or_a_commit_can_be_configured(
    project: Project, tmp_path: Path
) -> None:
    base = project.git("rev-parse", "main")
    project.git("tag", "-a", "-m", "x", "v1", "main")
    clone = cloned(project, tmp_path)
    repo = repo_of(clone)
    answers = [refs.base(repo, name) for name in ("origin/main", "v1", base)]
    assert answers == [Ref("origin/main", base), Ref("v1", base), Ref(base, base)]


@pytest.mark.rule("DIF-03")
def test_a_tag_does_not_hide_the_branch_of_its_name(project: Project) -> None:
    project.git("tag", "main", "feature")
    base = project.git("rev-parse", "refs/heads/main")
    repo = repo_of(project)
    assert [refs.base(repo, None), refs.base(repo, "main")] == [Ref("main", base)] * 2


@pytest.mark.rule("DIF-03")
@pytest.mark.parametrize("configured", [None, "main", "refs/heads/main"])
def test_on_the_base_branch_everything_is_new(configured: str | None, project: Project) -> None:
    project.git("checkout", "-q", "main")
    assert refs.base(repo_of(project), configured) == Ref(EMPTY_TREES["sha1"], None)


@pytest.mark.rule("DIF-03")
@pytest.mark.parametrize("name", ["sha1", "sha256"])
def test_the_empty_tree_is_gits(name: str, tmp_path: Path) -> None:
    project = init(tmp_path / "project", f"--object-format={name}")
    known = project.git("hash-object", "-t", "tree", "/dev/null")
    assert refs.base(repo_of(project), None) == Ref(known, None)


@pytest.mark.rule("DIF-03")
def test_without_any_base_the_field_is_named(project: Project) -> None:
    project.git("branch", "-q", "-D", "main")
    with pytest.raises(Refusal) as refused:
        refs.base(repo_of(project), None)
    problem = refused.value.problem
    assert (refused.value.exit_code, problem.message) == (3, NO_BASE)
    assert (problem.file, problem.field) == ("config.md", "base_branch")


@pytest.mark.rule("DIF-03", "DIF-04", "SEC-07")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gone",
            "config.md: base_branch is 'gone', which names no commit here; set base_branch in "
            "config.md to a branch of this repository",
        ),
        (
            "HEAD:./plan.md",
            "config.md: base_branch is 'HEAD:./plan.md', which names no commit here; set "
            "base_branch in config.md to a branch of this repository",
        ),
        (
            "--output=x",
            "config.md: base_branch is '--output=x': expected the name of a branch or commit, "
            "which never begins with '-'",
        ),
        (
            "a\nb",
            "config.md: base_branch is 'a\\nb': expected the name of a branch or commit, which "
            "never begins with '-'",
        ),
    ],
)
def test_a_base_that_is_no_commit_is_refused(name: str, message: str, project: Project) -> None:
    with pytest.raises(Refusal) as refused:
        refs.base(repo_of(project), name)
    assert refused.value.problem.message == message
    assert not list(project.root.glob("**/x"))


Question = Callable[[Repo, str], object]


@pytest.mark.rule("DIF-04", "SEC-07")
@pytest.mark.parametrize(
    "question",
    [
        refs.resolve,
        lambda repo, name: refs.merge_base(repo, "HEAD", name),
        lambda repo, name: refs.is_ancestor(repo, name, "HEAD"),
    ],
)
@pytest.mark.parametrize("name", ["--all", "-1", "", " ", "\0"])
def test_no_question_hands_git_an_option(question: Question, name: str, project: Project) -> None:
    with pytest.raises(Refusal) as refused:
        question(repo_of(project), name)
    assert refused.value.problem.code == "bad-ref"


@pytest.mark.rule("CNV-10")
def test_the_parent_of_head(project: Project, tmp_path: Path) -> None:
    main = project.git("rev-parse", "main")
    assert commits.parent_of_head(repo_of(project)) == Ref("HEAD~1", main)
    project.git("checkout", "-q", "--detach")
    assert commits.parent_of_head(repo_of(project)) == Ref("HEAD~1", main)
    shallow = cloned(project, tmp_path, "--depth=1")
    assert commits.parent_of_head(repo_of(shallow)) is None
    project.git("checkout", "-q", "main")
    assert commits.parent_of_head(repo_of(project)) is None


@pytest.mark.rule("CNV-10", "LIV-11")
def test_commits_of_decisions_are_passed_over(project: Project) -> None:
    project.git("checkout", "-q", "feature")
    main, mark = project.git("rev-parse", "main"), "QRSPI-Decision: run/goals/01"
    for words in ("decide", "decide again"):
        project.git("commit", "-q", "--allow-empty", "-m", f"{words}\n\n{mark}")
    assert commits.parent_of_head(repo_of(project)) == Ref("HEAD~3", main)
    project.git("commit", "-q", "--allow-empty", "-m", "by hand")
    feature = project.git("rev-parse", "feature~3")
    assert commits.parent_of_head(repo_of(project)) == Ref("HEAD~3", feature)


def test_a_branch_without_commits_has_no_head(tmp_path: Path) -> None:
    repo = repo_of(init(tmp_path / "unborn"))
    assert (refs.head(repo), commits.parent_of_head(repo)) == (None, None)


def test_histories_are_compared(project: Project) -> None:
    main, feature = project.git("rev-parse", "main"), project.git("rev-parse", "feature")
    project.git("checkout", "-q", "--orphan", "other")
    project.git("commit", "-q", "-m", "x")
    repo = repo_of(project)
    assert refs.merge_base(repo, "feature", "main") == main
    assert refs.merge_base(repo, "feature", "other") is None
    assert refs.is_ancestor(repo, main, feature)
    assert not refs.is_ancestor(repo, feature, main)


def test_a_commit_that_is_gone_resolves_to_nothing(project: Project) -> None:
    assert refs.resolve(repo_of(project), "0123456789" * 4) is None
    assert refs.resolve(repo_of(project), f"HEAD:{RUN}/plan.md") is None
