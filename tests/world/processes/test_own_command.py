"""The program started anew imports nothing from the project it stands in."""

from __future__ import annotations

import site
import subprocess
from pathlib import Path

import pytest

from qrspi.world.processes import own_command


@pytest.mark.rule("SEC-13")
@pytest.mark.parametrize("name", ["click.py", "json.py", "git/__init__.py", "qrspi/__init__.py"])
@pytest.mark.parametrize("by", ["cwd", "PYTHONPATH"])
def test_a_module_of_the_project_is_not_imported(
    name: str, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / name
    module.parent.mkdir(exist_ok=True)
    module.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    if by == "PYTHONPATH":
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    argv = [*own_command.words(), "--version"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(" ")[0]) == (0, "qrspi"), done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.rule("SEC-13")
def test_who_installed_it_among_their_own_packages_keeps_them() -> None:
    place = f"{site.getusersitepackages()}/qrspi/world/processes/own_command.py"
    assert own_command._isolation(place) == ["-E", "-P"]
