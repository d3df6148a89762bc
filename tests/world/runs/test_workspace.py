"""Writing into a run: whole files, in the run, under its lock, or one clear line."""

from __future__ import annotations

import fcntl
import hashlib
import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qrspi.core.errors import Busy, Halt, Refusal
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.files.atomic_write import temporary_name
from qrspi.world.runs.workspace import Change, Workspace


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = tmp_path / "2026-05-17-user-auth"
    (run / "research").mkdir(parents=True)
    (run / "goals.md").write_bytes(b"goals\n")
    return run


@pytest.fixture
def space(run: Path) -> Iterator[Workspace]:
    with Workspace(run).locked() as space:
        yield space


def files(run: Path) -> dict[str, bytes]:
    """Everything in the run but what the lock leaves."""
    return {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.parent.name != ".qrspi"
    }


@pytest.mark.rule("ENG-01", "AUD-01")
def test_what_is_written_is_there_and_noted(run: Path, space: Workspace) -> None:
    assert space.write("goals.md", b"new\n")
    assert space.write("reviews/goals/round-01.diff", b"diff\n")
    space.create("feedback/goals-round-01.md", b"no\n")
    space.replace("goals.md", b"new\n", b"newer\n")
    assert space.remove("feedback/goals-round-01.md")
    assert files(run) == {"goals.md": b"newer\n", "reviews/goals/round-01.diff": b"diff\n"}
    assert space.changes == [
        Change("goals.md", sha(b"goals\n"), sha(b"new\n")),
        Change("reviews/goals/round-01.diff", None, sha(b"diff\n")),
        Change("feedback/goals-round-01.md", None, sha(b"no\n")),
        Change("goals.md", sha(b"new\n"), sha(b"newer\n")),
        Change("feedback/goals-round-01.md", sha(b"no\n"), None),
    ]


@pytest.mark.rule("DMN-02")
def test_the_same_bytes_are_not_written_again(run: Path, space: Workspace) -> None:
    before = (run / "goals.md").stat()
    assert not space.write("goals.md", b"goals\n")
    after = (run / "goals.md").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert space.changes == []


@pytest.mark.rule("ENG-05")
def test_what_is_there_already_is_synced_only_after_a_kill(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []

    def written() -> int:
        with Workspace(run).locked() as space:
            before = len(synced)
            space.write("plan.md", b"plan\n")
            return len(synced) - before

    written()
    monkeypatch.setattr(os, "fsync", synced.append)
    assert written() == 0
    (run / ".qrspi" / "lock").write_text("1 killed\n")
    assert written() == 2, "the file and its folder"


@pytest.mark.rule("ENG-01")
def test_a_reader_keeps_the_old_file_whole(run: Path, space: Workspace) -> None:
    with (run / "goals.md").open("rb") as reader:
        space.write("goals.md", b"x" * 100_000)
        assert reader.read() == b"goals\n"
    assert space.read("goals.md") == b"x" * 100_000


@pytest.mark.parametrize(("mask", "new"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_modes_are_kept_and_new_files_obey_the_mask(run: Path, mask: int, new: int) -> None:
    (run / "goals.md").chmod(0o640)
    old = os.umask(mask)
    try:
        with Workspace(run).locked() as space:
            space.write("goals.md", b"changed")
            space.write("written.md", b"new")
            space.create("created.md", b"new")
            space.append("log.jsonl", b"{}\n")
    finally:
        os.umask(old)
    names = ("goals.md", "written.md", "created.md", "log.jsonl")
    modes = [stat.S_IMODE((run / name).stat().st_mode) for name in names]
    assert modes == [0o640, new, new, new]


@pytest.mark.rule("RUN-05")
def test_create_replaces_nothing(run: Path, space: Workspace) -> None:
    (run / "link.md").symlink_to("nowhere")
    for path in ("goals.md", "research", "link.md"):
        with pytest.raises(Refusal) as refused:
            space.create(path, b"new")
        assert refused.value.problem == Problem(
            "already-there", f"{path} is already there and is not replaced", file=path
        )
    assert files(run) == {"goals.md": b"goals\n"}
    assert space.changes == []


@pytest.mark.rule("ENG-01", "RUN-05")
def test_many_files_are_created_at_once_and_replace_nothing(run: Path, space: Workspace) -> None:
    (run / "reviews").mkdir()
    (run / "reviews/b.md").write_bytes(b"there")
    taken = space.create_all("reviews", {"a.md": b"one", "b.md": b"two", "c.md": b"three"})
    assert taken == {"b.md"}
    assert {name: data for name, data in files(run).items() if name.startswith("reviews/")} == {
        "reviews/a.md": b"one",
        "reviews/b.md": b"there",
        "reviews/c.md": b"three",
    }
    assert [change.path for change in space.changes] == ["reviews/a.md", "reviews/c.md"]
    assert space.create_all("nowhere", {}) == frozenset()
    with pytest.raises(Refusal, match="names no file inside the run"):
        space.create_all("reviews", {"../x.md": b"out"})


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda file: file.write_bytes(b"a person's words\n"), "changed"),
        (lambda file: file.unlink(), "deleted"),
    ],
)
@pytest.mark.rule("ENG-06")
def test_replace_keeps_an_edit_made_meanwhile(
    run: Path, space: Workspace, edit: Callable[[Path], object], what: str
) -> None:
    old = space.read("goals.md")
    assert isinstance(old, bytes)
    edit(run / "goals.md")
    left = files(run)
    with pytest.raises(Refusal) as refused:
        space.replace("goals.md", old, b"the engine's\n")
    assert str(refused.value) == (
        f"goals.md was {what} by someone else meanwhile and is left as it is: run the command again"
    )
    assert (files(run), space.changes) == (left, [])


