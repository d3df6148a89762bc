from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.errors import Halt, Refusal
from qrspi.world.git import merges, worktrees
from qrspi.world.git.merges import Conflict, Merged, UpToDate
from qrspi.world.git.refs import head
from qrspi.world.git.repository import Repo, find
from qrspi.world.git.worktree_list import Worktree
from tests.project import RUN, Project, trap

BRANCH = "qrspi/user-auth/task-01"


def repo_of(path: Path) -> Repo:
    repo = find(str(path))
    assert repo
    return repo


def place(project: Project) -> Path:
    return project.root / ".worktrees" / "user-auth" / "task-01"


def with_branch(project: Project) -> Repo:
    repo = repo_of(project.root)
    worktrees.create_branch(repo, BRANCH, project.git("rev-parse", "main"))
    return repo


@pytest.mark.rule("IMP-04")
def test_a_branch_is_made_where_it_was_asked_for(project: Project) -> None:
    repo = repo_of(project.root)
    main = project.git("rev-parse", "main")
    project.git("config", "branch.autoSetupMerge", "always")
    assert worktrees.tip(repo, BRANCH) is None
    worktrees.create_branch(repo, BRANCH, main)
    assert worktrees.tip(repo, BRANCH) == main == project.git("rev-parse", BRANCH)
    project.git("tag", "only-a-tag")
    assert worktrees.tip(repo, "only-a-tag") is None


@pytest.mark.rule("IMP-04", "SEC-07")
@pytest.mark.parametrize(
    ("name", "error"),
    [("--force", Refusal), ("-D", Refusal), ("a..b", Halt), ("a b", Halt), ("HEAD", Halt)],
)
def test_a_name_that_no_branch_can_have(name: str, error: type[Refusal], project: Project) -> None:
    before = project.git("for-each-ref")
    with pytest.raises(error):
        worktrees.create_branch(repo_of(project.root), name, "main")
    assert project.git("for-each-ref") == before


@pytest.mark.rule("IMP-04")
def test_a_work_tree_is_made_listed_reused_and_removed(project: Project) -> None:
    repo = with_branch(project)
    path = place(project)
    assert worktrees.condition(repo, str(path), BRANCH) == "absent"
    worktrees.add_worktree(repo, str(path), BRANCH)
    main = project.git("rev-parse", "main")
    assert worktrees.worktrees(repo) == (
        Worktree(str(project.root), project.git("rev-parse", "feature"), "feature"),
        Worktree(str(path), main, BRANCH),
    )
    (path / "work.py").write_text("mine\n")
    worktrees.add_worktree(repo, str(path), BRANCH)
    assert (path / "work.py").read_text() == "mine\n"
    worktrees.remove_worktree(repo, str(path))
    assert (path.exists(), len(worktrees.worktrees(repo))) == (False, 1)


@pytest.mark.rule("IMP-05")
def test_a_throwaway_work_tree_has_no_branch(project: Project, tmp_path: Path) -> None:
    repo = repo_of(project.root)
    main = project.git("rev-parse", "main")
    worktrees.add_detached(repo, str(tmp_path / "throwaway"), main)
    assert worktrees.worktrees(repo)[1] == Worktree(str(tmp_path / "throwaway"), main, None)


def killed_in_checkout(project: Project, path: Path) -> None:
    """What `git worktree add` leaves when it dies before all files are there."""
    lock = ("--lock", "--reason", "initializing")
    project.git("worktree", "add", "-q", "--no-checkout", *lock, str(path), BRANCH)
    (path / "half-a-file").write_text("x")


def directory_deleted(project: Project, path: Path) -> None:
    project.git("worktree", "add", "-q", str(path), BRANCH)
    subprocess.run(["rm", "-r", str(path)], check=True)


def directory_emptied(project: Project, path: Path) -> None:
    directory_deleted(project, path)
    path.mkdir()


def locked_and_deleted(project: Project, path: Path) -> None:
    project.git("worktree", "add", "-q", "--lock", str(path), BRANCH)
    subprocess.run(["rm", "-r", str(path)], check=True)


@pytest.mark.rule("IMP-04")
@pytest.mark.parametrize(
    "leave", [killed_in_checkout, directory_deleted, directory_emptied, locked_and_deleted]
)
def test_a_half_made_work_tree_is_made_again(
    leave: Callable[[Project, Path], None], project: Project
) -> None:
    repo = with_branch(project)
    path = place(project)
    leave(project, path)
    assert worktrees.condition(repo, str(path), BRANCH) == "half-made"
    worktrees.add_worktree(repo, str(path), BRANCH)
    assert worktrees.condition(repo, str(path), BRANCH) == "ready"
    assert project.git("status", "--porcelain", at=path) == ""
    assert (path / RUN / "plan.md").exists()


