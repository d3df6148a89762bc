"""kill -9 at every change that an import makes to the disk: the same command finishes, and no file
of the run is touched but config.md."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from qrspi.world.files.atomic_write import is_leftover
from tests.cli.conftest import COMMAND, NOW
from tests.faults.strace import CHANGING, kill_points, needs_strace
from tests.test_imports import STORIES, WRITTEN, contents

pytestmark = [needs_strace, pytest.mark.slow]
RUN = "2026-03-02-old-run"
STORY = STORIES / "001-closed-rounds-of-the-plugin" / "run"


@pytest.mark.rule("IMPT-10", "IMPT-07", "ENG-04")
@pytest.mark.parametrize("copied", [False, True], ids=["in place", "copied"])
def test_the_same_command_finishes(
    tmp_path: Path, copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QRSPI_NOW", NOW)
    root = tmp_path.resolve() / "shop"
    theirs = tmp_path.resolve() / "theirs" / RUN
    run = root / "docs" / "qrspi" / RUN
    source = theirs if copied else run

    def fresh() -> None:
        for folder in (root, theirs):
            shutil.rmtree(folder, ignore_errors=True)
        (root / "docs" / "qrspi").mkdir(parents=True)
        shutil.copytree(STORY, source)

    argv = [str(COMMAND), "import", str(source), "--yes"]

    def finish() -> dict[str, bytes]:
        done = subprocess.run(argv, cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert [path for path in root.rglob("*") if is_leftover(path.name)] == []
        return contents(run)

    fresh()
    before, whole = contents(source), finish()
    killed = 0
    for point in kill_points(argv, fresh, CHANGING, root):
        for path, data in before.items():
            assert path in WRITTEN or (source / path).read_bytes() == data, point
        assert finish() == whole, point
        killed += point.code == -9
    assert killed > 5