def test_removing_and_moving_what_is_gone_says_so(space: Workspace) -> None:
    assert not space.remove("design.md")
    assert not space.remove("reviews/design/round-01.diff")
    assert not space.move("design.md", "phases/phase-01/design.md")
    assert not space.move("reviews/design", "phases/phase-01/reviews/design")
    assert space.changes == []


def test_a_tree_moves_whole(run: Path, space: Workspace) -> None:
    space.write("reviews/goals/round-01/a.md", b"a")
    assert space.move("reviews/goals", "phases/phase-01/reviews/goals")
    assert space.entries("reviews") == ()
    assert space.read("phases/phase-01/reviews/goals/round-01/a.md") == b"a"
    assert space.changes[-1] == Change("reviews/goals", None, None, "phases/phase-01/reviews/goals")
    space.write("reviews/goals/round-01/a.md", b"again")
    with pytest.raises(Refusal, match=r"^phases/phase-01/reviews/goals is already there and"):
        space.move("reviews/goals", "phases/phase-01/reviews/goals")
    assert space.read("reviews/goals/round-01/a.md") == b"again"


WRITES: dict[str, Callable[[Workspace, str], object]] = {
    "write": lambda space, path: space.write(path, b"new\n"),
    "create": lambda space, path: space.create(path, b"new\n"),
    "append": lambda space, path: space.append(path, b"{}\n"),
    "replace": lambda space, path: space.replace(path, b"old\n", b"new\n"),
    "remove": lambda space, path: space.remove(path),
    "move from": lambda space, path: space.move(path, "moved.md"),
    "move to": lambda space, path: space.move("goals.md", path),
}


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize(
    "path",
    ["../outside/x.md", "/etc/x.md", "", ".", "..", "a/../../x.md", "a//b", "x\0y", "a/\ud800/x"],
)
@pytest.mark.rule("RUN-04", "SEC-01")
def test_nothing_is_written_outside(
    run: Path, tmp_path: Path, space: Workspace, how: str, path: str
) -> None:
    (tmp_path / "outside").mkdir()
    with pytest.raises(Refusal) as refused:
        WRITES[how](space, path)
    assert (refused.value.exit_code, str(refused.value)) == (
        3,
        f"{path!r} names no file inside the run: nothing is written elsewhere",
    )
    assert sorted(os.listdir(run)) == [".qrspi", "goals.md", "research"]
    assert os.listdir(tmp_path / "outside") == []


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.rule("RUN-04", "SEC-01")
def test_nothing_is_written_through_a_linked_directory(
    run: Path, tmp_path: Path, space: Workspace, how: str
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_bytes(b"old\n")
    (run / "reviews").symlink_to(tmp_path / "outside")
    with pytest.raises(Refusal) as refused:
        WRITES[how](space, "reviews/x.md")
    assert str(refused.value) == (
        "reviews/x.md is a symlink or lies below one: the engine never writes through a symlink"
    )
    assert files(tmp_path / "outside") == {"x.md": b"old\n"}


@pytest.mark.parametrize("how", ["write", "append", "replace", "remove"])
@pytest.mark.rule("RUN-04")
def test_nothing_is_written_through_a_linked_file(
    run: Path, tmp_path: Path, space: Workspace, how: str
) -> None:
    (tmp_path / "x.md").write_bytes(b"old\n")
    (run / "x.md").symlink_to(tmp_path / "x.md")
    with pytest.raises(Refusal, match=r"^x\.md is a symlink or lies below one: "):
        WRITES[how](space, "x.md")
    assert (run / "x.md").is_symlink()
    assert (tmp_path / "x.md").read_bytes() == b"old\n"


@pytest.mark.parametrize("how", ["write", "append", "replace", "remove"])
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("research", "Is a directory"),
        ("goals.md/x.md", "Not a directory"),
        ("pipe.md", "Not a regular file"),
        ("x" * 300, "File name too long"),
    ],
)
@pytest.mark.rule("ENG-05")
def test_what_cannot_be_written_is_one_line(
    run: Path, space: Workspace, how: str, path: str, reason: str
) -> None:
    os.mkfifo(run / "pipe.md")
    with pytest.raises(Halt) as halted:
        WRITES[how](space, path)
    expected = reason
    if how == "append" and path == "pipe.md":
        expected = "Not a regular file"
    assert (halted.value.exit_code, str(halted.value)) == (4, f"cannot write {path}: {expected}")
    assert files(run) == {"goals.md": b"goals\n"}


