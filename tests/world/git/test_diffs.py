from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Unseen
from qrspi.core.text import plain_diff
from qrspi.world.git import diffs, refs
from qrspi.world.git.diffs import DiffResult
from qrspi.world.git.refs import Ref
from qrspi.world.git.repository import Repo, find
from qrspi.world.git.tracked_files import tracked
from tests.project import RUN, Project, init, trap

DIFF = "reviews/plan/round-01.diff"
EMPTY = refs.EMPTY_TREES["sha1"]


def repo_of(path: Path) -> Repo:
    repo = find(str(path))
    assert repo
    return repo


def main_of(project: Project) -> Ref:
    return refs.base(repo_of(project.root), None)


def emitted(project: Project, *paths: str, ref: str = "main", file: str = DIFF) -> bytes:
    repo = repo_of(project.run)
    commit = None if ref == EMPTY else refs.resolve(repo, ref)
    diffs.emit(repo, str(project.run), file, Ref(ref, commit), paths or ("plan.md",))
    return (project.run / file).read_bytes()


def plain(project: Project, *paths: str, ref: str = "main", options: tuple[str, ...] = ()) -> bytes:
    """As git shows it when it takes everything for text; NUL bytes spelt out."""
    names = paths or ("plan.md",)
    said = project.git_bytes(*options, "diff", "--text", ref, "--", *names, at=project.run)
    return plain_diff.rewrite(said, lambda name: (project.root / name).read_bytes()).text


def changed(project: Project) -> None:
    text = (project.run / "plan.md").read_text()
    project.write("plan.md", text.replace("line 7\n", "seven\n").replace("line 30\n", ""))


def crlf(project: Project) -> None:
    project.write("plan.md", b"line 0\r\nline 1\nlast \xff")


def deleted(project: Project) -> None:
    (project.run / "plan.md").unlink()


def executable(project: Project) -> None:
    changed(project)
    (project.run / "plan.md").chmod(0o755)


def replaced_by_link(project: Project) -> None:
    (project.run / "plan.md").unlink()
    (project.run / "plan.md").symlink_to("notes.md")


def binary(project: Project) -> None:
    project.write("plan.md", b"\0\1\2" * 100)


def emptied(project: Project) -> None:
    project.write("plan.md", "")


def touched(project: Project) -> None:
    os.utime(project.run / "plan.md", (1, 1))


def renamed(project: Project) -> None:
    project.git("mv", "plan.md", "notes2.md", at=project.run)


def staged_and_changed_back(project: Project) -> None:
    before = (project.run / "plan.md").read_bytes()
    changed(project)
    project.git("add", "--all")
    project.write("plan.md", before)


def intent_to_add(project: Project) -> None:
    project.write("new.md", "new\n")
    project.git("add", "-N", "new.md", at=project.run)


def packed(project: Project) -> None:
    changed(project)
    project.git("gc", "-q")


def markdown_driver(project: Project) -> None:
    (project.root / ".gitattributes").write_text("*.md diff=markdown\n")
    project.write("plan.md", "# Head\n" + "x\n" * 20 + "y\n")


def declared_binary(project: Project) -> None:
    (project.root / ".gitattributes").write_text("*.md -diff\n")
    changed(project)


def no_file_modes(project: Project) -> None:
    project.git("config", "core.fileMode", "false")
    executable(project)


CHANGES = [
    *(changed, crlf, deleted, executable, replaced_by_link, binary, emptied, touched, renamed),
    *(staged_and_changed_back, intent_to_add, packed, markdown_driver, declared_binary),
    no_file_modes,
]


