"""Commands as tests call them: in this process for speed, as a real one where it matters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from qrspi.cli import main
from tests.printed_commands import Known, Watch

COMMAND = Path(sys.executable).with_name("qrspi")
NOW = "2026-05-17T09:30:00Z"


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is also where the commands are called from."""
    folder = tmp_path.resolve() / "shop"
    (folder / "docs" / "qrspi").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("QRSPI_NOW", NOW)
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.delenv("COLUMNS", raising=False)
    return folder


@pytest.fixture
def qrspi(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Call]:
    """A command in this process. The commands that it prints are tried when the test is over."""
    known = Known(tmp_path_factory, "printed-by-commands")
    watch = Watch(tmp_path.resolve(), tmp_path_factory.mktemp("printed"), known)

    def call(*words: str | Path) -> Result:
        done = run(*words)
        if os.environ.get("QRSPI_PRINTED") != "off":
            watch.look(done.out)
            watch.look(done.err)
        return done

    def run(*words: str | Path) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        told = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return Result(stop.value.code, told.out, told.err)

    yield call
    wrong = watch.verdicts(lambda words: run(*words)[:2])
    assert wrong == [], "\n".join(wrong)


@pytest.fixture
def process() -> Call:
    """The installed command, as a process of its own."""

    def call(*words: str | Path, **more: Any) -> Result:
        settings = {"capture_output": True, "text": True, "timeout": 60, **more}
        done = subprocess.run([COMMAND, *words], **settings)
        return Result(done.returncode, done.stdout or "", done.stderr or "")

    return call
