from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.errors import Halt
from qrspi.world.git import command, repository, tracked_files
from qrspi.world.git.repository import Repo
from tests.project import RUN, Project, init, trap


def plain(project: Project, tmp_path: Path) -> Path:
    return project.run


def the_root(project: Project, tmp_path: Path) -> Path:
    return project.root


def unborn(project: Project, tmp_path: Path) -> Path:
    return init(tmp_path / "unborn").run


def sha256(project: Project, tmp_path: Path) -> Path:
    return init(tmp_path / "sha256", "--object-format=sha256").run


def detached(project: Project, tmp_path: Path) -> Path:
    project.git("checkout", "-q", "--detach")
    return project.run


def linked(project: Project, tmp_path: Path) -> Path:
    project.git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    return tmp_path / "linked" / project.run.relative_to(project.root)


def linked_with_own_config(project: Project, tmp_path: Path) -> Path:
    project.git("config", "extensions.worktreeConfig", "true")
    return linked(project, tmp_path)


def submodule(project: Project, tmp_path: Path) -> Path:
    outer = init(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(project.root), "inner")
    return outer.root / "inner"


def symlinked(project: Project, tmp_path: Path) -> Path:
    (tmp_path / "link").symlink_to(project.run)
    return tmp_path / "link"


def separate_git_dir(project: Project, tmp_path: Path) -> Path:
    return init(tmp_path / "apart", f"--separate-git-dir={tmp_path / 'store'}").run


def included_config(project: Project, tmp_path: Path) -> Path:
    (tmp_path / "more").write_text("[core]\n\tbare = false\n")
    project.git("config", "include.path", str(tmp_path / "more"))
    return project.run


def shallow(project: Project, tmp_path: Path) -> Path:
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(tmp_path / "shallow"))
    return tmp_path / "shallow" / project.run.relative_to(project.root)


def odd_name(project: Project, tmp_path: Path) -> Path:
    return init(tmp_path / "a 'b' \"c\" é").run


def inside_an_empty_dot_git(project: Project, tmp_path: Path) -> Path:
    (project.root / "docs" / ".git").mkdir()
    return project.run


def bare_on_the_way(project: Project, tmp_path: Path) -> Path:
    project.git("clone", "-q", "--bare", ".", str(project.run / "inner"))
    for name in ("HEAD", "objects", "refs", "config"):
        (project.run / "inner" / name).rename(project.run / name)
    return project.run


def bare_with_its_parts_elsewhere(project: Project, tmp_path: Path) -> Path:
    project.git("clone", "-q", "--bare", ".", str(project.run / "inner"))
    (project.run / "inner" / "HEAD").rename(project.run / "HEAD")
    (project.run / "commondir").write_text("inner\n")
    return project.run


def bare_beside_an_empty_dot_git(project: Project, tmp_path: Path) -> Path:
    (project.run / ".git").mkdir()
    return bare_on_the_way(project, tmp_path)


def nowhere(project: Project, tmp_path: Path) -> Path:
    (tmp_path / "plain").mkdir()
    return tmp_path / "plain"


def bare(project: Project, tmp_path: Path) -> Path:
    project.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    return tmp_path / "bare.git"


def below_bare(project: Project, tmp_path: Path) -> Path:
    inside = bare(project, tmp_path) / "docs"
    inside.mkdir()
    return inside


def bare_in_dot_git(project: Project, tmp_path: Path) -> Path:
    project.git("config", "core.bare", "true")
    return project.run


def bare_on_one_line(project: Project, tmp_path: Path) -> Path:
    config = project.root / ".git" / "config"
    config.write_text(config.read_text() + "[core] bare\n")
    return project.run


def inside_dot_git(project: Project, tmp_path: Path) -> Path:
    return project.root / ".git" / "info"


