from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.errors import Halt, Refusal
from qrspi.world.git import commits
from qrspi.world.git.commits import Committed, Unchanged
from qrspi.world.git.repository import Repo, commit_by_files, find
from tests.project import RUN, Project, init, trap

TRAILERS = ("QRSPI-Round: sample/plan/01", f"QRSPI-Manifest: {'a' * 64}")


def repo_of(path: Path) -> Repo:
    repo = find(str(path))
    assert repo
    return repo


def commit(project: Project, *paths: str) -> str:
    made = commits.commit(repo_of(project.run), paths, "docs(qrspi): round 01", TRAILERS)
    assert isinstance(made, Committed)
    assert made.commit == project.git("rev-parse", "HEAD")
    return made.commit


def names(project: Project, at: str = "HEAD") -> list[str]:
    listed = project.git("show", "--format=", "--name-only", at).split("\n")
    return [name.removeprefix(f"{RUN}/") for name in listed if name]


def content(project: Project, path: str) -> bytes:
    return project.git_bytes("show", f"HEAD:{RUN}/{path}")


@pytest.mark.rule("CMT-01", "CMT-02")
def test_a_commit_has_its_message_and_exactly_its_paths(project: Project) -> None:
    project.write("plan.md", "changed\n")
    project.write("reviews/plan/round-01/a.clean.md", "clean\n")
    project.write("reviews/plan/round-01.diff", "")
    project.write("other.md", "other\n")
    commit(project, "plan.md", "reviews/plan/round-01", "reviews/plan/round-01.diff", "none.md")
    text = project.git("log", "-1", "--format=%B")
    assert text == f"docs(qrspi): round 01\n\n{TRAILERS[0]}\n{TRAILERS[1]}"
    assert names(project) == [
        "plan.md",
        "reviews/plan/round-01.diff",
        "reviews/plan/round-01/a.clean.md",
    ]
    assert project.status() == [f"?? {RUN}/other.md"]


@pytest.mark.rule("CMT-01")
def test_what_the_user_staged_and_changed_stays_as_it_was(project: Project) -> None:
    (project.root / "code.py").write_text("one\n")
    (project.root / "gone.py").write_text("gone\n")
    (project.root / "dropped.py").write_text("dropped\n")
    project.commit()
    (project.root / "code.py").write_text("staged\n")
    (project.root / "new.py").write_text("staged\n")
    project.git("add", "code.py", "new.py")
    (project.root / "code.py").write_text("changed after\n")
    (project.root / "planned.py").write_text("later\n")
    project.git("add", "-N", "planned.py")
    (project.root / "gone.py").unlink()
    project.git("rm", "-q", "--cached", "dropped.py")
    before = (project.status(), project.git("ls-files", "--stage", "--", ":/*.py"))
    project.write("plan.md", "changed\n")
    commit(project, "plan.md")
    assert (project.status(), project.git("ls-files", "--stage", "--", ":/*.py")) == (
        [line for line in before[0] if "plan.md" not in line],
        before[1],
    )
    assert names(project) == ["plan.md"]
    assert project.git("show", ":code.py") == "staged"


@pytest.mark.rule("CMT-01")
def test_a_named_file_is_taken_as_the_work_tree_has_it(project: Project) -> None:
    project.write("plan.md", "staged\n")
    project.git("add", "--all")
    project.write("plan.md", "final\n")
    project.write("notes.md", "staged\n")
    project.git("add", "notes.md", at=project.run)
    commit(project, "plan.md")
    assert content(project, "plan.md") == b"final\n"
    assert project.status() == [f"M  {RUN}/notes.md"]


@pytest.mark.rule("CMT-01")
def test_files_that_were_deleted_or_added_with_intent(project: Project) -> None:
    project.write("later.md", "later\n")
    project.git("add", "-N", "later.md", at=project.run)
    (project.run / "plan.md").unlink()
    project.git("rm", "-q", "notes.md", at=project.run)
    commit(project, "plan.md", "later.md")
    assert names(project) == ["later.md", "plan.md"]
    assert project.status() == [f"D  {RUN}/notes.md"]