def a_plain_directory(project: Project, path: Path) -> None:
    path.mkdir(parents=True)
    (path / "mine.txt").write_text("mine\n")


def a_file(project: Project, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")


def a_link(project: Project, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(project.root / "nowhere")


def another_branch(project: Project, path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "other", str(path))


@pytest.mark.rule("IMP-04", "LIV-13")
@pytest.mark.parametrize("leave", [a_plain_directory, a_file, a_link, another_branch])
def test_what_is_not_ours_is_refused_and_kept(
    leave: Callable[[Project, Path], None], project: Project
) -> None:
    repo = with_branch(project)
    path = place(project)
    leave(project, path)
    before = sorted(project.root.rglob("*"))
    with pytest.raises(Refusal) as refused:
        worktrees.add_worktree(repo, str(path), BRANCH)
    back = f"git -C {path} switch {BRANCH}"
    on_other = f"it is on other, so go back there with `{back}`"
    advice, way_out = "move it away", f"mv {path} {path}.old"
    if leave is another_branch:
        advice, way_out = on_other, back
    problem = refused.value.problem
    assert (refused.value.exit_code, problem.hint, problem.message) == (
        3,
        way_out,
        f"{path} is there and is no work tree of branch {BRANCH}: {advice}, then run the same "
        "command again",
    )
    assert sorted(project.root.rglob("*")) == before


def test_a_branch_that_is_checked_out_elsewhere_is_gits_to_refuse(project: Project) -> None:
    repo = repo_of(project.root)
    with pytest.raises(Halt) as stopped:
        worktrees.add_worktree(repo, str(place(project)), "feature")
    assert stopped.value.problem.message == (
        f"git worktree add exited 128: fatal: 'feature' is already checked out at '{project.root}'"
    )


@pytest.mark.rule("CMT-05")
def test_the_users_hooks_run_in_a_new_work_tree(project: Project, marker: Path) -> None:
    project.hook("post-checkout", f"touch {marker}")
    worktrees.add_worktree(with_branch(project), str(place(project)), BRANCH)
    assert marker.exists()


def task(project: Project, name: str, files: dict[str, str], base: str = "main") -> str:
    project.git("checkout", "-q", "-b", name, base)
    for path, text in files.items():
        (project.root / path).write_text(text)
    made = project.commit(name)
    project.git("checkout", "-q", "feature")
    return made


@pytest.mark.rule("INT-01", "IMP-04")
def test_tips_are_merged_one_after_the_other(project: Project) -> None:
    one = task(project, "task-01", {"one.py": "1\n"})
    two = task(project, "task-02", {"two.py": "2\n"})
    project.git("config", "merge.ff", "only")
    before = project.git("rev-parse", "feature")
    merged = merges.merge(repo_of(project.root), ["task-01", two], "Merge tasks")
    assert merged == Merged(project.git("rev-parse", "feature"))
    parents = project.git("log", "-2", "--first-parent", "--format=%P %s").split("\n")
    first = project.git("rev-parse", "feature~1")
    assert parents == [f"{first} {two} Merge tasks", f"{before} {one} Merge tasks"]
    again = merges.merge(repo_of(project.root), [one, two], "again")
    assert (again, project.status()) == (UpToDate(), [])


@pytest.mark.rule("INT-01")
def test_even_a_merge_that_could_be_skipped_is_recorded(project: Project) -> None:
    ahead = task(project, "task-01", {"one.py": "1\n"}, base="feature")
    merges.merge(repo_of(project.root), [ahead], "Merge task-01")
    before = project.git("rev-parse", "feature~1")
    assert project.git("log", "-1", "--format=%s: %P") == f"Merge task-01: {before} {ahead}"


@pytest.mark.rule("INT-01", "IMP-04")
@pytest.mark.parametrize("rerere", ["false", "true"])
def test_a_conflict_gives_the_files_and_leaves_no_trace(rerere: str, project: Project) -> None:
    project.git("config", "rerere.enabled", rerere)
    project.git("config", "rerere.autoUpdate", rerere)
    one = task(project, "task-01", {"é.py": "1\n", "b.py": "1\n", "fine.py": "1\n"})
    two = task(project, "task-02", {"é.py": "2\n", "b.py": "2\n"})
    if rerere == "true":
        remember(project, one, two)
    (project.root / "untracked.txt").write_text("mine\n")
    before = (project.git("rev-parse", "HEAD"), project.status())
    merged = merges.merge(repo_of(project.run), [one, two], "Merge tasks")
    assert merged == Conflict(two, ("b.py", "é.py"))
    assert (project.git("rev-parse", "HEAD"), project.status()) == before
    assert not (project.root / ".git" / "MERGE_HEAD").exists()


def remember(project: Project, one: str, two: str) -> None:
    """Teach git how this very conflict was resolved once."""
    project.git("checkout", "-q", "--detach", "feature")
    project.git("merge", "-q", "--no-ff", "-m", "x", one)
    with pytest.raises(AssertionError):
        project.git("merge", two)
    for name in ("é.py", "b.py"):
        (project.root / name).write_text("both\n")
    project.commit("resolved")
    project.git("checkout", "-q", "feature")


@pytest.mark.rule("INT-01")
def test_a_merge_that_git_refuses_says_why(project: Project) -> None:
    one = task(project, "task-01", {"one.py": "1\n"})
    (project.root / "one.py").write_text("mine\n")
    with pytest.raises(Halt) as stopped:
        merges.merge(repo_of(project.root), [one], "x")
    assert stopped.value.problem.message == (
        "git merge exited 2: error: The following untracked working tree files would be "
        "overwritten by merge: one.py; Please move or remove them before you merge.; Aborting; "
        "Merge with strategy ort failed."
    )
    assert (project.root / "one.py").read_text() == "mine\n"


@pytest.mark.rule("CMT-03", "CMT-05")
def test_a_failing_hook_takes_the_merge_back(project: Project) -> None:
    one = task(project, "task-01", {"one.py": "1\n"})
    project.hook("pre-merge-commit", "echo not today; exit 1")
    head = project.git("rev-parse", "HEAD")
    with pytest.raises(Halt) as stopped:
        merges.merge(repo_of(project.root), [one], "x")
    assert stopped.value.problem.message.startswith("git merge exited 1: not today")
    assert (project.git("rev-parse", "HEAD"), project.status()) == (head, [])


def test_no_merge_in_the_middle_of_another(project: Project) -> None:
    one = task(project, "task-01", {"notes.txt": "1\n"})
    two = task(project, "task-02", {"notes.txt": "2\n"})
    project.git("merge", "-q", "-m", "x", one)
    with pytest.raises(AssertionError):
        project.git("merge", two)
    with pytest.raises(Halt) as stopped:
        merges.merge(repo_of(project.root), [two], "x")
    assert stopped.value.problem.message == (
        f"a merge is under way in {project.root}: finish or abort it, then merge again"
    )


@pytest.mark.rule("SEC-07")
def test_an_option_is_no_tip(project: Project) -> None:
    repo = repo_of(project.root)
    with pytest.raises(Refusal):
        merges.merge(repo, ["--abort"], "x")
    with pytest.raises(Refusal):
        worktrees.add_worktree(repo, str(place(project)), "--force")
    with pytest.raises(Refusal):
        worktrees.add_detached(repo, str(place(project)), "--force")


@pytest.mark.rule("INT-03")
def test_a_dirty_work_tree_is_named_file_by_file(project: Project) -> None:
    repo = repo_of(project.run)
    (project.root / "untracked.txt").write_text("x\n")
    os.utime(project.run / "plan.md", (1, 1))
    assert worktrees.dirty(repo) == ()
    project.write("plan.md", "changed\n")
    (project.root / "é.py").write_text("staged\n")
    project.git("add", "é.py")
    (project.run / "notes.md").unlink()
    assert sorted(worktrees.dirty(repo)) == [f"{RUN}/notes.md", f"{RUN}/plan.md", "é.py"]


@pytest.mark.rule("CMT-05", "DIF-04")
@pytest.mark.parametrize("name", ["evil", "a=b", "a.b", "UPPER"])
@pytest.mark.parametrize("kind", ["clean", "process"])
def test_asking_for_dirt_runs_no_filter(
    name: str, kind: str, project: Project, marker: Path
) -> None:
    script = trap(marker.parent / "trap", f"touch {marker}; cat")
    config = project.root / ".git" / "config"
    section = f'[filter "{name}"]\n\t{kind} = {script}\n\trequired = true\n'
    config.write_text(config.read_text() + section)
    (project.root / ".gitattributes").write_text(f"*.md filter={name}\n")
    os.utime(project.run / "plan.md", (1, 1))
    worktrees.dirty(repo_of(project.run))
    assert not marker.exists()
    subprocess.run(["git", "status"], cwd=project.root, capture_output=True)
    assert marker.exists(), "plain git runs it"


@pytest.mark.rule("IMP-04")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b".worktrees/\n"),
        (b"", b".worktrees/\n"),
        (b"*.o\n", b"*.o\n.worktrees/\n"),
        (b"*.o", b"*.o\n.worktrees/\n"),
        (b"*.o\r\n/.worktrees/\r\n", b"*.o\r\n/.worktrees/\r\n"),
        (b"# .worktrees/\n", b"# .worktrees/\n.worktrees/\n"),
    ],
)
def test_the_folder_is_excluded_once(before: bytes | None, after: bytes, project: Project) -> None:
    file = project.root / ".git" / "info" / "exclude"
    file.unlink(missing_ok=True)
    if before is None:
        file.parent.rmdir()
    else:
        file.write_bytes(before)
    repo = repo_of(project.run)
    assert worktrees.exclude_folder(repo) == (before != after)
    assert not worktrees.exclude_folder(repo)
    assert file.read_bytes() == after


