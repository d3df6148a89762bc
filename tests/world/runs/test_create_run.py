"""A new run: whole, in its place, and never on top of something."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from qrspi.core.errors import Halt, Refusal
from qrspi.world.files import atomic_write
from qrspi.world.runs import locate, project_root
from qrspi.world.runs.create_run import create_run
from qrspi.world.runs.locate import Root, RunDir

NAME = "2026-05-17-user-auth"
FILES = {"config.md": b"---\n---\n", "goals.md": b"# Goals\n"}


def made(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(path.iterdir())}


@pytest.mark.rule("RUN-03")
def test_the_first_run_makes_the_folder_too(tmp_path: Path) -> None:
    root = project_root.root_for_init(str(tmp_path), None, {})
    run = create_run(root, NAME, FILES)
    assert run == RunDir(NAME, f"{tmp_path}/docs/qrspi/{NAME}")
    assert made(Path(run.path)) == FILES
    assert locate.list_runs(root) == (run,)


def test_a_runs_folder_may_lie_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    root = Root(str(tmp_path), str(tmp_path / "plans"))
    assert made(Path(create_run(root, NAME, FILES).path)) == FILES


@pytest.mark.parametrize("there", ["directory", "empty directory", "file", "link"])
@pytest.mark.rule("RUN-03", "RUN-05")
def test_what_is_there_is_refused(tmp_path: Path, there: str) -> None:
    runs = tmp_path / "docs" / "qrspi"
    runs.mkdir(parents=True)
    place = runs / NAME
    if there == "file":
        place.write_bytes(b"theirs")
    elif there == "link":
        place.symlink_to("nowhere")
    else:
        place.mkdir()
    if there == "directory":
        (place / "notes.md").write_bytes(b"theirs")
    before = place.lstat()
    with pytest.raises(Refusal) as refused:
        create_run(Root(str(tmp_path), str(runs)), NAME, FILES)
    assert (refused.value.exit_code, str(refused.value)) == (
        3,
        f"{place} is already there: choose another name",
    )
    assert (os.listdir(runs), place.lstat()) == ([NAME], before)


@pytest.mark.parametrize("name", ["", "..", "a/b", "x\0"])
@pytest.mark.rule("RUN-04")
def test_a_run_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    with pytest.raises(Refusal):
        create_run(Root(str(tmp_path), f"{tmp_path}/docs/qrspi"), name, FILES)
    assert os.listdir(tmp_path / "docs" / "qrspi") == []


@pytest.mark.rule("RUN-04")
def test_a_linked_docs_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "docs").symlink_to(tmp_path / "outside")
    root = project_root.root_for_init(str(tmp_path / "project"), None, {})
    with pytest.raises(Refusal, match="is a symlink or lies below one"):
        create_run(root, NAME, FILES)
    assert os.listdir(tmp_path / "outside") == []


@pytest.mark.rule("ENG-04")
def test_a_killed_init_is_cleaned_up_by_the_next_unless_one_is_at_work(tmp_path: Path) -> None:
    runs = tmp_path / "docs" / "qrspi"
    left = runs / atomic_write.temporary_name("2026-01-01-other-run")
    left.mkdir(parents=True)
    (left / "config.md").write_bytes(b"half")
    root = Root(str(tmp_path), str(runs))
    other = os.open(runs, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_SH)
    create_run(root, "2026-01-01-first-run", FILES)
    assert left.is_dir()
    os.close(other)
    create_run(root, NAME, FILES)
    assert sorted(os.listdir(runs)) == ["2026-01-01-first-run", NAME]


@pytest.mark.rule("ENG-05")
def test_a_folder_closed_to_us_is_one_line(unprivileged: Path) -> None:
    runs = unprivileged / "docs" / "qrspi"
    runs.mkdir(parents=True)
    runs.chmod(0o555)
    with pytest.raises(Halt) as halted:
        create_run(Root(str(unprivileged), str(runs)), NAME, FILES)
    assert str(halted.value) == f"cannot write {runs}/{NAME}: Permission denied"
    runs.chmod(0o755)
