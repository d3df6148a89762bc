"""To take a decision back by taking it out of the record, or out of what is kept beside it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import quick, scenes
from tests.attacks.arena import Arena
from tests.attacks.test_decisions import unscored
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-22", "LIV-08")
Lines = list[bytes]
Cut = Callable[[Lines], Lines]
LOG = "approvals.jsonl"


def rejected(root: Path) -> Path:
    """A person asked for more of reviews, and refused the goals."""
    return scenes.clean(root)


def decide(arena: Arena) -> Path:
    run = arena.scene(rejected)
    assert arena.qrspi("config", "set", "second_reviewer", "true").code == 0
    assert arena.qrspi("reject", "-m", "No.").code == 0
    assert arena.qrspi("config", "set", "evidence", "dispatched").code == 0
    return run


def cut(log: Path, how: Cut) -> None:
    log.write_bytes(b"".join(how(log.read_bytes().splitlines(keepends=True))))


def padded(lines: Lines) -> Lines:
    return [*lines[:-1], b" " * (len(lines[-1]) - 1) + b"\n"]


CUTS: dict[str, Cut] = {
    "all": lambda lines: [],
    "the last line": lambda lines: lines[:-1],
    "the first line": lambda lines: lines[1:],
    "a line between": lambda lines: [lines[0], lines[2]],
    "half a line": lambda lines: [*lines[:-1], lines[-1][:40]],
    "a word of a line": lambda lines: [lines[0], lines[1].replace(b"reject", b"init"), lines[2]],
    "a letter of a line": lambda lines: [lines[0].replace(b"true", b"trux"), *lines[1:]],
    "the order": lambda lines: [lines[1], lines[0], lines[2]],
    "for blanks": padded,
    "for another line": lambda lines: [*lines[:-1], lines[0]],
}


class Hidden(NamedTuple):
    """What is done so that the loss is not seen."""

    git: tuple[str, ...] = ()
    at_once: bool = True  # whether `status` sees it all the same
    times: bool = False


HIDDEN = {
    "plainly": Hidden(),
    "with its old times": Hidden(times=True),
    "not looked at": Hidden(("update-index", "--assume-unchanged", LOG)),
    "not of the work tree": Hidden(("update-index", "--skip-worktree", LOG)),
    "staged": Hidden(("add", LOG), at_once=False),
    "out of the index": Hidden(("rm", "-q", "--cached", LOG), at_once=False),
    "with short names": Hidden(("update-index", "--index-version", "4"), at_once=False),
}


def hide(run: Path, how: Hidden, before: os.stat_result) -> None:
    if how.times:
        os.utime(run / LOG, ns=(before.st_atime_ns, before.st_mtime_ns))
    if how.git:
        subprocess.run(["git", *how.git], cwd=run, check=True)


def told(arena: Arena, word: str, *looks: str) -> None:
    for look in looks:
        said = arena.qrspi(look)
        assert word in said.flat, f"{look}: {said.text}"


def texts(run: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.iterdir() if path.is_file()}


DECIDING = ("approve goals --unreviewed", "reject -m Never.", "config set evidence any")


def refused(arena: Arena, run: Path, commands: tuple[str, ...] = ("next", *DECIDING)) -> str:
    """Nothing is decided and nothing written; gives the command that goes on."""
    before = texts(run)
    hints = set()
    for words in commands:
        said = arena.qrspi(*shlex.split(words), "--json")
        assert (said.code, said.json["code"]) == (3, "record-cut"), f"{words}: {said.text}"
        hints.add(said.json["hint"])
    assert before == texts(run)
    (hint,) = hints
    return str(hint)


def restored(arena: Arena, run: Path, hint: str, was: bytes) -> None:
    subprocess.run(hint, shell=True, check=True, cwd="/", capture_output=True)
    assert (run / LOG).read_bytes() == was
    assert LOG not in arena.qrspi("doctor").flat


@attack("an agent", "a decision is taken out of the record that git has", CUTS)
def test_cut(arena: Arena, way: Cut) -> None:
    run = decide(arena)
    was = (run / LOG).read_bytes()
    cut(run / LOG, way)
    told(arena, "gone or changed", "status", "doctor", "verify", "inbox")
    assert arena.qrspi("verify").code == 3
    restored(arena, run, refused(arena, run), was)


@attack("an agent", "what is taken out of the record is hidden from whoever looks", HIDDEN)
def test_hidden(arena: Arena, way: Hidden) -> None:
    run = decide(arena)
    was, before = (run / LOG).read_bytes(), (run / LOG).stat()
    cut(run / LOG, CUTS["for blanks"])
    hide(run, way, before)
    told(arena, "gone or changed", "doctor", "verify")
    if way.at_once:
        told(arena, "gone or changed", "status")
        refused(arena, run, ("next",))
    restored(arena, run, refused(arena, run, DECIDING), was)


@attack(
    "a clone",
    "a decision is taken out of the record of a copy",
    {"a clone": "clone", "a work tree": "worktree", "a copy": "copy", "a shallow clone": "shallow"},
)
def test_a_copy(arena: Arena, way: str) -> None:
    run = decide(arena)
    name = run.relative_to(arena.project)
    match way:
        case "clone":
            scenes.git(arena.project, "clone", "-q", ".", "../other")
        case "shallow":
            url = arena.project.as_uri()
            scenes.git(arena.project, "clone", "-q", "--depth", "1", url, "../other")
        case "worktree":
            scenes.git(arena.project, "worktree", "add", "-q", "-b", "other", "../other")
        case _:
            shutil.copytree(arena.project, arena.top / "other")
    there = run if way == "worktree" else arena.top / "other" / name
    cut(there / LOG, CUTS["the last line"])
    for look in ("status", "doctor", "verify"):
        assert "gone or changed" in arena.qrspi(look, at=arena.top / "other").flat


def committed(arena: Arena, run: Path) -> None:
    cut(run / LOG, CUTS["a line between"])
    arena.commit()


def in_a_merge(arena: Arena, run: Path) -> None:
    scenes.git(arena.project, "checkout", "-q", "-b", "side")
    arena.qrspi("config", "set", "evidence", "any")
    scenes.git(arena.project, "checkout", "-q", "-")
    scenes.git(arena.project, "merge", "-q", "--no-ff", "--no-commit", "side")
    committed(arena, run)


def of_a_branch(arena: Arena, run: Path) -> None:
    """A merge that keeps nothing of the branch on which a person said no."""
    scenes.git(arena.project, "checkout", "-q", "-b", "side")
    assert arena.qrspi("reject", "-m", "Never.").code == 0
    scenes.git(arena.project, "checkout", "-q", "-")
    scenes.git(arena.project, "merge", "-q", "--no-ff", "-s", "ours", "side", "-m", "merge")


def called_binary(arena: Arena, run: Path) -> None:
    (arena.project / ".gitattributes").write_text("*.jsonl binary -diff\n")
    committed(arena, run)


def by_settings(arena: Arena, run: Path) -> None:
    for key, value in {"log.diffMerges": "off", "diff.context": "9", "log.follow": "true"}.items():
        scenes.git(arena.project, "config", key, value)
    in_a_merge(arena, run)


def moved(arena: Arena, run: Path) -> None:
    cut(run / LOG, CUTS["the order"])
    arena.commit()


def and_on(arena: Arena, run: Path) -> None:
    committed(arena, run)
    assert arena.qrspi("config", "set", "evidence", "any").code == 0


@attack(
    "an agent",
    "a record that lost a decision is committed",
    {
        "by itself": committed,
        "in a merge": in_a_merge,
        "of a branch, by a merge": of_a_branch,
        "called binary": called_binary,
        "with settings of git": by_settings,
        "before another decision": and_on,
        "in another order": moved,
    },
)
def test_committed(arena: Arena, way: Callable[[Arena, Path], None]) -> None:
    run = decide(arena)
    way(arena, run)
    shutil.rmtree(run / ".qrspi")  # as in a clone, where only history tells
    word = "lines that were on record are in another order" if way is moved else "on record is gone"
    told(arena, f"{word} since commit", "doctor", "verify")
    assert arena.qrspi("verify").code == 3


def reset(arena: Arena, run: Path) -> None:
    scenes.git(arena.project, "reset", "-q", "--hard", "HEAD~1")


def reset_and_on(arena: Arena, run: Path) -> None:
    reset(arena, run)
    assert arena.qrspi("config", "set", "second_reviewer", "false").code == 0


def amended(arena: Arena, run: Path) -> None:
    cut(run / LOG, CUTS["the last line"])
    scenes.git(arena.project, "commit", "-q", "--all", "--amend", "--no-edit")


def squashed(arena: Arena, run: Path) -> None:
    cut(run / LOG, CUTS["a line between"])
    first = scenes.git(arena.project, "rev-list", "--max-parents=0", "HEAD").strip()
    scenes.git(arena.project, "reset", "-q", "--soft", first)
    arena.commit()


def forgotten(arena: Arena, run: Path) -> None:
    """Not even what was checked out before is known any more."""
    squashed(arena, run)
    scenes.git(arena.project, "reflog", "expire", "--expire=now", "--all")
    scenes.git(arena.project, "gc", "-q", "--prune=now")


def cut_off(arena: Arena, run: Path) -> None:
    committed(arena, run)
    head = scenes.git(arena.project, "rev-parse", "HEAD").strip()
    (arena.project / ".git" / "shallow").write_text(f"{head}\n")


def renamed(arena: Arena, run: Path) -> None:
    cut(run / LOG, CUTS["a line between"])
    run.rename(run.with_name(f"{run.name}-2"))
    arena.commit()


@attack(
    "an agent",
    "git's history is made to say that a decision was never on record",
    {
        "by a reset": reset,
        "by a reset, before another decision": reset_and_on,
        "by an amended commit": amended,
        "by one commit for all": squashed,
        "and nothing of it is left": forgotten,
        "by a history that is cut off": cut_off,
        "by another name for the run": renamed,
    },
)
def test_history(arena: Arena, way: Callable[[Arena, Path], None]) -> None:
    """The trail knows what the record was after each command."""
    run = decide(arena)
    way(arena, run)
    told(arena, "that it had after the last command", "doctor", "verify")
    if way is not reset_and_on:
        told(arena, "approvals.jsonl lacks lines", "status")
    assert arena.qrspi("verify").code == 3


@attack(
    "an agent",
    "another branch is checked out, on which a decision is not on record",
    {"a new one": ("--orphan", "other"), "an older one": ("-q", "-b", "other", "HEAD~1")},
    no_more="a branch has the lines or it has not",
)
def test_another_branch(arena: Arena, way: tuple[str, ...]) -> None:
    """A person may do so as well: it is said, and nothing approves itself."""
    run = decide(arena)
    scenes.git(arena.project, "checkout", *way)
    if way[0] == "--orphan":
        cut(run / LOG, CUTS["the last line"])
        arena.commit()
    told(arena, "lacks lines that it has on branch main", "status", "doctor", "verify")


@attack(
    "a clone",
    "a decision is taken out of a record whose history is not there",
    no_more="the ways to take one out are tried above",
)
def test_shallow(arena: Arena) -> None:
    run = decide(arena)
    committed(arena, run)
    url = f"file://{arena.project}"
    scenes.git(arena.project, "clone", "-q", "--depth", "1", url, "../other")
    for look in ("doctor", "verify"):
        assert "older commits are not here" in arena.qrspi(look, at=arena.top / "other").flat


OTHER_LOGS = {
    "of what approved itself": ("cascade-audit.log", True),
    "of quality": ("reviews/plan/quality.jsonl", True),
    "of comments": ("feedback/comments.jsonl", False),
}


@attack(
    "an agent",
    "another record is cut, emptied or taken away",
    OTHER_LOGS,
    no_more="there are no other records beside it",
)
def test_another_record(arena: Arena, way: tuple[str, bool]) -> None:
    """Nothing is decided while a record lacks what decisions rest on."""
    run = arena.scene(rejected)
    name, holds_up = way
    log = run / name
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text('{"event": "one"}\n{"event": "two"}\n')
    arena.commit()
    for change in (lambda: log.write_text('{"event": "one"}\n'), log.unlink):
        change()
        told(arena, name, "doctor", "verify")
        said = arena.qrspi("reject", "-m", "No.", "--dry-run")
        assert said.code == 0 or holds_up
        if holds_up:
            assert arena.qrspi("reject", "-m", "No.").code == 3
    arena.commit()
    told(arena, name, "doctor", "verify")


@attack("an agent", "a decision is taken out of a record that is in no git", CUTS)
def test_without_git(arena: Arena, way: Cut) -> None:
    """The trail knows what the record was; a step does not approve itself, and a person can."""
    run = quick.make(arena.project, "questions")
    assert arena.qrspi("config", "set", "evidence", "dispatched").code == 0
    assert arena.qrspi("config", "set", "second_reviewer", "true").code == 0
    assert arena.qrspi("config", "set", "evidence", "any").code == 0
    assert arena.qrspi("config", "set", "second_reviewer", "false").code == 0
    cut(run / LOG, way)
    told(arena, LOG, "status", "doctor", "verify")
    arena.qrspi("next")
    if arena.qrspi("status", "--json").json["runs"][0]["next"]["action"] == "review":
        quick.say_clean(run, "questions")
        arena.qrspi("next")
    assert "status: approved" not in (run / "questions.md").read_text()


@attack(
    "an agent",
    "the trail is taken away or emptied",
    {
        "taken away": lambda trail: trail.unlink(),
        "emptied": lambda trail: trail.write_bytes(b""),
        "for a folder": lambda trail: (trail.unlink(), trail.mkdir()),
        "for a link": lambda trail: (trail.unlink(), trail.symlink_to("/dev/null")),
    },
)
def test_the_trail(arena: Arena, way: Callable[[Path], object]) -> None:
    run = arena.scene(rejected)
    way(run / ".qrspi" / "audit.jsonl")
    told(arena, "audit.jsonl is gone", "status", "doctor")
    told(arena, "audit.jsonl: nothing tells any more what qrspi did", "verify")


def refuse(arena: Arena) -> Path:
    return decide(arena)


def choose(arena: Arena) -> Path:
    run = arena.scene(scenes.paused)
    arena.qrspi("next")
    assert arena.qrspi("decide", "quality-claude.R1-F01", "apply").code == 0
    return run


def skip(arena: Arena) -> Path:
    run = arena.scene(unscored)
    assert arena.qrspi("resolve", "skip").code == 0
    return run


def close(arena: Arena) -> Path:
    run = arena.scene(rejected)
    assert arena.qrspi("close", "--reason", "Enough.").code == 0
    return run


@attack(
    "an agent",
    "what a decision names is taken away",
    {
        "the reasons of a no": (refuse, "feedback/*.md"),
        "a choice": (choose, "reviews/goals-loop-pause-round-01.md"),
        "a skip": (skip, "reviews/goals/round-01*disabled*"),
        "the end of a run": (close, "closed.md"),
    },
)
def test_what_it_names(arena: Arena, way: tuple[Callable[[Arena], Path], str]) -> None:
    make, names = way
    run = make(arena)
    assert [*run.glob(names)]
    for _ in range(2):
        for file in run.glob(names):
            file.unlink()
        told(arena, names.partition("*")[0], "doctor", "verify")
        arena.commit()