@pytest.mark.rule("DIF-05", "DIF-06")
@pytest.mark.parametrize("ref", ["main", EMPTY])
@pytest.mark.parametrize("age", ["fresh", "old"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_bytes_are_plain_gits(
    change: Callable[[Project], None], age: str, ref: str, project: Project
) -> None:
    change(project)
    if age == "old":
        for file in project.run.glob("*.md"):
            os.utime(file, (10**9, 10**9), follow_symlinks=False)
    names = ["plan.md", "notes.md", "notes2.md", "new.md"]
    known = project.git("ls-files", "--", *names, at=project.run).split("\n")
    assert emitted(project, *known, ref=ref) == plain(project, *known, ref=ref)


@pytest.mark.rule("DIF-05")
@pytest.mark.parametrize(
    "name",
    [
        "with space.md",
        "tab\t.md",
        'quo"te.md',
        "é.md",
        "*.md",
        ":(glob)x.md",
        b"\xff.md",
        "nl\n.md",
    ],
)
def test_odd_names_are_exact_names(name: str | bytes, project: Project) -> None:
    path = os.fsdecode(name)
    for file in (path, "other.md"):
        project.write(file, "one\n")
    project.commit()
    for file in (path, "other.md"):
        project.write(file, "two\n")
    wanted = plain(project, path, ref="HEAD", options=("--literal-pathspecs",))
    assert emitted(project, path, ref="HEAD") == wanted
    assert wanted.count(b"\ndiff --git") + 1 == 1


@pytest.mark.rule("DIF-05", "DIF-06")
def test_a_directory_shows_what_was_deleted_in_it(project: Project) -> None:
    for name in ("task-01.md", "task-02.md"):
        project.write(f"tasks/{name}", f"{name}\n")
    project.commit()
    project.git("rm", "-q", "tasks/task-02.md", at=project.run)
    project.write("tasks/task-01.md", "changed\n")
    paths = ("plan.md", "tasks")
    assert emitted(project, *paths, ref="HEAD") == plain(project, *paths, ref="HEAD")


@pytest.mark.rule("DIF-06")
@pytest.mark.parametrize(
    "flag", ["--assume-unchanged", "--skip-worktree"], ids=["assumed", "skipped"]
)
def test_the_work_tree_counts_and_not_what_the_index_believes(flag: str, project: Project) -> None:
    project.git("update-index", flag, "plan.md", at=project.run)
    changed(project)
    assert plain(project) == b""
    assert b"\n-line 7\n+seven\n" in emitted(project)


@pytest.mark.rule("DIF-06")
@pytest.mark.parametrize("attribute", ["text", "eol=crlf", "text=auto", "text eol=lf", "crlf"])
def test_line_ends_are_not_converted(attribute: str, project: Project) -> None:
    project.write("plan.md", "one\ntwo\n")
    project.commit()
    project.write("plan.md", b"one\r\ntwo\r\n")
    wanted = plain(project, ref="HEAD")
    assert wanted.count(b"\r\n") == 2
    (project.root / ".gitattributes").write_text(f"*.md {attribute}\n")
    project.git("config", "core.autocrlf", "true")
    assert plain(project, ref="HEAD") != wanted
    assert emitted(project, ref="HEAD") == wanted


@pytest.mark.rule("DIF-06")
@pytest.mark.parametrize(
    ("attribute", "data"),
    [("ident", b"$Id: 123 $\n"), ("working-tree-encoding=UTF-16LE", "é\n".encode("utf-16le"))],
)
def test_nothing_else_is_converted(attribute: str, data: bytes, project: Project) -> None:
    project.write("plan.md", data)
    wanted = plain(project)
    (project.root / ".gitattributes").write_text(f"*.md {attribute}\n")
    assert plain(project) != wanted
    assert emitted(project) == wanted


ODD = {
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.srcPrefix": "x/",
    "diff.renames": "false",
    "diff.algorithm": "patience",
    "diff.context": "0",
    "diff.interHunkContext": "9",
    "diff.submodule": "log",
    "diff.wsErrorHighlight": "all",
    "diff.colorMoved": "zebra",
    "diff.suppressBlankEmpty": "true",
    "diff.indentHeuristic": "false",
    "diff.statGraphWidth": "3",
    "diff.relative": "true",
    "diff.ignoreSubmodules": "all",
    "diff.wordRegex": ".",
    "diff.autoRefreshIndex": "false",
    "diff.dirstat": "lines",
    "color.ui": "always",
    "color.diff": "always",
    "core.quotePath": "false",
    "core.abbrev": "40",
    "core.whitespace": "tab-in-indent",
    "core.autocrlf": "input",
    "core.eol": "crlf",
    "core.safecrlf": "true",
    "core.pager": "cat -A",
    "core.bigFileThreshold": "1",
    "core.compression": "9",
    "core.trustctime": "false",
    "diff.custom.xfuncname": "^(line [0-9])",
    "diff.custom.binary": "true",
    "diff.custom.algorithm": "histogram",
    "diff.markdown.xfuncname": "^(line [0-9])",
}


def setting(key: str, value: str) -> str:
    section, _, name = key.rpartition(".")
    group, _, sub = section.partition(".")
    header = f'[{group} "{sub}"]' if sub else f"[{group}]"
    return f"{header}\n\t{name} = {value}\n"


def odd_change(project: Project) -> list[str]:
    (project.root / ".gitattributes").write_text("*.md diff=custom\nm*.md diff=markdown\n")
    project.write("mé.md", "# one\n" + "line 1\n\n \n" * 9)
    project.write("moved.md", (project.run / "plan.md").read_bytes())
    project.git("add", "--all")
    changed(project)
    project.git("rm", "-q", "--cached", "notes.md", at=project.run)
    return ["plan.md", "mé.md", "moved.md"]


@pytest.mark.rule("DIF-04", "DIF-05")
def test_no_taste_of_anyone_changes_a_byte(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = odd_change(project)
    wanted = plain(project, *paths)
    order = tmp_path / "order"
    order.write_text("*plan.md\n")
    odd = {**ODD, "diff.orderFile": str(order)}
    local, everywhere = project.root / ".git" / "config", tmp_path / "global"
    usual = local.read_text()
    differing = []
    for key, value in odd.items():
        local.write_text(usual + setting(key, value))
        differing += [key] * (emitted(project, *paths) != wanted)
    local.write_text(usual)
    everywhere.write_text("".join(setting(key, value) for key, value in odd.items()))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(everywhere))
    assert emitted(project, *paths) == wanted
    assert differing == []


@pytest.mark.rule("DIF-04", "DIF-05")
def test_attributes_of_the_user_change_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(project)
    wanted = plain(project)
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "attributes").write_text("* binary\n")
    (project.root / ".git" / "info").mkdir(exist_ok=True)
    (project.root / ".git" / "info" / "attributes").write_text("* binary\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert project.git_bytes("diff", "main", "--", "plan.md", at=project.run) != wanted
    assert emitted(project) == wanted


@pytest.mark.rule("DIF-04", "DIF-05")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_DIFF_OPTS", "-u9"),
        ("GIT_PAGER", "touch {marker}"),
        ("PAGER", "touch {marker}"),
        ("GIT_EXTERNAL_DIFF", "touch {marker}"),
        ("GIT_CONFIG_PARAMETERS", "'diff.noprefix=true'"),
        ("GIT_DIR", "/nonexistent"),
        ("GIT_WORK_TREE", "/"),
        ("GIT_INDEX_FILE", "/nonexistent"),
        ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
        ("GIT_ATTR_SOURCE", "HEAD"),
        ("GIT_ICASE_PATHSPECS", "1"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("TERM", "dumb"),
        ("COLUMNS", "20"),
    ],
)
def test_no_variable_changes_a_byte(
    name: str, value: str, project: Project, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(project)
    wanted = plain(project)
    monkeypatch.setenv(name, value.format(marker=marker))
    assert emitted(project) == wanted
    assert not marker.exists()


def test_settings_of_the_environment_change_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(project)
    wanted = plain(project)
    for name, value in {"COUNT": "1", "KEY_0": "diff.noprefix", "VALUE_0": "true"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert plain(project) != wanted
    assert emitted(project) == wanted


@pytest.mark.rule("DIF-04", "SEC-07")
@pytest.mark.parametrize(
    ("key", "attributes"),
    [
        ("diff.external", ""),
        ("diff.evil.command", "* diff=evil"),
        ("diff.evil.textconv", "* diff=evil"),
        ("filter.evil.clean", "* filter=evil"),
        ("filter.evil.process", "* filter=evil"),
        ("filter.a=b.clean", "* filter=a=b"),
        ("core.fsmonitor", ""),
        ("diff.markdown.textconv", "*.md diff=markdown"),
    ],
)
def test_nothing_that_is_configured_runs(
    key: str, attributes: str, project: Project, marker: Path
) -> None:
    changed(project)
    (project.root / ".gitattributes").write_text(attributes + "\n")
    wanted = plain(project)
    script = trap(marker.parent / "trap", f"touch {marker}")
    config = project.root / ".git" / "config"
    config.write_text(config.read_text() + setting(key, str(script)))
    subprocess.run(["git", "diff", "main"], cwd=project.root, capture_output=True)
    assert marker.exists(), "plain git runs it"
    marker.unlink()
    assert emitted(project) == wanted
    assert not marker.exists()


@pytest.mark.rule("DIF-04", "SEC-07")
def test_a_hook_does_not_run(project: Project, marker: Path) -> None:
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        project.hook(name, f"touch {marker}")
    touched(project)
    plain(project)
    assert marker.exists(), "plain git runs it"
    marker.unlink()
    touched(project)
    emitted(project)
    assert not marker.exists()


@pytest.mark.rule("DIF-04")
def test_a_submodules_own_config_is_not_run(project: Project, tmp_path: Path, marker: Path) -> None:
    project.git("submodule", "--quiet", "add", str(make_inner(tmp_path).root), f"{RUN}/inner")
    base = project.commit()
    script = trap(marker.parent / "trap", f"touch {marker}")
    project.git("config", "core.fsmonitor", str(script), at=project.run / "inner")
    plain(project, "inner", ref=base)
    assert marker.exists(), "plain git runs it"
    marker.unlink()
    (project.run / "inner" / "file").write_text("changed\n")
    assert emitted(project, "inner", ref=base) == b""
    project.git("commit", "-q", "-a", "-m", "x", at=project.run / "inner")
    marker.unlink(missing_ok=True)
    assert b"\n-Subproject commit " in emitted(project, "inner", ref=base)
    assert not marker.exists()


def make_inner(tmp_path: Path) -> Project:
    inner = init(tmp_path / "inner")
    (inner.root / "file").write_text("one\n")
    inner.commit()
    return inner


@pytest.mark.rule("DIF-01", "DIF-06")
def test_the_result_says_what_was_compared(project: Project) -> None:
    repo = repo_of(project.run)
    base = project.git("rev-parse", "main")
    result = diffs.emit(repo, str(project.run), DIFF, refs.base(repo, None), ["plan.md"])
    assert result == DiffResult("main", base, DIFF)
    assert (project.run / DIFF).read_bytes() == b""
    result = diffs.emit(repo, str(project.run), DIFF, refs.empty_tree(repo), ["plan.md"])
    assert result == DiffResult(EMPTY, None, DIFF)


@pytest.mark.rule("DIF-01")
def test_an_untracked_artifact_stops_before_anything_is_made(project: Project) -> None:
    project.write("tasks/task-01.md", "one\n")
    project.write("tasks/task-02.md", "two\n")
    project.git("add", "tasks/task-01.md", at=project.run)
    with pytest.raises(Refusal) as refused:
        emitted(project, "plan.md", "tasks/task-01.md", "tasks/task-02.md", "none.md")
    said = [problem.message for problem in (refused.value.problem, *refused.value.more)]
    assert (refused.value.exit_code, said) == (
        3,
        [
            "artifact tasks/task-02.md is untracked — commit before reviewer dispatch",
            "artifact none.md is untracked — commit before reviewer dispatch",
        ],
    )
    assert not (project.run / "reviews").exists()


def halted(project: Project, **options: str) -> str:
    with pytest.raises(Halt) as stopped:
        emitted(project, **options)
    assert stopped.value.exit_code == 4
    return stopped.value.problem.message


@pytest.mark.rule("DIF-01")
def test_a_reviews_directory_that_cannot_be_made(project: Project, tmp_path: Path) -> None:
    project.write("reviews", "a file in the way\n")
    assert halted(project) == "mkdir exited 20: Not a directory"
    (project.run / "reviews").unlink()
    (project.run / "reviews").symlink_to(tmp_path)
    assert halted(project) == "mkdir exited 40: Too many levels of symbolic links"
    assert not (tmp_path / "plan").exists()


@pytest.mark.rule("DIF-01", "ENG-05")
def test_a_directory_that_may_not_be_written(unprivileged: Path) -> None:
    project = init(unprivileged / "project")
    project.write("plan.md", "one\n")
    project.commit()
    (project.run / "reviews").mkdir(mode=0o500)
    assert halted(project) == "mkdir exited 13: Permission denied"


@pytest.mark.rule("DIF-01")
def test_a_directory_in_the_diffs_place(project: Project) -> None:
    (project.run / DIFF).mkdir(parents=True)
    assert halted(project) == "rm exited 21: Is a directory"


@pytest.mark.rule("DIF-01")
@pytest.mark.parametrize("stale", ["file", "link", "dangling", "fifo"])
def test_what_is_stale_is_replaced_and_never_written_through(
    stale: str, project: Project, tmp_path: Path
) -> None:
    target = project.write(DIFF, "stale\n")
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    if stale != "file":
        target.unlink()
    match stale:
        case "link":
            target.symlink_to(victim)
        case "dangling":
            target.symlink_to(tmp_path / "none")
        case "fifo":
            os.mkfifo(target)
    changed(project)
    assert emitted(project) == plain(project)
    assert target.is_file() and not target.is_symlink()
    assert (victim.read_text(), (tmp_path / "none").exists()) == ("precious\n", False)


@pytest.mark.rule("DIF-01")
def test_a_git_that_fails_says_so_and_leaves_no_file(project: Project) -> None:
    project.write(DIFF, "stale\n")
    changed(project)
    blob = project.git("rev-parse", "main:./plan.md", at=project.run)
    (project.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert halted(project) == f"git diff exited 128: fatal: unable to read {blob}"
    assert list((project.run / "reviews/plan").iterdir()) == []


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.rule("DIF-01", "ENG-05")
def test_a_full_disk_leaves_no_half_diff(project: Project) -> None:
    project.write("plan.md", "x" * 79 + "\n" + "long line\n" * 100_000)
    with files_no_larger_than(200_000):
        said = halted(project)
    assert said == f"cannot write {DIFF}: File too large"
    assert list((project.run / "reviews/plan").iterdir()) == []


def test_a_pipe_in_an_artifacts_place_does_not_hang(project: Project) -> None:
    (project.run / "plan.md").unlink()
    os.mkfifo(project.run / "plan.md")
    assert halted(project) == (
        f"{RUN}/plan.md is a pipe, a socket or a device: expected a regular file"
    )


@pytest.mark.rule("RUN-04", "ENG-04")
def test_nothing_is_left_behind_and_what_a_kill_left_is_replaced(project: Project) -> None:
    changed(project)
    left = project.run / ".qrspi/cache/diff.git"
    left.mkdir(parents=True)
    (left / "config").write_text("[diff]\n\tnoprefix = true\n")
    index = (project.root / ".git/index").read_bytes()
    before = {path for path in project.root.rglob("*") if left not in (path, *path.parents)}
    assert emitted(project) == plain(project)
    after = set(project.root.rglob("*"))
    made = {str(path.relative_to(project.run)) for path in after - before}
    assert made == {"reviews", "reviews/plan", DIFF}
    assert (project.root / ".git/index").read_bytes() == index


@pytest.mark.rule("RUN-04")
def test_a_link_in_the_engines_own_place_is_not_followed(project: Project, tmp_path: Path) -> None:
    (project.run / ".qrspi").symlink_to(tmp_path)
    assert halted(project) == "mkdir exited 40: Too many levels of symbolic links"
    assert not (tmp_path / "cache").exists()


def unborn(project: Project, tmp_path: Path) -> Project:
    fresh = init(tmp_path / "unborn")
    fresh.write("plan.md", "one\n")
    fresh.git("add", "--all")
    return fresh


def sha256(project: Project, tmp_path: Path) -> Project:
    fresh = init(tmp_path / "sha256", "--object-format=sha256")
    fresh.write("plan.md", "one\n")
    fresh.commit()
    fresh.git("checkout", "-q", "-b", "feature")
    changed(fresh)
    fresh.write("plan.md", "two\n")
    return fresh


def linked(project: Project, tmp_path: Path) -> Project:
    project.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    return Project(tmp_path / "linked")


def submodule(project: Project, tmp_path: Path) -> Project:
    outer = init(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", "-b", "feature", str(project.root), "inner")
    return Project(outer.root / "inner")


def detached(project: Project, tmp_path: Path) -> Project:
    project.git("checkout", "-q", "--detach")
    return project


def shallow(project: Project, tmp_path: Path) -> Project:
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(tmp_path / "shallow"))
    return Project(tmp_path / "shallow")


def borrowing(project: Project, tmp_path: Path) -> Project:
    project.git("clone", "-q", "--shared", str(project.root), str(tmp_path / "borrowing"))
    return Project(tmp_path / "borrowing")


def split_index(project: Project, tmp_path: Path) -> Project:
    project.git("update-index", "--split-index")
    return project


def conflicted(project: Project, tmp_path: Path) -> Project:
    for branch in ("main", "feature"):
        project.git("checkout", "-q", branch)
        project.write("plan.md", f"{branch}\n")
        project.commit()
    with pytest.raises(AssertionError):
        project.git("merge", "main")
    return project


@pytest.mark.rule("DIF-03", "DIF-05")
@pytest.mark.parametrize(
    "world",
    [unborn, sha256, linked, submodule, detached, shallow, borrowing, split_index],
    ids=lambda world: world.__name__,
)
def test_every_kind_of_repository(
    world: Callable[[Project, Path], Project], project: Project, tmp_path: Path
) -> None:
    there = world(project, tmp_path)
    there.write("plan.md", "changed\n")
    repo = repo_of(there.run)
    chosen = refs.base(repo, None)
    diffs.emit(repo, str(there.run), DIFF, chosen, ["plan.md"])
    wanted = plain(there, ref=chosen.object)
    assert (there.run / DIFF).read_bytes() == wanted
    assert wanted.endswith(b"+changed\n")


@pytest.mark.rule("DIF-06")
def test_a_conflict_is_shown_as_the_work_tree_has_it(project: Project, tmp_path: Path) -> None:
    conflicted(project, tmp_path)
    assert emitted(project, ref="HEAD").endswith(
        b"@@ -1 +1,5 @@\n+<<<<<<< HEAD\n feature\n+=======\n+main\n+>>>>>>> main\n"
    )


@pytest.mark.rule("DIF-02", "INT-03")
def test_a_whole_branch_is_compared_without_a_path(project: Project) -> None:
    (project.root / "code.py").write_text("print()\n")
    tip = project.commit()
    project.write("plan.md", "not committed\n")
    repo = repo_of(project.root)
    base = refs.base(repo, None)
    result = diffs.emit_branch(repo, str(project.run), DIFF, base, tip)
    wanted = project.git_bytes("diff", "main", tip)
    assert (project.run / DIFF).read_bytes() == wanted
    assert (result, b"code.py" in wanted) == (DiffResult("main", base.commit, DIFF), True)


@pytest.mark.rule("DIF-04", "SEC-07")
def test_an_option_is_no_path_and_no_tip(project: Project) -> None:
    repo = repo_of(project.run)
    base = refs.base(repo, None)
    with pytest.raises(Refusal):
        diffs.emit(repo, str(project.run), DIFF, base, ["--output=x"])
    with pytest.raises(Refusal):
        diffs.emit_branch(repo, str(project.run), DIFF, base, "--output=x")
    assert not (project.run / "reviews").exists()


def test_a_whole_round_takes_few_processes(project: Project, tmp_path: Path) -> None:
    log = tmp_path / "log"
    real = subprocess.run(["which", "git"], capture_output=True, text=True).stdout.strip()
    trap(tmp_path / "bin" / "git", f'echo "$@" >> {log}; exec {real} "$@"')
    code = f"""if True:
        from qrspi.world.git import commits, diffs, refs, repository
        run = {str(project.run)!r}
        repo = repository.find(run)
        commits.parent_of_head(repo)
        diffs.emit(repo, run, {DIFF!r}, refs.base(repo, None), ["plan.md"])
    """
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"PATH": path}, check=True)
    assert len(log.read_text().splitlines()) == 4


NAMES = ["plan.md", "a b/é.md", "tasks/" + "d" * 200 + "/" + "x" * 200, "a.md", "a/b", "a-b"]


def written(project: Project, file: Path) -> str:
    repo = repo_of(project.run)
    diffs.write_index(str(file), repo, tracked(repo, [path.name for path in project.run.iterdir()]))
    return str(file)


@pytest.mark.rule("DIF-06")
@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
@pytest.mark.parametrize("age", ["fresh", "old"])
def test_git_reads_the_files_real_bytes_in_it(algorithm: str, age: str, tmp_path: Path) -> None:
    project = init(tmp_path / "project", f"--object-format={algorithm}")
    for name in NAMES:
        project.write(name, f"{name}\n")
    project.git("add", "--all")
    (project.root / ".gitattributes").write_text("* text ident\n")
    for number, name in enumerate(NAMES):
        file = project.write(name, b"changed $Id: x$\r\n" * number)
        if age == "old":
            os.utime(file, (10**9, 10**9))
    env = {"GIT_INDEX_FILE": written(project, tmp_path / "index")}
    listed = project.git_bytes("ls-files", "-z", "--stage", env=env).decode().split("\0")
    raw = {
        f"{RUN}/{name}": project.git("hash-object", "--no-filters", name, at=project.run)
        for name in NAMES
    }
    assert [line for line in listed if line] == [
        f"100644 {raw[name]} 0\t{name}" for name in sorted(raw)
    ]
    (project.root / ".gitattributes").unlink()
    assert project.git("diff-files", "--name-only", env=env) == ""


@pytest.mark.rule("DIF-06", "ENG-03")
def test_a_change_that_keeps_size_and_second_is_still_seen(
    project: Project, tmp_path: Path
) -> None:
    file = project.write("plan.md", "one\n")
    env = {"GIT_INDEX_FILE": written(project, tmp_path / "index")}
    before = file.stat()
    file.write_text("two\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.git("diff-files", "--name-only", env=env) == f"{RUN}/plan.md"


def test_what_is_no_readable_file_is_left_for_git_to_judge(
    project: Project, tmp_path: Path
) -> None:
    known = project.git("ls-files", "--stage")
    (project.run / "plan.md").unlink()
    (project.run / "plan.md").symlink_to("notes.md")
    (project.run / "notes.md").unlink()
    repo = repo_of(project.run)
    diffs.write_index(str(tmp_path / "index"), repo, tracked(repo, ["plan.md", "notes.md"]))
    assert (
        project.git("ls-files", "--stage", env={"GIT_INDEX_FILE": str(tmp_path / "index")}) == known
    )


@pytest.mark.rule("SEC-17")
@pytest.mark.parametrize("hidden", ["-diff", "binary", "diff=none"])
def test_no_attribute_hides_a_text_from_its_reviewers(hidden: str, project: Project) -> None:
    project.write("plan.md", "# Plan\n\nimport os\n")
    wanted = emitted(project)
    assert b"+import os\n" in wanted
    for place in (project.root / ".gitattributes", project.run / ".gitattributes"):
        place.write_text(f"* {hidden}\n")
    assert emitted(project) == wanted
    project.commit()
    tip = project.git("rev-parse", "HEAD")
    diffs.emit_branch(repo_of(project.root), str(project.run), DIFF, main_of(project), tip)
    assert b"+import os\n" in project.data(DIFF)


@pytest.mark.rule("SEC-17")
def test_a_nul_hides_nothing_and_a_picture_is_named(project: Project) -> None:
    project.write("plan.md", b"# Plan\n# \0\nimport os\n")
    assert b"+# \\x00\n+import os\n" in emitted(project)
    picture = bytes(range(256)) * 8
    project.write("logo.png", picture)
    project.commit()
    tip = project.git("rev-parse", "HEAD")
    done = diffs.emit_branch(repo_of(project.root), str(project.run), DIFF, main_of(project), tip)
    name, digest = f"{RUN}/logo.png", hashlib.sha256(picture).hexdigest()
    assert done.unseen == (Unseen(name, len(picture), digest),)
    shown = f"qrspi: binary, not shown: {len(picture)} bytes, sha256 {digest}\n".encode()
    assert shown in project.data(DIFF)
