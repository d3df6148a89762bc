"""The wheel, installed into an empty environment and used from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import qrspi

ROOT = Path(__file__).resolve().parent.parent


def _run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir")
    _run(*build, out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `qrspi` command of an environment that has the wheel and nothing of the checkout."""
    home = tmp_path_factory.mktemp("environment")
    _run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    pip = (sys.executable, "-m", "pip", "--python", home / "bin" / "python", "--no-input")
    _run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=home)
    # Only now: with the dependencies in sight pip would find the checkout's own metadata and
    # leave the wheel out. A path added this way does not run the .pth files it contains, so
    # the editable checkout stays invisible.
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "qrspi"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    _run("git", "init", "-q", "-b", "main", tmp_path, cwd=tmp_path)
    _run("git", "commit", "-q", "--allow-empty", "-m", "Start", cwd=tmp_path)
    return tmp_path


def test_the_wheel_holds_the_code_and_the_data_beside_it(wheel: Path) -> None:
    tracked = _run("git", "ls-files", "-z", "qrspi", "schemas", cwd=ROOT).split("\0")
    expected = {
        name if name.startswith("qrspi/") else f"qrspi/{name}"
        for name in tracked
        if name and (ROOT / name).exists()
    }
    held = set(zipfile.ZipFile(wheel).namelist())
    assert expected - held == set()
    for folder in ("schemas", "roles", "data"):
        assert any(name.startswith(f"qrspi/{folder}/") for name in held), folder


def test_the_installed_package_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    where = "import qrspi; print(qrspi.__file__)"
    file = _run(installed.with_name("python"), "-c", where, cwd=tmp_path)
    assert file.startswith(str(installed.parent.parent) + os.sep)


def test_the_installed_command_knows_its_version(installed: Path, tmp_path: Path) -> None:
    assert _run(installed, "--version", cwd=tmp_path) == f"qrspi {qrspi.__version__}\n"


def test_the_installed_command_prints_its_schemas(installed: Path, tmp_path: Path) -> None:
    listing = _run(installed, "schema", cwd=tmp_path)
    for schema in (ROOT / "schemas").glob("*.json"):
        assert schema.name.partition(".")[0] in listing


def test_a_run_can_be_started_and_read_from_another_folder(
    installed: Path, repository: Path
) -> None:
    elsewhere = repository / "src"
    elsewhere.mkdir()
    _run(
        installed, "--root", repository, "init", "first-light", "--pipeline", "quick", cwd=elsewhere
    )
    status = _run(installed, "--root", repository, "status", cwd=elsewhere)
    assert "first-light" in status