def work_tree_elsewhere(project: Project, tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    project.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    return project.run


World = Callable[[Project, Path], Path]
LOOK_ALIKE = [bare_on_the_way, bare_with_its_parts_elsewhere, bare_beside_an_empty_dot_git]
WITH = [
    *(plain, the_root, unborn, sha256, detached, linked, linked_with_own_config, submodule),
    *(symlinked, separate_git_dir, included_config, shallow, odd_name, inside_an_empty_dot_git),
]
WITHOUT = [
    *(nowhere, bare, below_bare, bare_in_dot_git, bare_on_one_line, inside_dot_git),
    work_tree_elsewhere,
]


@pytest.mark.rule("RUN-08")
@pytest.mark.parametrize("world", WITH, ids=lambda world: world.__name__)
def test_a_work_tree_is_found(world: World, project: Project, tmp_path: Path) -> None:
    path = world(project, tmp_path)
    repo = repository.find(str(path))
    asked = "--show-toplevel --absolute-git-dir --git-common-dir --show-object-format".split()
    root, git_dir, common, name = project.git("rev-parse", *asked, at=path).split("\n")
    real = path.resolve()
    assert repo == Repo(str(real), root, git_dir, str((real / common).resolve()), name)


@pytest.mark.rule("RUN-08")
@pytest.mark.parametrize("world", WITHOUT, ids=lambda world: world.__name__)
def test_no_work_tree_is_found(world: World, project: Project, tmp_path: Path) -> None:
    assert not repository.in_git(str(world(project, tmp_path)))


@pytest.mark.rule("RUN-08")
@pytest.mark.parametrize("world", [*WITH, *WITHOUT, *LOOK_ALIKE], ids=lambda world: world.__name__)
def test_a_look_never_contradicts_git(world: World, project: Project, tmp_path: Path) -> None:
    path = os.path.realpath(world(project, tmp_path))
    assert repository._look(path) in ("unsure", repository._ask(path))


@pytest.mark.rule("SEC-12")
@pytest.mark.parametrize("deep", ["", "reviews/goals"])
@pytest.mark.parametrize("ceiling", ["", "/nowhere"])
@pytest.mark.parametrize("world", LOOK_ALIKE, ids=lambda world: world.__name__)
def test_a_folder_that_looks_like_a_bare_repository_is_files(
    world: World,
    ceiling: str,
    deep: str,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if ceiling:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", ceiling)  # now git is asked
    place = world(project, tmp_path) / deep
    place.mkdir(parents=True, exist_ok=True)
    top = project.root.resolve()
    found = repository.find(str(place))
    assert found == Repo(str(place.resolve()), str(top), f"{top}/.git", f"{top}/.git")
    assert tracked_files.tracked(found, ["plan.md"]) == tracked_files.tracked(
        found._replace(path=str(top)), [f"{found.from_root('.')}/plan.md"]
    )


@pytest.mark.rule("SEC-12")
@pytest.mark.parametrize("world", LOOK_ALIKE, ids=lambda world: world.__name__)
def test_a_commit_beside_one_goes_into_the_real_repository_and_runs_nothing_of_it(
    world: World, project: Project, tmp_path: Path
) -> None:
    hooks = trap(tmp_path / "hooks" / "pre-commit", f"touch {tmp_path}/ran").parent
    place = world(project, tmp_path)
    for config in place.rglob("config"):
        more = f"[core]\n\tbare = false\n\tworktree = {place}\n\thooksPath = {hooks}\n"
        config.write_text(f"{more}\tfsmonitor = touch {tmp_path}/ran\n")
    (place / "plan.md").write_text("new\n")
    said = command.write(str(place), ["commit", "-q", "-m", "new", "--only", "--", "plan.md"])
    assert (said.status, project.subjects()[0]) == (0, "new"), said.err
    assert not (tmp_path / "ran").exists()


@pytest.mark.rule("RUN-08")
def test_the_current_directory_is_not_what_counts(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = nowhere(project, tmp_path)
    monkeypatch.chdir(project.root)
    assert not repository.in_git(str(outside))
    monkeypatch.chdir(outside)
    assert repository.in_git(str(project.run))


def test_a_ceiling_is_respected(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.run.parent))
    assert not repository.in_git(str(project.run))


def test_a_repository_of_another_user_names_the_way_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(Halt) as stopped:
        repository.in_git(str(project.run))
    assert stopped.value.problem.message == (
        f"{project.root} belongs to another user, and git reads no repository of somebody else: if "
        f"you trust it, run `git config --global --add safe.directory {project.root}`"
    )


def test_a_work_tree_whose_repository_moved_is_not_taken_for_no_git(
    project: Project, tmp_path: Path
) -> None:
    path = linked(project, tmp_path)
    project.root.rename(tmp_path / "moved")
    with pytest.raises(Halt) as stopped:
        repository.in_git(str(path))
    assert stopped.value.problem.message == (
        "git rev-parse exited 128: fatal: not a git repository: "
        f"{project.root}/.git/worktrees/linked"
    )


def conflict(project: Project) -> None:
    for branch in ("main", "feature"):
        project.git("checkout", "-q", branch)
        project.write("plan.md", f"{branch}\n")
        project.commit(branch)


def stopped_rebase(project: Project) -> None:
    project.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")


def stopped_am(project: Project) -> None:
    patch = project.git_bytes("format-patch", "--stdout", "-1", "main")
    (project.root / ".git" / "patch").write_bytes(patch)
    failing(project, "am", ".git/patch")


def failing(project: Project, *args: str) -> None:
    with pytest.raises(AssertionError):
        project.git(*args)


@pytest.mark.rule("CMT-01")
@pytest.mark.parametrize(
    ("what", "start"),
    [
        ("merge", lambda project: failing(project, "merge", "main")),
        ("rebase", lambda project: failing(project, "rebase", "-q", "main")),
        ("rebase", lambda project: failing(project, "rebase", "-q", "--apply", "main")),
        ("rebase", stopped_rebase),
        ("am", stopped_am),
        ("cherry-pick", lambda project: failing(project, "cherry-pick", "main")),
        ("revert", lambda project: failing(project, "revert", "--no-edit", "HEAD~1", "main")),
        ("bisect", lambda project: project.git("bisect", "start")),
        (None, lambda project: None),
    ],
)
def test_what_is_under_way_has_a_name(
    what: str | None, start: Callable[[Project], None], project: Project
) -> None:
    conflict(project)
    start(project)
    repo = repository.find(str(project.run))
    assert repo and repository.under_way(repo) == what


@pytest.mark.parametrize(
    ("world", "name"), [(plain, "feature"), (unborn, "main"), (detached, None), (linked, "main")]
)
def test_the_branch_is_known(
    world: World, name: str | None, project: Project, tmp_path: Path
) -> None:
    repo = repository.find(str(world(project, tmp_path)))
    assert repo and repository.branch(repo) == name


def test_a_head_that_is_no_plain_file_is_asked_of_git(project: Project) -> None:
    head = project.root / ".git" / "HEAD"
    head.unlink()
    head.symlink_to("refs/heads/feature")
    repo = repository.find(str(project.run))
    assert repo and repository.branch(repo) == "feature"


def test_the_identity_is_gits_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository.find(str(project.run))
    assert repo
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Zoë <x> Example")
    assert repository.identity(repo) == "Zoë x Example <ada@example.org>"
    for name in ("NAME", "EMAIL"):
        monkeypatch.delenv(f"GIT_AUTHOR_{name}")
    project.git("config", "user.useConfigOnly", "true")
    assert repository.identity(repo) is None


@pytest.mark.rule("DIF-01")
def test_what_is_untracked_is_named(project: Project) -> None:
    project.write("tasks/task-01.md", "one\n")
    project.git("add", "--intent-to-add", "docs")
    project.write("tasks/task-02.md", "two\n")
    project.write("*.md", "star\n")
    repo = repository.find(str(project.run))
    paths = ["plan.md", "tasks", "tasks/task-01.md", "tasks/task-02.md", "*.md", "none.md"]
    assert repo and tracked_files.untracked(repo, paths) == ("tasks/task-02.md", "*.md", "none.md")


def nested(project: Project, tmp_path: Path, folder: str) -> Path:
    """A repository at a folder of the project, and the run in it."""
    (project.root / folder / "deeper").mkdir(parents=True, exist_ok=True)
    project.git("init", "-q", at=project.root / folder)
    return project.run


@pytest.mark.rule("SEC-12")
@pytest.mark.parametrize("folder", ["docs", "docs/qrspi", RUN])
def test_a_repository_beside_the_texts_is_refused(
    project: Project, tmp_path: Path, folder: str
) -> None:
    with pytest.raises(Halt) as refused:
        repository.find(str(nested(project, tmp_path, folder)))
    problem, place = refused.value.problem, f"{project.root}/{folder}/.git"
    assert (problem.code, problem.file) == ("nested-repository", place)
    assert problem.hint == f"mv {place} {place}.old"
    project.git("worktree", "list")  # the one around it is as it was


@pytest.mark.rule("SEC-12")
def test_without_a_repository_around_only_the_run_is_none(tmp_path: Path) -> None:
    """The folder of runs may be in git alone; a run never is."""
    run = tmp_path / RUN
    run.mkdir(parents=True)
    project = Project(tmp_path)
    project.git("init", "-q", at=run.parent)
    found = repository.find(str(run))
    assert found and found.root == str(run.parent)
    project.git("init", "-q", at=run)
    with pytest.raises(Halt) as refused:
        repository.find(str(run))
    assert refused.value.problem.code == "nested-repository"


@pytest.mark.rule("SEC-12")
def test_docs_may_be_a_submodule(project: Project, tmp_path: Path) -> None:
    inner, outer = init(tmp_path / "inner"), Project(tmp_path / "outer")
    outer.root.mkdir()
    outer.git("init", "-q")
    (inner.root / "qrspi/a-run").mkdir(parents=True)
    (inner.root / "qrspi/a-run/goals.md").write_text("x")
    inner.commit()
    outer.git("submodule", "--quiet", "add", str(inner.root), "docs")
    found = repository.find(str(outer.root / "docs/qrspi/a-run"))
    assert found and found.root == str(outer.root / "docs")


@pytest.mark.rule("SEC-11", "SEC-12")
def test_a_work_tree_above_its_own_git_is_refused(project: Project) -> None:
    project.git("config", "core.worktree", "../..")
    with pytest.raises(Halt) as refused:
        repository.find(str(project.run))
    problem = refused.value.problem
    assert (problem.code, problem.field) == ("root-leads-out", "core.worktree")
    assert problem.found == str(project.root.parent)
