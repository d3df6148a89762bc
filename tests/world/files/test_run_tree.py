"""Reading a run: every kind of thing on disk has one stated answer."""

from __future__ import annotations

import gc
import os
import socket
from pathlib import Path

import pytest

from qrspi.core.snapshot import Snapshot
from qrspi.core.tree import BODY_LIMIT, FRONTMATTER_LIMIT, Entry, Fault, MemoryTree
from qrspi.world.files.run_tree import DiskTree, inside_git

GOALS = b"---\nstatus: draft\n---\nbody\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = tmp_path / "docs" / "qrspi" / "2026-05-17-user-auth"
    (run / "research").mkdir(parents=True)
    (run / "goals.md").write_bytes(GOALS)
    (run / "research" / "summary.md").write_bytes(b"summary")
    (tmp_path / "secret.md").write_bytes(b"secret")
    return run


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("goals.md", GOALS),
        ("research/summary.md", b"summary"),
        ("design.md", Fault("absent")),
        ("reviews/design/round-01/x.md", Fault("absent")),
        ("goals.md/x", Fault("absent")),
        ("research", Fault("not-a-file", "directory")),
        ("", Fault("absent")),
        ("..", Fault("absent")),
        ("../../../secret.md", Fault("absent")),
        ("research/../goals.md", Fault("absent")),
        ("research//summary.md", Fault("absent")),
        ("./goals.md", Fault("absent")),
        ("/etc/passwd", Fault("absent")),
        ("/passwd", Fault("absent")),
        ("goals.md\0", Fault("absent")),
        ("\ud800.md", Fault("absent")),
        ("x" * 300, Fault("unreadable", "File name too long")),
    ],
)
@pytest.mark.rule("SEC-02", "SEC-01")
def test_a_path_has_bytes_or_a_reason(run: Path, path: str, content: bytes | Fault) -> None:
    tree = DiskTree(run)
    assert (tree.read(path), tree.head(path)) == (content, content)


@pytest.mark.rule("SEC-02")
def test_a_link_is_never_followed(run: Path, tmp_path: Path) -> None:
    (run / "design.md").symlink_to(tmp_path / "secret.md")
    (run / "plan.md").symlink_to("goals.md")
    (run / "dangling.md").symlink_to("nowhere")
    for name in ("design.md", "plan.md", "dangling.md"):
        assert DiskTree(run).read(name) == Fault("not-a-file", "symlink")


@pytest.mark.rule("SEC-02")
def test_a_linked_directory_is_never_entered(run: Path, tmp_path: Path) -> None:
    (run / "reviews").symlink_to(tmp_path)
    (run / "tasks").symlink_to("research")
    tree = DiskTree(run)
    assert tree.read("reviews/secret.md") == Fault("not-a-file", "symlink")
    assert tree.read("tasks/summary.md") == Fault("not-a-file", "symlink")
    assert tree.entries("reviews") == Fault("not-a-file", "symlink")
    assert tree.entries("reviews/docs") == Fault("not-a-file", "symlink")


@pytest.mark.rule("SEC-02")
def test_a_directory_that_turns_into_a_link_is_noticed(run: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "summary.md").write_bytes(b"secret")
    tree = DiskTree(run)
    assert tree.read("research/summary.md") == b"summary"
    (run / "research").rename(run / "research-old")
    (run / "research").symlink_to(tmp_path / "elsewhere")
    assert tree.read("research/summary.md") == Fault("not-a-file", "symlink")
    (run / "research").unlink()
    assert tree.read("research/summary.md") == Fault("absent")
    (run / "research").mkdir()
    (run / "research" / "summary.md").write_bytes(b"new")
    assert tree.read("research/summary.md") == b"new"


