from __future__ import annotations

import os
from pathlib import Path

import pytest

from qrspi.world.git import true_index as index
from qrspi.world.git.repository import Repo, find, tracked
from tests.world.repos import RUN, Project, make

NAMES = ["plan.md", "a b/é.md", "tasks/" + "d" * 200 + "/" + "x" * 200, "a.md", "a/b", "a-b"]


def repo_of(project: Project) -> Repo:
    repo = find(str(project.run))
    assert repo
    return repo


def written(project: Project, file: Path) -> str:
    repo = repo_of(project)
    index.put(str(file), repo, tracked(repo, [path.name for path in project.run.iterdir()]))
    return str(file)


@pytest.mark.rule("DIF-06")
@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
@pytest.mark.parametrize("age", ["fresh", "old"])
def test_git_reads_the_files_real_bytes_in_it(algorithm: str, age: str, tmp_path: Path) -> None:
    project = make(tmp_path / "project", f"--object-format={algorithm}")
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
    repo = repo_of(project)
    index.put(str(tmp_path / "index"), repo, tracked(repo, ["plan.md", "notes.md"]))
    assert (
        project.git("ls-files", "--stage", env={"GIT_INDEX_FILE": str(tmp_path / "index")}) == known
    )
