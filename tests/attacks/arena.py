"""Where attacks are tried: a user who has allowed nothing, with a secret and something to lose."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from qrspi.cli import main
from tests import runs, scenes
from tests.deliveries import config, quick
from tests.handlers.workshop import Workshop

COMMAND = Path(sys.executable).with_name("qrspi")
SECRET = "canary-0123456789-never-to-be-seen"
VARIABLE = "AWS_SECRET_ACCESS_KEY"
# Everything that looks and changes nothing.
LOOKS = (
    "status",
    "status --explain",
    "status --json",
    "status --all",
    "inbox",
    "inbox --commands",
    "brief",
    "explain",
    "log",
    "show",
    "doctor",
    "dispatch list",
    "prompt",
    "task list",
    "spend",
    "roles list",
    "trust --dry-run",
    "verify",
    "stats",
    "comment list --all",
    "checkpoint list",
    "quality list",
    "audit --dry-run",
    "next --dry-run",
)


def workshop(arena: Arena, **more: bytes) -> Workshop:
    """A quick run with one task, at implement, which names nothing that has to be allowed."""
    return workshop_at(arena.project, **more)


def workshop_at(root: Path, **more: bytes) -> Workshop:
    plain = config("quick", "gates: {test_command: none}\n")
    return Workshop(root, {**quick(), "config.md": plain, **more})


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err

    @property
    def flat(self) -> str:
        """Without the line breaks of a terminal."""
        return " ".join(self.text.split())

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Arena:
    """`ran` is what a stranger's program would leave behind, `outside` what nobody may touch."""

    def __init__(
        self, top: Path, store: Path, capsys: pytest.CaptureFixture[str] | None = None
    ) -> None:
        self.top = top
        self.project = top / "project"
        self.ran = top / "it-ran"
        self.outside = top / "outside"
        self.outside.mkdir()
        (self.outside / "private.md").write_text(f"{SECRET}\n")
        self.heard: list[Said] = []
        self.tried: set[str] = set()  # commands that were printed, and run
        self._capsys = capsys
        self._store = store

    # what somebody prepares

    @property
    def touch(self) -> str:
        """The program that must not run."""
        return f"touch {self.ran}"

    def program(self, name: str = "evil") -> Path:
        """It leaves its mark, and then answers as an agent would."""
        file = self.top / name
        file.write_text(f"#!/bin/sh\n{self.touch}\necho NO_FINDINGS\n")
        file.chmod(0o755)
        return file

    def answering(self, reply: str) -> str:
        """The setting of agents that all print this. A real program, which has to be allowed."""
        text, file = self.top / "reply", self.top / "agent"
        text.write_text(reply)
        file.write_text(f"#!/bin/sh\ncat {text}\n")
        file.chmod(0o755)
        return f"{{claude: {{argv: ['{file}']}}}}"

    def scene(self, build: Callable[[Path], Path]) -> Path:
        """The run of a prepared project, copied from what was built once."""
        kept = self._store / f"{build.__module__}-{build.__name__}".replace(".", "-")
        if not kept.exists():
            build(kept.with_suffix(".making"))
            kept.with_suffix(".making").rename(kept)
        shutil.copytree(kept, self.project, symlinks=True)
        return self.project / "docs" / "qrspi" / runs.RUN

    def clone(self, **fields: str) -> Path:
        """A project whose goals wait to be reviewed, as somebody else prepared it."""
        run = self.scene(scenes.project)
        if fields:
            (run / "config.md").write_bytes(runs.config(**fields))
            self.commit()
        return run

    def commit(self) -> None:
        scenes.commit_all(self.project)

    # what the user does

    def qrspi(self, *words: str | Path, at: Path | None = None) -> Said:
        os.chdir(at or self.project)
        assert self._capsys
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        told = self._capsys.readouterr()
        assert isinstance(stop.value.code, int)
        assert stop.value.code != 1, told.err
        return self._keep(Said(stop.value.code, told.out, told.err))

    def looks(self, commands: Iterable[str] = LOOKS, at: Path | None = None) -> str:
        """All that the commands say which only look."""
        return "".join(self.qrspi(*command.split(), at=at).text for command in commands)

    def process(self, *words: str | Path, at: Path | None = None) -> Said:
        """A real one."""
        done = subprocess.run(
            [COMMAND, *words],
            cwd=at or self.project,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        return self._keep(Said(done.returncode, done.stdout, done.stderr))

    def shell(self, script: str) -> None:
        """As a host or a person runs what was printed; the programs themselves do nothing."""
        programs = self.top / "programs"
        if not programs.exists():
            programs.mkdir()
            for name in ("qrspi", "git"):
                (programs / name).write_text("#!/bin/sh\n")
                (programs / name).chmod(0o755)
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        subprocess.run(
            ["sh", "-c", script],
            cwd=self.project,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )

    def _keep(self, said: Said) -> Said:
        self.heard.append(said)
        return said

    # what must hold whatever was tried

    def held(self) -> None:
        assert not self.ran.exists(), "a stranger's program ran"
        assert not [said for said in self.heard if SECRET in said.text], "a secret was printed"
        assert [path.name for path in self.outside.iterdir()] == ["private.md"]
        assert (self.outside / "private.md").read_text() == f"{SECRET}\n"
