"""Reading a run: every kind of thing on disk has one stated answer."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from qrspi.core.tree import Entry, Fault
from qrspi.world.disk import HEAD, DiskTree


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = tmp_path / "docs" / "qrspi" / "2026-01-01-sample-run"
    (run / "research").mkdir(parents=True)
    (run / "goals.md").write_bytes(b"---\nstatus: draft\n---\nbody\n")
    (run / "research" / "summary.md").write_bytes(b"summary")
    (tmp_path / "secret.md").write_bytes(b"secret")
    return run


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("goals.md", b"---\nstatus: draft\n---\nbody\n"),
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
        ("goals.md\0", Fault("absent")),
        ("\ud800.md", Fault("absent")),
        ("x" * 300, Fault("unreadable", "File name too long")),
    ],
)
@pytest.mark.rule("SEC-02")
def test_reading_a_path(run: Path, path: str, content: bytes | Fault) -> None:
    tree = DiskTree(run)
    assert (tree.read(path), tree.head(path)) == (content, content)