@pytest.mark.rule("RUN-04")
def test_an_exclude_file_that_is_a_link_is_not_written_through(
    project: Project, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    file = project.root / ".git" / "info" / "exclude"
    file.unlink(missing_ok=True)
    file.parent.mkdir(exist_ok=True)
    file.symlink_to(victim)
    with pytest.raises(Refusal):
        worktrees.exclude_folder(repo_of(project.run))
    assert victim.read_text() == "mine\n"


@pytest.mark.rule("IMP-04", "ENG-04")
def test_a_work_tree_that_lost_its_link_keeps_what_is_in_it(project: Project) -> None:
    repo = with_branch(project)
    path = place(project)
    worktrees.add_worktree(repo, str(path), BRANCH)
    (path / "work.py").write_text("mine\n")
    (path / ".git").unlink()
    assert worktrees.condition(repo, str(path), BRANCH) == "half-made"
    worktrees.add_worktree(repo, str(path), BRANCH)
    assert worktrees.condition(repo, str(path), BRANCH) == "ready"
    assert (path / "work.py").read_text() == "mine\n"


@pytest.mark.rule("IMP-05", "ENG-04")
def test_what_a_killed_removal_left_is_removed(project: Project, tmp_path: Path) -> None:
    repo = repo_of(project.root)
    path = tmp_path / "throwaway"
    worktrees.add_detached(repo, str(path), project.git("rev-parse", "main"))
    (path / ".git").unlink()
    with worktrees.throwaway(repo, str(path), project.git("rev-parse", "feature")) as tree:
        assert head(tree) == project.git("rev-parse", "feature")
    assert (path.exists(), len(worktrees.worktrees(repo))) == (False, 1)


@pytest.mark.rule("IMP-04", "ENG-04")
def test_a_work_tree_that_git_forgot_is_set_aside(project: Project) -> None:
    """As a killed `worktree add` leaves it that was just cleaning up behind itself."""
    repo = with_branch(project)
    path = place(project)
    worktrees.add_worktree(repo, str(path), BRANCH)
    (path / "work.py").write_text("mine\n")
    (project.root / ".git/worktrees/task-01/gitdir").unlink()
    assert worktrees.condition(repo, str(path), BRANCH) == "half-made"
    worktrees.add_worktree(repo, str(path), BRANCH)
    assert worktrees.condition(repo, str(path), BRANCH) == "ready"
    assert project.git("status", "--porcelain", at=path) == ""
    assert (path.with_name("task-01.left-1") / "work.py").read_text() == "mine\n"


@pytest.mark.rule("IMP-04", "ENG-04")
@pytest.mark.parametrize("keeps", ["", "half-a-file"])
def test_a_work_tree_that_git_had_hardly_begun_is_made_again(project: Project, keeps: str) -> None:
    repo = with_branch(project)
    path = place(project)
    killed_in_checkout(project, path)
    for name in {"half-a-file"} - {keeps}:
        (path / name).unlink()
    (project.root / ".git/worktrees/task-01/commondir").unlink()
    worktrees.add_worktree(repo, str(path), BRANCH)
    assert worktrees.condition(repo, str(path), BRANCH) == "ready"
    assert project.git("status", "--porcelain", at=path) == ""
    assert path.with_name("task-01.left-1").exists() is bool(keeps)


@pytest.mark.rule("IMP-04", "ENG-04")
def test_a_note_that_git_dies_on_is_dropped_when_it_is_ours(project: Project) -> None:
    repo = with_branch(project)
    path = place(project)
    killed_in_checkout(project, path)
    notes = project.root / ".git/worktrees/task-01"
    (notes / "commondir").write_text("")
    worktrees.add_worktree(repo, str(path), BRANCH)
    assert worktrees.condition(repo, str(path), BRANCH) == "ready"
    (notes / "commondir").write_text("")  # finished once, so it may hold somebody's work
    with pytest.raises(Halt, match="git worktree list exited 128"):
        worktrees.worktrees(repo)
    assert notes.exists()


@pytest.mark.rule("IMP-05")
def test_a_throwaway_takes_no_place_of_somebody_else(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "throwaway"
    path.mkdir()
    (path / "mine.txt").write_text("mine\n")
    tip = project.git("rev-parse", "main")
    with (
        pytest.raises(Refusal, match="is there and is no work tree"),
        worktrees.throwaway(repo_of(project.root), str(path), tip),
    ):
        pass
    assert (path / "mine.txt").read_text() == "mine\n"
