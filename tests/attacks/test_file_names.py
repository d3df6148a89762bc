"""To stop a project, or what guards it, by one file: by its name, or by what no text can have."""

from __future__ import annotations

import os

import pytest

from tests import quick, runs, scenes
from tests.attacks.arena import LOOKS, Arena
from tests.attacks.trial import attack
from tests.hooks.test_hook import shell

pytestmark = pytest.mark.rule("SEC-01", "SEC-03", "HST-06")
OTHER = "2026-01-02-another-run"
NAMES = {
    "among the tasks": ("plan", b"tasks/a\xff.md"),
    "of research": ("research", b"research/q\xff.md"),
    "among the reviews": ("plan", b"reviews/a\xff.md"),
    "in the run": ("plan", b"a\xff.md"),
}
LOOKS_AT_RUN = ("status", "status --explain", "brief", "next --dry-run", "verify", "report", "log")
SUMS = [look for look in LOOKS if look.split()[0] in ("status", "inbox", "doctor", "verify")]


def approved(arena: Arena, step: str, name: bytes) -> str:
    """The text of the step was reviewed and approved with the file."""
    run = quick.make(arena.project, step, git=True)
    quick.put(run, os.fsdecode(name), runs.artifact(body="# A text\n"))
    arena.qrspi("next", run.name)
    quick.say_clean(run, step)
    arena.qrspi("next", run.name)
    return str(run)


@attack("a clone", "a name that is not UTF-8 ends every command, for every run", NAMES)
def test_no_text(arena: Arena, way: tuple[str, bytes]) -> None:
    approved(arena, *way)
    assert "approved" in arena.qrspi("status", runs.RUN).text, "it was not looked at"
    scenes.add_run(arena.project, OTHER)
    told = arena.looks(f"{look} {name}" for name in (runs.RUN, OTHER) for look in LOOKS_AT_RUN)
    told += arena.looks(SUMS)
    assert OTHER in told and "a bug in qrspi" not in told
    arena.qrspi("next", OTHER)


@attack("a clone", "a name that is not UTF-8 makes the hook let pass what it refuses", NAMES)
def test_the_hook(arena: Arena, way: tuple[str, bytes]) -> None:
    run = approved(arena, *way)
    os.truncate(f"{run}/goals.md", 0)
    for command in (
        f"printf -- '---\\nstatus: approved\\n---\\n' > {run}/goals.md",
        f"echo >> {run}/approvals.jsonl",
    ):
        told = shell("claude-code", command, arena.project)
        assert (told.status, told.err) == (0, "")
        assert told.reason.startswith("[qrspi] ")


HALF = "\\ud800"  # of a character, as JSON spells it


@attack(
    "a clone",
    "half a character in a record ends every command",
    {
        "the commit of a round": (".dispatch-manifest.json", '"commit": "'),
        "a field of its own": (".dispatch-manifest.json", "{"),
        "its text": (".dispatch-manifest.json", '"body_hash": "'),
        "who decided": ("approvals.jsonl", '"who": "'),
    },
)
def test_half_a_character(arena: Arena, way: tuple[str, str]) -> None:
    run = arena.scene(scenes.clean)
    arena.qrspi("next")
    assert arena.qrspi("approve", "goals").code == 0
    name, before = way
    files = [file for file in run.rglob(name) if before in file.read_text()]
    for file in files:
        added = f'"own": "{HALF}", ' if before == "{" else HALF
        file.write_text(file.read_text().replace(before, before + added, 1))
    assert files
    assert "a bug in qrspi" not in arena.looks()