@pytest.fixture
def full_disk() -> Iterator[None]:
    """The kernel stops files at 4 KiB, a real failure in the middle of a real write."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("how", ["write", "create", "append", "replace"])
@pytest.mark.rule("ENG-05", "ENG-01")
@pytest.mark.usefixtures("full_disk")
def test_a_write_that_stops_half_way_leaves_nothing(run: Path, space: Workspace, how: str) -> None:
    old, large = b'{"a": 1}\n', b'{"b": "' + b"x" * 9000 + b'"}\n'
    if how != "create":
        (run / "log.jsonl").write_bytes(old)
    attempts: dict[str, Callable[[], object]] = {
        "write": lambda: space.write("log.jsonl", large),
        "create": lambda: space.create("log.jsonl", large),
        "append": lambda: space.append("log.jsonl", large),
        "replace": lambda: space.replace("log.jsonl", old, large),
    }
    before = sorted(os.listdir(run))
    with pytest.raises(Halt) as halted:
        attempts[how]()
    assert str(halted.value) == "cannot write log.jsonl: File too large"
    assert sorted(os.listdir(run)) == before
    assert space.read("log.jsonl") == (Fault("absent") if how == "create" else old)
    assert space.changes == []


@pytest.mark.rule("ENG-05")
def test_a_read_only_file_is_respected(unprivileged: Path) -> None:
    (unprivileged / "goals.md").write_bytes(b"goals\n")
    (unprivileged / "goals.md").chmod(0o444)
    with Workspace(unprivileged).locked() as space:
        for how in ("write", "append"):
            with pytest.raises(Halt, match=r"^cannot write goals\.md: Permission denied$"):
                WRITES[how](space, "goals.md")
        with pytest.raises(Halt, match=r"^cannot write goals\.md: Permission denied$"):
            space.replace("goals.md", b"goals\n", b"new\n")
    assert files(unprivileged) == {"goals.md": b"goals\n"}


@pytest.mark.rule("ENG-05")
def test_a_read_only_tree_can_be_read_and_not_locked(unprivileged: Path) -> None:
    run = unprivileged / "run"
    run.mkdir()
    (run / "goals.md").write_bytes(b"goals\n")
    run.chmod(0o555)
    space = Workspace(run)
    assert space.read("goals.md") == b"goals\n"
    with pytest.raises(Halt) as halted, space.locked():
        raise AssertionError("locked")
    assert str(halted.value) == "cannot write .qrspi/lock: Permission denied"
    assert os.listdir(run) == ["goals.md"]
    run.chmod(0o755)


@pytest.mark.rule("ENG-02")
def test_writing_without_the_lock_is_a_bug(run: Path) -> None:
    space = Workspace(run)
    for write in WRITES.values():
        with pytest.raises(RuntimeError, match=r"^a run is only written to inside locked\(\)$"):
            write(space, "goals.md")
    with space.locked(), pytest.raises(RuntimeError, match=r"^the run is already locked here$"):
        space.locked().__enter__()
    assert files(run) == {"goals.md": b"goals\n"}


@pytest.mark.rule("ENG-02", "RUN-11")
def test_the_lock_leaves_a_folder_that_git_ignores(run: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=run, check=True)
    with Workspace(run).locked() as space:
        space.append(".qrspi/audit.jsonl", b"{}\n")
        assert space.changes == []
    assert sorted(os.listdir(run / ".qrspi")) == [".gitignore", "audit.jsonl", "lock"]
    shown = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=run, check=True, capture_output=True
    )
    assert shown.stdout == b"?? goals.md\n"


@pytest.mark.rule("ENG-07")
def test_the_engines_own_folder_can_be_deleted(run: Path) -> None:
    for _ in range(2):
        with Workspace(run).locked() as space:
            space.append(".qrspi/audit.jsonl", b"{}\n")
        shutil.rmtree(run / ".qrspi")
    assert files(run) == {"goals.md": b"goals\n"}


@pytest.mark.rule("RUN-11")
def test_a_persons_gitignore_stays(run: Path) -> None:
    (run / ".qrspi").mkdir()
    (run / ".qrspi" / ".gitignore").write_bytes(b"*\n!audit.jsonl\n")
    with Workspace(run).locked():
        pass
    assert (run / ".qrspi" / ".gitignore").read_bytes() == b"*\n!audit.jsonl\n"


@pytest.mark.rule("ENG-02")
def test_a_held_run_is_busy_and_nothing_is_written(run: Path) -> None:
    with Workspace(run).locked(command="qrspi next"):
        listing = sorted(os.listdir(run / ".qrspi"))
        (run / ".qrspi" / ".gitignore").unlink()
        with pytest.raises(Busy) as busy, Workspace(run).locked(timeout=0.01):
            raise AssertionError("locked twice")
        assert sorted(os.listdir(run / ".qrspi")) == ["lock"]
        assert listing == [".gitignore", "lock"]
    assert (busy.value.exit_code, str(busy.value)) == (
        5,
        f"run {run.name} is held by process {os.getpid()} (qrspi next), waited 0.01 s: "
        "try again when it is done",
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"free\n", b"\x1b[31mroot\n", b"99 a\nb\n", b"1 " + b"x" * 500, b"\xff\xfe", b"-1 x\n"],
)
@pytest.mark.rule("ENG-02", "SEC-04")
def test_the_locks_content_is_never_believed(run: Path, content: bytes) -> None:
    (run / ".qrspi").mkdir()
    (run / ".qrspi" / "lock").write_bytes(content)
    with (run / ".qrspi" / "lock").open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Busy) as busy, Workspace(run).locked(timeout=0):
            raise AssertionError("locked")
    assert str(busy.value) == (
        f"run {run.name} is held by another process, waited 0 s: try again when it is done"
    )
    with Workspace(run).locked() as space:
        assert space.write("goals.md", b"new")


@pytest.mark.rule("ENG-02")
def test_a_waiter_gets_the_run_when_it_is_free(run: Path) -> None:
    script = (
        "import sys; from qrspi.world.runs.workspace import Workspace\n"
        "with Workspace(sys.argv[1]).locked() as space:\n"
        "    number = int(space.read('goals.md') or 0)\n"
        "    space.write('goals.md', b'%d' % (number + 1))\n"
    )
    (run / "goals.md").write_bytes(b"0")
    argv = [sys.executable, "-c", script, str(run)]
    with Workspace(run).locked():
        waiting = [subprocess.Popen(argv) for _ in range(8)]
    assert [process.wait() for process in waiting] == [0] * 8
    assert files(run) == {"goals.md": b"8"}


@pytest.mark.rule("ENG-02", "DMN-03")
def test_the_lock_is_not_handed_down_to_children(run: Path) -> None:
    with Workspace(run).locked():
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
    with Workspace(run).locked(timeout=0):
        pass
    child.communicate()


@pytest.mark.parametrize("name", [".qrspi", ".qrspi/lock"])
@pytest.mark.rule("RUN-04", "ENG-02")
def test_a_linked_lock_is_refused(run: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    if name == ".qrspi/lock":
        (run / ".qrspi").mkdir()
        outside.write_bytes(b"theirs")
    else:
        outside.mkdir()
    (run / name).symlink_to(outside)
    with pytest.raises(Refusal) as refused, Workspace(run).locked():
        raise AssertionError("locked")
    assert str(refused.value) == (
        ".qrspi/lock is a symlink or lies below one: the engine never writes through a symlink"
    )
    assert os.listdir(outside) == [] if outside.is_dir() else outside.read_bytes() == b"theirs"


MOVED = (
    "changed under the command that holds it ({}): stopped before the next write; "
    "run the command again"
)


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda run: (run / ".qrspi" / "lock").unlink(), ".qrspi/lock was deleted"),
        (lambda run: (run / ".qrspi").rename(run / "old"), ".qrspi/lock was deleted"),
        (lambda run: run.rename(run.with_name("renamed")), "its directory is gone"),
        (
            lambda run: (run.rename(run.with_name("renamed")), run.mkdir()),
            "another directory took its place",
        ),
    ],
)
@pytest.mark.rule("ENG-02")
def test_a_run_pulled_away_is_not_written_to(
    run: Path, harm: Callable[[Path], object], why: str
) -> None:
    with Workspace(run).locked() as space:
        harm(run)
        with pytest.raises(Halt) as halted:
            space.write("goals.md", b"new")
    assert str(halted.value) == f"run {run.name} {MOVED.format(why)}"


@pytest.mark.rule("ENG-02")
def test_a_lock_file_deleted_while_waited_for_locks_nobody(run: Path) -> None:
    with Workspace(run).locked():
        (run / ".qrspi" / "lock").rename(run / ".qrspi" / "old")
        with Workspace(run).locked(timeout=0) as other:
            assert other.write("goals.md", b"new")


@pytest.mark.rule("ENG-04", "RUN-05")
def test_leftover_temporaries_go_and_nothing_else(run: Path, tmp_path: Path) -> None:
    folder = run / "reviews" / "tasks" / "task-01" / "round-01"
    folder.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (run / "linked").symlink_to(tmp_path / "outside")
    ours = temporary_name("goals.md")
    for place in (run, folder, tmp_path / "outside"):
        (place / ours).write_bytes(b"half")
    kept = (".goals.md.swp", "goals.md~", ".x.abcdef.tmp", "x.tmp", ours[1:], f"{ours}.md")
    for name in kept:
        (folder / name).write_bytes(b"theirs")
    with Workspace(run).locked():
        pass
    assert sorted(os.listdir(folder)) == sorted(kept)
    assert not (run / ours).exists()
    assert (tmp_path / "outside" / ours).exists()


def test_names_at_the_limit_can_be_written(space: Workspace) -> None:
    for name in ("x" * 255, "ü" * 127, "\U0001f600" * 63):
        assert space.write(name, b"x")
        assert space.read(name) == b"x"


def test_no_descriptor_is_left_open(run: Path) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    for _ in range(2):
        with Workspace(run).locked() as space:
            space.write("reviews/goals/x.md", b"x")
            space.append("log.jsonl", b"{}\n")
            for path in ("..", "goals.md/x", "research"):
                with pytest.raises(Refusal):
                    space.write(path, b"x")
    del space
    assert descriptors() == before
