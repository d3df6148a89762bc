from __future__ import annotations

from collections.abc import Callable

import pytest

from qrspi.core.recording_tree import Observation, RecordingTree
from qrspi.core.snapshot import Snapshot
from qrspi.core.tree import FRONTMATTER_LIMIT, Entry, Fault
from tests import runs


def test_everything_is_looked_at_once() -> None:
    witness = RecordingTree(runs.tree({"a.md": b"a", "b/c.md": b"c"}, in_git=True))
    snapshot = Snapshot(witness)
    for _ in range(2):
        assert snapshot.entries("b") == (Entry("c.md", "file"),)
        assert (snapshot.head("b/c.md"), snapshot.read("b/c.md")) == (b"c", b"c")
        assert snapshot.read("a.md", 0) == Fault("too-large", "1", 0)
        assert snapshot.head("gone.md") == Fault("absent")
    assert (snapshot.name, snapshot.in_git) == (runs.RUN, True)
    assert {seen.path for seen in witness.seen} == {"a.md", "b", "b/c.md", "gone.md"}


def test_what_a_listing_lacks_is_absent_without_a_look() -> None:
    witness = RecordingTree(runs.tree({"a.md": b"a"}))
    snapshot = Snapshot(witness)
    snapshot.entries("")
    assert snapshot.head("gone.md") == Fault("absent")
    assert snapshot.read("gone.md") == Fault("absent")
    assert snapshot.entries("reviews") == Fault("absent")
    assert snapshot.head("reviews/goals/loop.md") == Fault("absent")
    assert witness.seen == (
        Observation(".", "listing", "there"),
        Observation("reviews/goals/loop.md", "start", "absent"),
    )


@pytest.mark.parametrize("path", ["a.md/b", "b"])
def test_a_fault_that_is_not_absence_says_nothing_about_what_is_below(path: str) -> None:
    snapshot = Snapshot(runs.tree({"a.md": b"a", "b": b"x"}))
    assert snapshot.entries("a.md") == Fault("not-a-file", "file")
    assert snapshot.head(path) == runs.tree({"a.md": b"a", "b": b"x"}).head(path)


def test_the_moment_is_that_of_the_first_look() -> None:
    files = {"goals.md": b"old"}
    tree = runs.tree(files)
    snapshot = Snapshot(tree)
    snapshot.head("goals.md")
    tree._files["goals.md"] = b"new"
    assert (snapshot.head("goals.md"), tree.head("goals.md")) == (b"old", b"new")


LOOKS: dict[str, Callable[[Snapshot], object]] = {
    "listing": lambda tree: tree.entries("b"),
    "start": lambda tree: tree.head("b/c.md"),
    "whole": lambda tree: tree.read("b/c.md"),
    "end": lambda tree: tree.tail("b/c.md", 10),
    "absent by its listing": lambda tree: (tree.entries("b"), tree.head("b/d.md")),
    "absent": lambda tree: tree.read("b/d.md"),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_it_is_current_until_something_that_was_looked_at_changes(
    look: Callable[[Snapshot], object],
) -> None:
    tree = runs.tree({"a.md": b"a", "b/c.md": b"c"})
    snapshot = Snapshot(tree)
    look(snapshot)
    tree._files["a.md"] = b"other"
    assert snapshot.is_current()
    tree._files |= {"b/c.md": b"other", "b/d.md": b"new"}
    assert not snapshot.is_current()


ELSEWHERE: dict[str, Callable[[Snapshot], object]] = {
    "what git has": lambda tree: tree.knows("a.md"),
    "how to restore": lambda tree: tree.to_restore("a.md"),
    "what a commit has": lambda tree: tree.committed("a.md"),
    "what commits say": lambda tree: tree.signed("line"),
    "a database": lambda tree: tree.rows("a.md", "SELECT 1"),
}


@pytest.mark.parametrize("ask", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_files_cannot_show_is_never_taken_for_current(
    ask: Callable[[Snapshot], object],
) -> None:
    snapshot = Snapshot(runs.tree({"a.md": b"a"}))
    ask(snapshot)
    assert not snapshot.is_current()


def test_a_start_that_is_the_whole_file_is_not_read_again() -> None:
    long = b"x" * (FRONTMATTER_LIMIT + 100)
    witness = RecordingTree(runs.tree({"short.md": b"short", "long.md": long}))
    snapshot = Snapshot(witness)
    for path in ("short.md", "long.md"):
        snapshot.head(path)
    assert snapshot.read("short.md") == b"short"
    assert snapshot.read("short.md", 4) == Fault("too-large", "5", 4)
    assert snapshot.read("long.md") == long
    snapshot = Snapshot(witness := RecordingTree(runs.tree({"short.md": b"short"})))
    assert (snapshot.head("short.md"), snapshot.read("short.md")) == (b"short", b"short")
    assert witness.seen == (Observation("short.md", "start", "there"),)
