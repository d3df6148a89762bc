"""To have an approval counted that no person gave, by a line in the record of decisions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.pipeline import subject_of
from qrspi.core.records import step_text
from qrspi.world.runs.committed_tree import CommittedTree
from tests import scenes
from tests.attacks.arena import Arena
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-20", "LIV-08")
LOG = "approvals.jsonl"
CLAIM = "was not written by `qrspi approve`"
Forge = Callable[[Arena, Path], None]


def begun(arena: Arena) -> Path:
    """A person has decided something here, by a command."""
    run = arena.clone(approvals="recorded")
    assert arena.qrspi("config", "set", "second_reviewer", "true").code == 0
    return run


def line(run: Path, **fields: object) -> str:
    known = {
        "event": "approve",
        "step": "goals",
        "body_hash": step_text.body_hash(CommittedTree(str(run)), subject_of("goals")),
        "round": 0,
        "who": "Ada Example <ada@example.org>",
        "when": "2026-05-17T09:30:00Z",
        "surface": "cli",
    }
    return json.dumps({**known, **fields})


def forged(run: Path, text: str = "") -> None:
    goals = run / "goals.md"
    goals.write_text(goals.read_text().replace("status: draft", "status: approved"))
    with (run / LOG).open("a") as log:
        log.write((text or line(run)) + "\n")


def plainly(arena: Arena, run: Path) -> None:
    forged(run)


def committed(arena: Arena, run: Path) -> None:
    forged(run)
    arena.commit()


def without_a_trail(arena: Arena, run: Path) -> None:
    forged(run)
    shutil.rmtree(run / ".qrspi")


def committed_without_a_trail(arena: Arena, run: Path) -> None:
    committed(arena, run)
    shutil.rmtree(run / ".qrspi")


def before_the_others(arena: Arena, run: Path) -> None:
    known = (run / LOG).read_text()
    (run / LOG).write_text("")
    forged(run)
    with (run / LOG).open("a") as log:
        log.write(known)


def beside_another_step(arena: Arena, run: Path) -> None:
    mark = json.loads(line(run))
    forged(run, line(run, step="questions", resets=[{k: mark[k] for k in MARK}]))


MARK = ("step", "body_hash", "round")


def spelt_otherwise(arena: Arena, run: Path) -> None:
    forged(run, line(run).replace('"approve"', '"\\u0061pprove"').replace(": ", " :  "))


def by_the_engine(arena: Arena, run: Path) -> None:
    forged(run, line(run, who="qrspi", surface="cascade"))


def after_a_no(arena: Arena, run: Path) -> None:
    scenes.advance(run)
    assert arena.qrspi("reject", "goals", "-m", "No.").code == 0
    forged(run)


@attack(
    "an agent",
    "a line that approves is put into the record of decisions",
    {
        "plainly": plainly,
        "and committed": committed,
        "and the trail taken away": without_a_trail,
        "and committed, without a trail": committed_without_a_trail,
        "before the others": before_the_others,
        "about another step, with this one": beside_another_step,
        "spelt otherwise": spelt_otherwise,
        "as the engine's own": by_the_engine,
        "after a person's no": after_a_no,
    },
)
def test_a_line(arena: Arena, way: Forge) -> None:
    """It is a claim: it counts for nothing, and a person is asked."""
    run = begun(arena)
    way(arena, run)
    if "trail" not in way.__name__:
        assert CLAIM in arena.qrspi("status").flat
    for look in ("doctor", "verify"):
        assert CLAIM in arena.qrspi(look).flat, look
    assert arena.qrspi("verify").code == 3
    assert arena.qrspi("next", "--json").json["next"]["step"] == "goals"
    assert CLAIM in arena.qrspi("verify").flat, "a commit of the engine took it for its own"
    assert arena.qrspi("approve", "goals", "--unreviewed").code == 0
    if way is beside_another_step:
        return  # nobody has decided about that one
    is_approved(arena)
    scenes.git(arena.project, "clone", "-q", ".", "../other")
    is_approved(arena, arena.top / "other")


def is_approved(arena: Arena, at: Path | None = None) -> None:
    for look in ("status", "doctor", "verify", "next"):
        assert CLAIM not in arena.qrspi(look, at=at).flat, look
    assert "[x] goals" in arena.qrspi("status", at=at).text


def no_trail(arena: Arena, run: Path) -> None:
    shutil.rmtree(run / ".qrspi")


def merged(arena: Arena, run: Path) -> None:
    """Lines of two branches, in another order than any commit had them."""
    scenes.git(arena.project, "checkout", "-q", "-b", "side", "HEAD~1")
    assert arena.qrspi("config", "set", "evidence", "dispatched").code == 0
    scenes.git(arena.project, "checkout", "-q", "main")
    (run / ".gitattributes").write_text("approvals.jsonl merge=union\n")
    scenes.git(arena.project, "merge", "-q", "--no-ff", "-X", "ours", "side", "-m", "merge")


def by_older_engines(arena: Arena, run: Path) -> None:
    first = scenes.git(arena.project, "rev-list", "--max-parents=0", "HEAD").strip()
    scenes.git(arena.project, "reset", "-q", "--soft", first)
    arena.commit()
    shutil.rmtree(run / ".qrspi")


def out_of_git(arena: Arena, run: Path) -> None:
    """The trail alone tells."""
    shutil.rmtree(arena.project / ".git")


def by_their_owner(arena: Arena, run: Path) -> None:
    """No commit of such a run is the engine's, and here nobody has made one."""
    scenes.git(arena.project, "reset", "-q", "HEAD~2")
    settings = (run / "config.md").read_text()
    (run / "config.md").write_text(settings.replace("---\n", "---\ncommit: off\n", 1))
    shutil.rmtree(run / ".qrspi")


@attack(
    "an agent",
    "what a person did approve is called nobody's",
    {
        "without the trail": no_trail,
        "after a merge": merged,
        "in a history of older engines": by_older_engines,
        "out of git": out_of_git,
        "where people commit": by_their_owner,
    },
)
def test_what_a_person_approved(arena: Arena, way: Forge) -> None:
    run = begun(arena)
    assert arena.qrspi("approve", "goals", "--unreviewed").code == 0
    way(arena, run)
    is_approved(arena)