@pytest.mark.rule("SEC-02")
def test_a_directory_on_the_way_that_turns_into_a_link_is_noticed(
    run: Path, tmp_path: Path
) -> None:
    for where, text in ((run, b"own"), (tmp_path / "elsewhere", b"secret")):
        for name in ("one", "two"):
            (where / "reviews" / "goals" / name).mkdir(parents=True)
            (where / "reviews" / "goals" / name / "x.md").write_bytes(text)
    tree = DiskTree(run)
    assert tree.read("reviews/goals/one/x.md") == b"own"
    (run / "reviews").rename(run / "reviews-old")
    (run / "reviews").symlink_to(tmp_path / "elsewhere" / "reviews")
    assert tree.read("reviews/goals/one/x.md") == Fault("not-a-file", "symlink")
    assert tree.read("reviews/goals/two/x.md") == Fault("not-a-file", "symlink")
    assert tree.entries("reviews") == Fault("not-a-file", "symlink")
    (run / "reviews").unlink()
    (run / "reviews").symlink_to("reviews-old")
    assert tree.entries("reviews/goals") == Fault("not-a-file", "symlink")
    (run / "reviews").unlink()
    (run / "reviews-old").rename(run / "reviews")
    assert tree.read("reviews/goals/two/x.md") == b"own"


@pytest.mark.rule("SEC-02")
def test_what_a_glance_has_opened_is_what_it_reads(run: Path, tmp_path: Path) -> None:
    """One derivation is of one moment; a link that takes a directory's place leads nowhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "summary.md").write_bytes(b"secret")
    glance = DiskTree(run, glance=True)
    assert glance.read("research/summary.md") == b"summary"
    (run / "research").rename(run / "research-old")
    (run / "research").symlink_to(tmp_path / "elsewhere")
    assert glance.read("research/summary.md") == b"summary"
    glance.let_go()
    assert glance.read("research/summary.md") == Fault("not-a-file", "symlink")


@pytest.mark.rule("SEC-02")
def test_what_is_no_file_is_not_waited_for(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(run / "design.md")
    monkeypatch.chdir(run)  # a socket's path has room for about a hundred characters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("plan.md")
        tree = DiskTree(run)
        assert tree.read("design.md") == Fault("not-a-file", "fifo")
        assert tree.read("plan.md") == Fault("not-a-file", "socket")
        assert tree.entries("design.md") == Fault("not-a-file", "fifo")


@pytest.mark.rule("SEC-02")
@pytest.mark.parametrize("glance", [True, False])
def test_files_read_at_once_are_what_each_is_read_as(run: Path, glance: bool) -> None:
    folder = run / "research"
    sizes = {"empty": 0, "small": 5, "block": 16 * 1024, "long": 100_000}
    for name, size in sizes.items():
        (folder / name).write_bytes(b"x" * size)
    (folder / "link").symlink_to("small")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    names = (*sizes, "link", "folder", "pipe", "absent", "..", "summary.md")
    tree = DiskTree(run, glance=glance)
    for limit in (4, 5, 16 * 1024, BODY_LIMIT):
        each = [tree.read(f"research/{name}", limit) for name in names]
        assert tree.read_each("research", names, limit) == each
        assert Snapshot(tree).read_each("research", names, limit) == each
    assert tree.read_each("absent", ("a", "b")) == [Fault("absent"), Fault("absent")]
    assert tree.read_each("", ("goals.md",)) == [GOALS]


def test_what_was_read_alone_is_not_read_again_with_others(run: Path) -> None:
    """A derivation is of one moment."""
    snapshot = Snapshot(DiskTree(run))
    assert snapshot.read("research/summary.md") == b"summary"
    (run / "research" / "summary.md").write_bytes(b"another")
    assert snapshot.read_each("research", ("summary.md",)) == [b"summary"]


@pytest.mark.rule("SEC-02", "FM-07")
def test_a_head_is_as_long_as_a_frontmatter_may_be(run: Path) -> None:
    data = bytes(range(256)) * 4096
    (run / "goals.md").write_bytes(data)
    assert DiskTree(run).head("goals.md") == data[: FRONTMATTER_LIMIT + 64]
    assert DiskTree(run).read("goals.md") == data


@pytest.mark.parametrize(
    ("size", "limit", "fits"), [(0, 0, True), (9, 10, True), (10, 10, True), (11, 10, False)]
)
@pytest.mark.rule("SEC-02")
def test_a_limit_is_the_largest_size(run: Path, size: int, limit: int, fits: bool) -> None:
    (run / "config.md").write_bytes(b"x" * size)
    expected = b"x" * size if fits else Fault("too-large", str(size), limit)
    assert DiskTree(run).read("config.md", limit) == expected


@pytest.mark.rule("SEC-02")
def test_a_huge_file_is_not_read_to_learn_its_size(run: Path) -> None:
    with (run / "config.md").open("wb") as file:
        file.truncate(1 << 40)
    before = bytes_read()
    for limit in (1000, BODY_LIMIT):
        assert DiskTree(run).read("config.md", limit) == Fault("too-large", str(1 << 40), limit)
    assert bytes_read() - before < 1 << 20


def bytes_read() -> int:
    """By this process so far, as the kernel counts."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["rchar"])


