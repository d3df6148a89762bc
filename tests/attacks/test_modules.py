"""To have Python code of the project imported, or found in place of a program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from qrspi.world.processes import own_command
from tests import runs
from tests.attacks.arena import Arena
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-13")
ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    name: name
    for name in ("click.py", "json.py", "qrspi/__init__.py", "sitecustomize.py", "usercustomize.py")
}


def plant(arena: Arena, name: str) -> None:
    module = arena.project / name
    module.parent.mkdir(exist_ok=True)
    module.write_text(f"open({str(arena.ran)!r}, 'w')\n")


@attack("a clone", "a module with a name of ours is imported by a child", MODULES)
def test_a_module(arena: Arena, way: str) -> None:
    arena.clone()
    plant(arena, way)
    argv = [*own_command.words(), "status"]
    done = subprocess.run(argv, cwd=arena.project, capture_output=True, text=True)
    assert (done.returncode, runs.RUN in done.stdout) == (0, True), done.stderr


@attack("a clone", "a module is imported by the command itself, from where one stands", MODULES)
def test_where_one_stands(arena: Arena, way: str) -> None:
    run = arena.clone()
    plant(arena, way)
    for module in (arena.project / way, run / way):
        module.parent.mkdir(exist_ok=True)
        module.write_text(f"open({str(arena.ran)!r}, 'w')\n")
    assert arena.process("status", at=run).code == 0


@attack(
    "a clone",
    "a unit that is printed imports from the project",
    {"systemd": "systemd", "launchd": "launchd"},
    no_more="two kinds of units are printed",
)
def test_a_unit(arena: Arena, way: str) -> None:
    arena.clone()
    said = arena.qrspi("watch", "--print-unit", way).out
    assert "-m qrspi" not in said.replace("-I -m qrspi", "")
    assert "<string>-m</string>" not in said or "<string>-I</string>" in said


@attack(
    "a clone",
    "a program of the project is found before the user's own",
    {name: name for name in ("git", "sh", "python3", "claude", "codex")},
)
def test_a_program(arena: Arena, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = arena.clone()
    for folder in (arena.project, run):
        arena.program(way).rename(folder / way)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    arena.looks(at=run)
    assert arena.process("next", at=run).code == 0


@attack(
    "a clone",
    "the action for CI imports from the repository that it checks",
    {name: name for name in ("pip.py", "pip/__init__.py", "json.py", "sitecustomize.py")},
)
def test_the_action(arena: Arena, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not succeed: there is nothing to install from."""
    arena.clone()
    plant(arena, way)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PACKAGE", "no-such-package")
    steps = YAML(typ="safe").load((ROOT / "action.yml").read_text())["runs"]["steps"]
    for step in steps:
        subprocess.run(["bash", "-c", step["run"]], cwd=arena.project, capture_output=True)