@pytest.mark.rule("CMT-01")
@pytest.mark.parametrize(
    "name", ["*.md", "-x.md", "a b.md", ":x.md", "é.md", b"\xff.md", "nl\n.md"]
)
def test_odd_names_in_a_directory(name: str | bytes, project: Project) -> None:
    path = os.fsdecode(name)
    project.write(f"reviews/{path}", "x\n")
    project.write("reviews2.md", "x\n")
    commit(project, "reviews")
    listed = project.git_bytes("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", f"{RUN}/reviews")
    assert listed == os.fsencode(f"{RUN}/reviews/{path}\0")
    assert project.status() == [f"?? {RUN}/reviews2.md"]


@pytest.mark.rule("CMT-01", "CMT-06", "RUN-05")
def test_ignored_files_are_taken_and_droppings_are_not(project: Project) -> None:
    (project.root / ".gitignore").write_text("*.log\nreviews/\n")
    project.commit()
    project.write("cascade-audit.log", "{}\n")
    project.write("reviews/plan/round-01/a.clean.md", "clean\n")
    for dropping in (".a.swp", "a~", ".#a", "4913", "x.tmp", ".DS_Store"):
        project.write(f"reviews/plan/round-01/{dropping}", "x")
    init(project.run / "reviews" / "plan" / "nested")
    commit(project, "cascade-audit.log", "reviews")
    assert names(project) == ["cascade-audit.log", "reviews/plan/round-01/a.clean.md"]


def test_nothing_to_commit_is_a_value_and_runs_no_hook(project: Project, marker: Path) -> None:
    project.hook("pre-commit", f"touch {marker}")
    os.utime(project.run / "plan.md", (1, 1))
    project.git("config", "diff.autoRefreshIndex", "false")
    project.git("config", "diff.orderFile", "/nonexistent")
    head = project.git("rev-parse", "HEAD")
    repo = repo_of(project.run)
    answers = [commits.commit(repo, paths, "x") for paths in (["plan.md"], ["none.md"], [])]
    assert answers == [Unchanged()] * 3
    assert (project.git("rev-parse", "HEAD"), marker.exists()) == (head, False)


def test_staged_and_changed_back_is_nothing_to_commit(project: Project) -> None:
    before = (project.run / "plan.md").read_bytes()
    project.write("plan.md", "staged\n")
    project.git("rm", "-q", "--cached", "notes.md", at=project.run)
    project.git("add", "plan.md", at=project.run)
    project.write("plan.md", before)
    status = project.status()
    paths = ["plan.md", "notes.md"]
    assert commits.commit(repo_of(project.run), paths, "x") == Unchanged()
    assert project.status() == status