def test_entries_are_sorted_and_say_their_kind(run: Path) -> None:
    (run / "b-link").symlink_to("nowhere")
    os.mkfifo(run / "a-pipe")
    os.close(os.open(os.fsencode(run) + b"/z-\xff", os.O_CREAT | os.O_WRONLY))
    assert DiskTree(run).entries("") == (
        Entry("a-pipe", "other"),
        Entry("b-link", "link"),
        Entry("goals.md", "file"),
        Entry("research", "dir"),
        Entry("z-\udcff", "file"),
    )


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("goals.md", Fault("not-a-file", "file")),
        ("goals.md/x", Fault("absent")),
        ("reviews", Fault("absent")),
        ("reviews/design", Fault("absent")),
        ("..", Fault("absent")),
        ("research/..", Fault("absent")),
        ("/etc", Fault("absent")),
    ],
)
@pytest.mark.rule("SEC-02")
def test_what_cannot_be_listed(run: Path, path: str, fault: Fault) -> None:
    assert DiskTree(run).entries(path) == fault


def test_disk_and_memory_agree(run: Path) -> None:
    (run / "empty.md").write_bytes(b"")
    names = ("goals.md", "research/summary.md", "empty.md")
    memory = MemoryTree({name: (run / name).read_bytes() for name in names}, run.name, False)
    disk = DiskTree(run, in_git=False)
    assert (disk.name, disk.in_git) == (memory.name, memory.in_git)
    for path in (*names, "absent.md", "research", "goals.md/x", "research/x/y"):
        assert disk.read(path) == memory.read(path)
        assert disk.head(path) == memory.head(path)
        assert disk.entries(path) == memory.entries(path)
    assert disk.read("goals.md", 3) == memory.read("goals.md", 3)
    assert disk.entries("") == memory.entries("")


def test_a_run_that_is_gone_is_absent(tmp_path: Path) -> None:
    tree = DiskTree(tmp_path / "gone")
    assert tree.read("goals.md") == tree.entries("") == Fault("absent")


@pytest.mark.rule("ENG-05")
def test_denied_is_not_absent(unprivileged: Path) -> None:
    run = unprivileged / "run"
    (run / "closed").mkdir(parents=True)
    (run / "goals.md").write_bytes(b"x")
    (run / "goals.md").chmod(0)
    (run / "closed").chmod(0)
    tree = DiskTree(run)
    denied = Fault("unreadable", "Permission denied")
    assert tree.read("goals.md") == tree.head("goals.md") == denied
    assert tree.read("closed/x.md") == tree.entries("closed") == denied
    (run / "closed").chmod(0o700)


@pytest.mark.rule("RUN-08")
def test_in_git_is_about_the_run_not_about_where_we_stand(run: Path, tmp_path: Path) -> None:
    assert not inside_git(str(run))
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert DiskTree(run).in_git
    assert not DiskTree(run, in_git=False).in_git


def test_no_descriptor_is_left_open(run: Path) -> None:
    def descriptors() -> set[str]:
        return set(os.listdir("/proc/self/fd"))

    gc.collect()
    before = descriptors()
    for _ in range(3):
        tree = DiskTree(run)
        for path in ("goals.md", "research/summary.md", "research/none.md", "none/none.md", ".."):
            tree.read(path)
            tree.entries(path)
    del tree
    assert descriptors() == before


def test_a_thousand_trees_hold_few_descriptors(run: Path) -> None:
    trees = [DiskTree(run) for _ in range(1000)]
    assert {tree.read("research/summary.md") for tree in trees} == {b"summary"}
    assert {tree.read("research/summary.md") for tree in trees} == {b"summary"}
    assert len(os.listdir("/proc/self/fd")) < 300
