"""To do harm, or to pass, as a run that somebody else made, when it is taken in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.attacks.arena import VARIABLE, Arena
from tests.attacks.test_consent import ROLE, agent, provider
from tests.attacks.test_terminal import OBEYED, unseen
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("IMPT-07", "SEC-12", "SEC-20")
NAME = "2026-05-01-theirs"


def theirs(arena: Arena, **files: bytes) -> Path:
    """A run in a folder of its own, beside a project of the user's."""
    arena.scene(scenes.project)
    plain = {"config.md": runs.config(), "goals.md": runs.artifact(body=scenes.BODY)}
    return runs.on_disk(arena.top / "stranger", {**plain, **files}, NAME)


def taken(arena: Arena, source: Path, *more: str) -> Path:
    said = arena.qrspi("import", source, "--yes", *more)
    assert said.code == 0, said.text
    return arena.project / "docs" / "qrspi" / NAME


def named(text: bytes) -> dict[str, bytes]:
    body = {"config": text, "HEAD": b"ref: refs/heads/main\n"}
    return {**body, "refs/x": b"", "objects/x": b"", "hooks/post-index-change": text}


@attack(
    "a clone",
    "a repository inside the run comes with it, which whoever works there runs",
    {
        "at its top": ".git",
        "in a folder": "tasks/.git",
        "deep": "reviews/goals/round-01/.git",
        "in capitals": "tasks/.GIT",
        "by a file": "research/.git",
    },
)
def test_a_repository(arena: Arena, way: str) -> None:
    source = theirs(arena)
    text = f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {arena.touch}\n".encode()
    if way.startswith("research"):
        (source / "research").mkdir()
        (source / way).write_text(f"gitdir: {arena.outside}\n")
    for path, data in named(text).items() if not (source / way).exists() else ():
        scenes.save(source / way / path, data)
    run = taken(arena, source)
    assert f"- {way} is left out\n" in (run / "import.md").read_text()
    assert [one for one in run.rglob("*") if one.name.lower() == ".git"] == []
    scenes.git(arena.project, "status")


@attack(
    "a clone",
    "what somebody decided elsewhere is taken for a decision of this project's people",
    {
        "another person": ("Ada Example", "Real User"),
        "the same person": ("Ada Example", "Ada Example"),
        "nobody": ('"who"', '"whose"'),
        "by itself": ('"surface": "cli"', '"surface": "cascade"'),
    },
)
def test_a_decision(arena: Arena, way: tuple[str, str]) -> None:
    run = arena.scene(scenes.clean)
    arena.qrspi("next")
    assert arena.qrspi("approve", "goals").code == 0
    record = (run / "approvals.jsonl").read_text()
    assert way[0] in record
    record = record.replace(*way)
    shutil.copytree(run, source := arena.top / NAME)
    (source / "approvals.jsonl").write_text(record)
    shutil.rmtree(arena.project)
    arena.project.mkdir()
    scenes.git(arena.project, "init", "-q", "-b", "main")
    taken(arena, source)
    assert "Approved goals" not in arena.qrspi("log", "--all").text
    assert "goals.md says approved, and no record says who" in arena.qrspi("status").flat
    assert arena.qrspi("verify").code == 3
    assert "approvals.jsonl is left out" in (taken(arena, source) / "import.md").read_text()


@attack(
    "a clone",
    "the run says itself that it was taken in: by whom, and which rounds count",
    {
        "another person": {"by": "Real User <real@example.org>"},
        "rounds": {"rounds": "{reviews/goals: [1]}"},
        "a settled round": {"open": "{reviews/goals/round-01: leave}"},
        "done already": {"config_before": "0" * 64},
    },
)
def test_its_own_word(arena: Arena, way: dict[str, str]) -> None:
    said = {"imported": "2020-01-01T00:00:00Z", "by": "x", "from": "y", "config_before": ""}
    lines = [f"{key}: {value or chr(34) * 2}\n" for key, value in {**said, **way}.items()]
    page = "".join(["---\n", *lines, "---\n\n# Taken in\n"]).encode()
    run = taken(arena, theirs(arena, **{"import.md": page, "import-files.txt": b"x  y\n"}))
    text = (run / "import.md").read_text()
    assert 'imported: "2026-05-17T09:30:00Z"\nby: "Ada Example <ada@example.org>"\n' in text
    assert "rounds: {}\nopen: {}\n" in text
    assert (run / "config.md").read_bytes() == runs.config()
    assert b"y" not in (run / "import-files.txt").read_bytes().split()


