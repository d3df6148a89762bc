"""A merge that a kill cut off: the next command goes on, and loses nothing of a person's."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from qrspi.core.errors import Halt
from tests.cli.conftest import COMMAND
from tests.deliveries import quick
from tests.handlers.workshop import Workshop
from tests.runs import RUN

pytestmark = pytest.mark.rule("LIV-12", "ENG-04", "INT-01")
TRAILER = f"QRSPI-Merge: {RUN}/task-01"
Cut = Callable[[Workshop, str], object]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    root = tmp_path_factory.mktemp("half") / "project"
    shop = Workshop(root, quick(feature_branch="main"), {"a.py": "a = 0\n", "old.py": "x = 0\n"})
    shop.next()
    tree = shop.tree("task-01")
    (tree / "old.py").unlink()
    (tree / "new.py").write_text("new = 1\n")
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.resolve("continue")
    return shop.keep()


@pytest.fixture
def shop(kept: Workshop) -> Workshop:
    return kept.restore()


def begun(shop: Workshop, tip: str) -> None:
    shop.git("merge", "-q", "--no-ff", "--no-commit", tip)


def staged(shop: Workshop, tip: str) -> None:
    """As ^C leaves it while a hook runs."""
    begun(shop, tip)
    shop.git("merge", "--quit")


def half_checked_out(shop: Workshop, tip: str) -> None:
    """Before git has written its index."""
    begun(shop, tip)
    shop.git("merge", "--quit")
    shop.git("reset", "-q")
    (shop.root / "a.py").write_text("a = 0\n")


def made(shop: Workshop, tip: str) -> None:
    message = f"Merge qrspi/user-auth/task-01 into main\n\n{TRAILER} {tip}"
    shop.git("merge", "-q", "--no-ff", "-m", message, tip)
    (shop.root / ".git/MERGE_HEAD").write_text(f"{tip}\n")


CUTS: dict[str, Cut] = {
    "under way": begun,
    "staged": staged,
    "half checked out": half_checked_out,
    "made": made,
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS.keys())
def test_a_merge_that_was_cut_off_is_made_whole(shop: Workshop, cut: Cut) -> None:
    tip = shop.git("rev-parse", "qrspi/user-auth/task-01")
    cut(shop, tip)
    shop.next()
    assert not (shop.root / ".git/MERGE_HEAD").exists()
    assert shop.git("log", "--merges", "--format=%P").split()[1::2] == [tip]
    assert shop.git("status", "--porcelain", "--", "a.py", "new.py", "old.py") == ""
    assert (shop.root / "a.py").read_text() == "a = 1\n"
    assert [(shop.root / name).exists() for name in ("new.py", "old.py")] == [True, False]


@pytest.mark.parametrize("cut", [begun, staged, half_checked_out])
def test_what_a_person_changed_since_stays(shop: Workshop, cut: Cut) -> None:
    cut(shop, shop.git("rev-parse", "qrspi/user-auth/task-01"))
    (shop.root / "new.py").write_text("new = 2\n")
    before = shop.git("status", "--porcelain", "--", ".", ":!docs")
    with pytest.raises(Halt) if cut is begun else pytest.raises(Exception) as stopped:
        shop.next()
    assert shop.git("status", "--porcelain", "--", ".", ":!docs") == before
    assert (shop.root / "new.py").read_text() == "new = 2\n"
    if cut is begun:
        assert str(stopped.value) == (
            f"a merge was cut off in {shop.root}, and new.py was changed since: finish it with "
            f"`git -C {shop.root} commit`, or take it back with `git -C {shop.root} merge "
            f"--abort`, then run `qrspi next {RUN}` again"
        )


def test_a_git_that_goes_on_without_us_is_waited_for(shop: Workshop) -> None:
    """Killed alone, we leave a git behind that is in the middle of its hook."""
    gate, seen = shop.root.parent / "gate", shop.root.parent / "seen"
    os.mkfifo(gate)
    os.mkfifo(seen)
    shop.hook("pre-merge-commit", f"echo > {seen}; read line < {gate}; exit 0")
    words = [str(COMMAND), "--lock-timeout", "0.1", "next", RUN]
    process = subprocess.Popen(words, cwd=shop.root, stdout=subprocess.DEVNULL)
    seen.read_text()
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = subprocess.run(words, cwd=shop.root, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr.splitlines()[0]) == (
        4,
        f"a git is still merging in {shop.root} for a command that was killed: wait until it has "
        f"ended, then run `qrspi next {RUN}` again",
    )
    shop.hook("pre-merge-commit", "exit 0")
    gate.write_text("on\n")
    words[2] = "60"
    subprocess.run(words, cwd=shop.root, capture_output=True, check=True)
    assert len(shop.git("log", "--merges", "--format=%H").split()) == 1


def test_marks_of_a_conflict_that_nobody_touched_are_taken_back(shop: Workshop) -> None:
    tip = shop.git("rev-parse", "qrspi/user-auth/task-01")
    (shop.root / "a.py").write_text("a = 9\n")
    shop.commit("meanwhile")
    with pytest.raises(AssertionError):
        shop.git("merge", "-q", "--no-ff", tip)
    assert "merge" in shop.did()
    assert not (shop.root / ".git/MERGE_HEAD").exists()
    assert (shop.root / "a.py").read_text() == "a = 9\n"
