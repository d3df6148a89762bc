from __future__ import annotations

import pytest

from qrspi.core.recording_tree import RecordingTree, Seen
from qrspi.core.snapshot import Snapshot
from qrspi.core.tree import Entry, Fault
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
        Seen(".", "listing", "there"),
        Seen("reviews/goals/loop.md", "start", "absent"),
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