def a_link(source: Path, outside: Path) -> None:
    (source / "design.md").symlink_to(outside / "private.md")


def a_folder(source: Path, outside: Path) -> None:
    (source / "research").symlink_to(outside)


def a_pipe(source: Path, outside: Path) -> None:
    os.mkfifo(source / "design.md")


def settings(source: Path, outside: Path) -> None:
    (source / "config.md").unlink()
    (source / "config.md").symlink_to(outside / "private.md")


@attack(
    "a clone",
    "a file of the run is something else, and what it leads to is read or waited for",
    {"a link": a_link, "a folder": a_folder, "a pipe": a_pipe, "its settings": settings},
)
def test_no_file(arena: Arena, way: Callable[[Path, Path], None]) -> None:
    source = theirs(arena)
    way(source, arena.outside)
    said = arena.qrspi("import", source, "--yes")
    run = arena.project / "docs" / "qrspi" / NAME
    assert said.code == 0 or not run.exists()
    assert not (run / "design.md").exists() and not (run / "research").exists()


@attack(
    "a clone",
    "the settings of the run are too much to read, or name programs",
    {
        "deep": b"a: " + b"[" * 100_000,
        "ten million bytes": b"# " + b"x" * 10_000_000,
        "many": b"".join(b"k%d: 1\n" % at for at in range(100_000)),
        "keys twice": b"route: [goals]\nroute: [goals, plan]\npipeline: quick\npipeline: full\n",
        "one for all": b"a: &a [1]\nb: *a\n<<: *a\n",
        "no text": b"\xff\xfe\0",
    },
)
def test_settings(arena: Arena, way: bytes) -> None:
    source = theirs(arena, **{"config.md": b"---\n" + way + b"\n---\n"})
    before = runs.contents(arena.project)
    said = arena.qrspi("import", source, "--yes")
    assert said.code == 3 and len(said.text) < 5000
    assert runs.contents(arena.project) == before


@attack(
    "a clone",
    "a name in the run is taken for an option or a pattern, or is obeyed where it is read",
    {"an option": "-rf.md", "an option of git": "--html=x", "magic": ":(top)x", **OBEYED},
)
def test_a_name(arena: Arena, way: str) -> None:
    name = way.replace("/", "")
    files = {name: b"x", f"reviews/goals/round-01/{name}.finding-F01.md": b"x"}
    source = theirs(arena, **files)
    (source / f"link{name}").symlink_to(arena.outside)
    run = taken(arena, source)
    text = (run / "import.md").read_bytes().decode()
    for said in (text, *(said.text for said in arena.heard)):
        assert [one for one in unseen(said, way) if one < "\u0300"] == [], said
    assert scenes.git(arena.project, "status", "--short") == ""


def naming(**fields: str) -> dict[str, bytes]:
    return {"config.md": runs.config(**fields)}


@attack(
    "a clone",
    "what the run names is allowed by taking it in",
    {
        "a program": lambda arena: naming(commands=agent(arena)),
        "an address": lambda arena: naming(
            providers=provider("https://api.example.org/v1", VARIABLE, "")
        ),
        "a role": lambda arena: {
            **naming(commands=agent(arena)),
            ".qrspi/agents/reviewer-quality.md": ROLE.encode(),
        },
        "a command": lambda arena: naming(gates=f"{{test_command: '{arena.touch}'}}"),
    },
)
def test_no_consent(arena: Arena, way: Callable[[Arena], dict[str, bytes]]) -> None:
    taken(arena, theirs(arena, **way(arena)))
    assert "Nothing is allowed yet" in arena.qrspi("trust", "--list").text
    arena.qrspi("next", NAME, "--dispatch")
    assert arena.qrspi("trust", NAME, "--dry-run").out.splitlines()[-1].startswith("Would allow")