@pytest.mark.rule("CMT-03", "CMT-05")
def test_the_users_hooks_run_in_gits_order(project: Project, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"):
        project.hook(name, f"echo {name} >> {log}")
    project.hook("commit-msg", f"echo commit-msg >> {log}; echo 'Change-Id: I1' >> \"$1\"")
    project.write("plan.md", "changed\n")
    made = commit(project, "plan.md")
    assert log.read_text().split() == [
        *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
    ]
    message = commits.message_of(repo_of(project.run), made)
    assert commits.has_lines(message, (*TRAILERS, "Change-Id: I1"))


@pytest.mark.rule("CMT-05")
def test_the_users_filters_run_in_a_commit(project: Project, tmp_path: Path) -> None:
    script = trap(tmp_path / "upper", "tr a-z A-Z")
    project.git("config", "filter.upper.clean", str(script))
    (project.root / ".gitattributes").write_text("*.md filter=upper\n")
    project.write("new.md", "shout\n")
    commit(project, "new.md")
    assert content(project, "new.md") == b"SHOUT\n"


def test_a_hook_that_amends_gives_the_commit_that_is_there(project: Project) -> None:
    once = (
        "test -e .git/once && exit; touch .git/once; git commit -q --amend --no-edit --reset-author"
    )
    project.hook("post-commit", once)
    project.write("plan.md", "changed\n")
    commit(project, "plan.md")


@pytest.mark.rule("CMT-03")
@pytest.mark.parametrize("hook", ["pre-commit", "prepare-commit-msg", "commit-msg"])
def test_a_failing_hook_stops_with_its_output_and_leaves_the_index(
    hook: str, project: Project
) -> None:
    project.hook(hook, "echo 'line 3: no tabs'; echo 'see CONTRIBUTING' >&2; exit 3")
    (project.root / "code.py").write_text("staged\n")
    project.git("add", "code.py")
    project.write("plan.md", "changed\n")
    project.write("new.md", "new\n")
    before = project.status()
    with pytest.raises(Halt) as stopped:
        commit(project, "plan.md", "new.md")
    problem = stopped.value.problem
    assert (stopped.value.exit_code, problem.code, problem.message) == (
        *(4, "commit-failed"),
        "git commit exited 1: line 3: no tabs; see CONTRIBUTING",
    )
    assert problem.found == "line 3: no tabs\nsee CONTRIBUTING\n"
    assert project.status() == before


@pytest.mark.rule("ENG-05")
@pytest.mark.parametrize("name", ["new.md", "plan.md"])
def test_a_locked_index_is_named(name: str, project: Project) -> None:
    lock = project.root / ".git" / "index.lock"
    lock.write_text("")
    project.write(name, "changed\n")
    index = (project.root / ".git" / "index").read_bytes()
    with pytest.raises(Halt) as stopped:
        commit(project, name)
    assert (stopped.value.exit_code, stopped.value.problem.message) == (
        4,
        f"{lock} exists: another git is at work in this repository, or one was killed; when none "
        "is running, remove that file and run the same command again",
    )
    assert (project.root / ".git" / "index").read_bytes() == index


@pytest.mark.rule("ENG-05")
def test_a_lock_that_appears_meanwhile_is_named_too(project: Project, tmp_path: Path) -> None:
    lock = project.root / ".git" / "index.lock"
    project.git("config", "filter.slow.clean", str(trap(tmp_path / "slow", f"touch {lock}; cat")))
    (project.root / ".gitattributes").write_text("*.md filter=slow\n")
    project.write("plan.md", "changed\n")
    with pytest.raises(Halt) as stopped:
        commit(project, "plan.md")
    assert (stopped.value.problem.code, stopped.value.problem.file) == ("index-locked", str(lock))


def merging(project: Project) -> None:
    with pytest.raises(AssertionError):
        project.git("merge", "other")


def rebasing(project: Project) -> None:
    with pytest.raises(AssertionError):
        project.git("rebase", "-q", "other")


@pytest.mark.rule("CMT-01")
@pytest.mark.parametrize(("what", "start"), [("merge", merging), ("rebase", rebasing)])
def test_in_the_middle_of_a_merge_or_rebase_nothing_is_committed(
    what: str, start: Callable[[Project], None], project: Project
) -> None:
    project.git("checkout", "-q", "-b", "other", "main")
    project.write("plan.md", "other\n")
    project.commit()
    project.git("checkout", "-q", "feature")
    project.write("plan.md", "feature\n")
    project.commit()
    start(project)
    head, status = project.git("rev-parse", "HEAD"), project.status()
    with pytest.raises(Halt) as stopped:
        commit(project, "notes.md", "plan.md")
    assert (stopped.value.exit_code, stopped.value.problem.message) == (
        4,
        f"a {what} is under way in {project.root}: finish or abort it, then commit again",
    )
    assert (project.git("rev-parse", "HEAD"), project.status()) == (head, status)


@pytest.mark.parametrize("role", ["AUTHOR", "COMMITTER"])
def test_without_an_identity_the_commands_are_named(
    role: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.git("config", "user.useConfigOnly", "true")
    monkeypatch.delenv(f"GIT_{role}_NAME")
    monkeypatch.delenv(f"GIT_{role}_EMAIL")
    project.write("new.md", "new\n")
    status = project.status()
    with pytest.raises(Halt) as stopped:
        commit(project, "new.md")
    assert stopped.value.problem.message == (
        "git does not know who you are: run `git config --global user.name NAME` and "
        "`git config --global user.email EMAIL`, then the same command again"
    )
    assert project.status() == status


def test_signing_is_as_the_user_configured_it(project: Project, tmp_path: Path) -> None:
    signer = trap(tmp_path / "gpg", "exit 2")
    project.git("config", "gpg.program", str(signer))
    project.git("config", "commit.gpgSign", "true")
    project.write("plan.md", "changed\n")
    with pytest.raises(Halt) as stopped:
        commit(project, "plan.md")
    assert stopped.value.problem.message == (
        "git commit exited 128: error: gpg failed to sign the data; "
        "fatal: failed to write commit object"
    )


def unborn(project: Project, tmp_path: Path) -> Project:
    fresh = init(tmp_path / "unborn")
    (fresh.root / "code.py").write_text("staged\n")
    fresh.git("add", "code.py")
    return fresh


def linked(project: Project, tmp_path: Path) -> Project:
    project.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    return Project(tmp_path / "linked")


def submodule(project: Project, tmp_path: Path) -> Project:
    outer = init(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", "-b", "feature", str(project.root), "inner")
    return Project(outer.root / "inner")


def shallow(project: Project, tmp_path: Path) -> Project:
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(tmp_path / "shallow"))
    return Project(tmp_path / "shallow")


def sha256(project: Project, tmp_path: Path) -> Project:
    return init(tmp_path / "sha256", "--object-format=sha256")


@pytest.mark.rule("LIV-12")
def test_on_no_branch_nothing_is_committed(project: Project) -> None:
    project.git("checkout", "-q", "--detach")
    project.write("plan.md", "changed\n")
    before = project.git("rev-parse", "HEAD")
    with pytest.raises(Refusal) as refusal:
        commits.commit(repo_of(project.run), ["plan.md"], "a change")
    assert (refusal.value.exit_code, refusal.value.problem.code) == (3, "detached-head")
    assert project.git("rev-parse", "HEAD") == before


@pytest.mark.rule("CMT-01")
@pytest.mark.parametrize(
    "world",
    [unborn, linked, submodule, shallow, sha256],
    ids=lambda world: world.__name__,
)
def test_every_kind_of_repository(
    world: Callable[[Project, Path], Project], project: Project, tmp_path: Path
) -> None:
    there = world(project, tmp_path)
    there.write("plan.md", "changed\n")
    there.write("reviews/new.md", "new\n")
    status = there.status()
    commit(there, "plan.md", "reviews")
    assert names(there) == ["plan.md", "reviews/new.md"]
    assert there.status() == [line for line in status if RUN not in line]
    repo = repo_of(there.run)
    assert commits.commit(repo, ["plan.md", "reviews"], "x") == Unchanged()


@pytest.mark.rule("CMT-02")
def test_a_commit_is_found_by_its_whole_lines(project: Project) -> None:
    repo = repo_of(project.run)
    before = project.git("rev-parse", "HEAD")
    assert commits.find(repo, TRAILERS) is None
    project.write("plan.md", "changed\n")
    made = commit(project, "plan.md")
    project.git("commit", "-q", "--allow-empty", "-m", f"not {TRAILERS[0]}\n\n{TRAILERS[1]} no")
    project.git("commit", "-q", "--allow-empty", "-m", f"x\n\n{TRAILERS[0]}")
    assert commits.find(repo, TRAILERS) == made
    assert commits.find(repo, TRAILERS, since=before) == made
    assert commits.find(repo, TRAILERS, since=made) is None
    assert commits.find(repo, TRAILERS, most=2) is None
    assert commits.find(repo, TRAILERS, since="0123456789" * 4) == made
    assert commits.find(repo, ["QRSPI-Round: sample/plan/0"]) is None


@pytest.mark.rule("CMT-02")
def test_the_newest_of_two_is_found(project: Project) -> None:
    for text in ("one\n", "two\n"):
        project.write("plan.md", text)
        made = commit(project, "plan.md")
    assert commits.find(repo_of(project.run), TRAILERS) == made


def test_nothing_is_found_where_there_is_no_commit(tmp_path: Path) -> None:
    assert commits.find(repo_of(init(tmp_path / "unborn").run), TRAILERS) is None


def test_messages_of_any_encoding_are_read(project: Project) -> None:
    project.git("config", "i18n.commitEncoding", "ISO-8859-1")
    project.git("config", "i18n.logOutputEncoding", "UTF-16")
    (project.root / ".git" / "text").write_bytes(b"caf\xe9\n\nA: b\n")
    project.git("commit", "-q", "--allow-empty", "-F", ".git/text")
    message = commits.message_of(repo_of(project.run), "HEAD")
    assert message.rstrip("\n") == "café\n\nA: b"


@pytest.mark.rule("CMT-04")
def test_what_a_commit_changed_is_listed(project: Project) -> None:
    project.git("mv", "plan.md", "moved.md", at=project.run)
    project.write("é.md", "x\n")
    project.commit()
    repo = repo_of(project.run)
    assert commits.paths_of(repo, "HEAD") == tuple(
        f"{RUN}/{name}" for name in ("moved.md", "plan.md", "é.md")
    )
    assert commits.paths_of(repo, "main") == (f"{RUN}/plan.md",)


@pytest.mark.rule("CMT-01")
def test_several_files_of_a_commit_are_read_at_once(project: Project) -> None:
    texts = {"plan.md": b"two\nlines\n", "odd.md": b"x missing\nno end \xff", "none.md": b""}
    for path, data in texts.items():
        project.write(path, data)
    project.write("reviews/a.md", "a\n")
    project.commit()
    project.write("plan.md", "changed since\n")
    repo = repo_of(project.run)
    asked = (*texts, "absent.md", "reviews", "a name with blob 7.md", "reviews/a.md")
    assert commits.contents(repo, "HEAD", asked) == {**texts, "reviews/a.md": b"a\n"}
    assert commits.contents(repo, "HEAD", ["absent.md"]) == {}


def test_a_branch_without_commits_has_no_files(tmp_path: Path) -> None:
    repo = repo_of(init(tmp_path / "unborn").run)
    assert commits.contents(repo, "HEAD", ["plan.md"]) == {}
    assert commits.names(repo, "HEAD") == ()
    assert not commits.lags(repo, ["plan.md"])


@pytest.mark.rule("SEC-07")
def test_no_question_hands_git_an_option(project: Project) -> None:
    repo = repo_of(project.run)
    for ask in (commits.message_of, commits.paths_of):
        with pytest.raises(Refusal):
            ask(repo, "--all")
    with pytest.raises(Refusal):
        commits.commit(repo, ["--all"], "x")
    with pytest.raises(Refusal):
        commits.find(repo, TRAILERS, since="--all")


def test_a_message_may_begin_with_anything(project: Project) -> None:
    project.write("plan.md", "changed\n")
    commits.commit(repo_of(project.run), ["plan.md"], "--amend # not a comment\n# kept")
    assert project.git("log", "-1", "--format=%B") == "--amend # not a comment\n# kept"


def _staged(project: Project) -> None:
    project.write("new name.md", "new\n")
    project.git("add", "--", f"{RUN}/new name.md")


def _committed(project: Project) -> None:
    _staged(project)
    project.git("commit", "-qm", "new")


def _removed(project: Project) -> None:
    _committed(project)
    project.git("rm", "-q", f"{RUN}/new name.md")
    project.git("commit", "-qm", "gone")
    project.git("commit", "-q", "--allow-empty", "-m", "later")


@pytest.mark.rule("LIV-04")
@pytest.mark.parametrize("place", [".", RUN, "/"])
@pytest.mark.parametrize("before", [_staged, _committed, _removed])
def test_the_command_that_restores_a_file_works_as_printed(
    project: Project, monkeypatch: pytest.MonkeyPatch, before: Callable[[Project], None], place: str
) -> None:
    before(project)
    file = project.run / "new name.md"
    file.unlink(missing_ok=True)
    monkeypatch.chdir(project.root / place)
    line = commits.to_restore(repo_of(project.run), "new name.md")
    subprocess.run(["sh", "-c", line], check=True, capture_output=True)
    assert file.read_text() == "new\n"


def test_what_git_never_had_it_cannot_restore(project: Project, tmp_path: Path) -> None:
    assert commits.to_restore(repo_of(project.run), "never.md") == ""
    init(tmp_path / "empty")
    assert commits.to_restore(repo_of(tmp_path / "empty"), "never.md") == ""


@pytest.mark.rule("SEC-22")
@pytest.mark.parametrize("packed", [False, True])
def test_what_head_has_is_asked_again_when_head_is_another(project: Project, packed: bool) -> None:
    for text in ("one\n", "two\n"):
        project.write("plan.md", text)
        commit(project, "plan.md")
        if packed:
            project.git("pack-refs", "--all")
        repo = repo_of(project.run)
        assert bool(commit_by_files(repo)) is not packed
        for _ in range(2):
            found = commits.contents_at_head(repo, ["plan.md", "none.md"])
            assert found == {"plan.md": text.encode()}
    project.git("checkout", "-q", "--detach", "HEAD~1")
    assert commit_by_files(repo) == project.git("rev-parse", "HEAD")
    assert commits.contents_at_head(repo, ["plan.md"]) == {"plan.md": b"one\n"}


def test_the_same_head_is_asked_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("plan.md", "one\n")
    commit(project, "plan.md")
    repo = repo_of(project.run)
    before = commits.contents_at_head(repo, ["plan.md"])
    monkeypatch.setenv("PATH", "")  # where no git is
    assert commits.contents_at_head(repo, ["plan.md"]) == before
