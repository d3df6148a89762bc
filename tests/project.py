"""A project in git with one run: built with plain git, never through the code under test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path
from typing import Any, Self

from qrspi import engine
from qrspi.core.pipeline import STEP, Subject, subject
from qrspi.engine import Outcome
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Done
from qrspi.handlers.jobs.job import Job, Options
from qrspi.world.runs.workspace import Workspace
from tests import begun, runs

RUN = f"docs/qrspi/{runs.RUN}"


class Project:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.run = root / RUN

    def begin(
        self, files: Mapping[str, bytes], code: Mapping[str, str] | None = None, *, git: bool = True
    ) -> Self:
        """Put the run's files and those of the project; in git, all is committed on `main`."""
        code = code or {}
        made_of = (git, frozenset(files.items()), frozenset(code.items()))
        begun.begin(self.root, made_of, lambda: self._begin(files, code, git))
        return self

    def _begin(self, files: Mapping[str, bytes], code: Mapping[str, str], git: bool) -> None:
        if git:
            init(self.root)
        self.put(files)
        for path, text in code.items():
            (self.root / path).write_text(text)
        if git:
            self.commit("start")

    def git(self, *args: str, at: Path | None = None, env: dict[str, str] | None = None) -> str:
        return self.git_bytes(*args, at=at, env=env).decode().strip()

    def git_bytes(
        self, *args: str, at: Path | None = None, env: dict[str, str] | None = None
    ) -> bytes:
        command = ["git", "-c", "protocol.file.allow=always", "-c", "core.fsync=none", *args]
        done = subprocess.run(
            command, cwd=at or self.root, env=os.environ | (env or {}), capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def commit(self, message: str = "work") -> str:
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def status(self) -> list[str]:
        return self.git_bytes("status", "--porcelain", "-uall").decode().splitlines()

    def subjects(self) -> list[str]:
        return self.git("log", "--format=%s").splitlines()

    def committed(self) -> list[str]:
        """What the last commit changed, run-relative."""
        return sorted(
            self.git("show", "--format=", "--name-only", "--relative", at=self.run).split()
        )

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()

    def hook(self, name: str, script: str) -> None:
        trap(self.root / ".git" / "hooks" / name, script)

    def write(self, path: str, data: str | bytes) -> Path:
        """A file in the run."""
        file = self.run / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def put(self, files: Mapping[str, bytes]) -> None:
        """The rounds among them are as if the engine had opened them."""
        self.run.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            self.write(path, data)
        runs.put_openings_on_record(self.run, files)

    def data(self, path: str) -> bytes:
        return (self.run / path).read_bytes()

    def read(self, path: str) -> str:
        return (self.run / path).read_text()

    def has(self, path: str) -> bool:
        return (self.run / path).exists()

    def lines(self, path: str) -> list[dict[str, Any]]:
        """The entries of a log; none when it is not there."""
        return runs.lines(self.run, path)

    def records(self) -> list[dict[str, Any]]:
        return self.lines("approvals.jsonl")

    def manifest(self, step: str = "design", number: int = 1) -> dict[str, Any]:
        folder = f"{about(step).reviews}/round-{number:02d}"
        found: dict[str, Any] = json.loads(self.data(f"{folder}/.dispatch-manifest.json"))
        return found

    def files(self) -> dict[str, bytes]:
        """Every file of the run but the engine's own."""
        return runs.contents(self.run)

    def status_of(self, step: str) -> bytes:
        return self.data(STEP[step].artifact).split(b"\n")[1]

    def copy(self, name: str) -> Self:
        """The same elsewhere: commits have the same ids there."""
        root = self.root.with_name(f"{self.root.name}-{name}")
        shutil.copytree(self.root, root, symlinks=True)
        twin = copy(self)
        twin.root, twin.run = root, root / self.run.relative_to(self.root)
        return twin

    def keep(self) -> Self:
        """Remember how all of it is now, for `restore`. git's notes of work trees name their
        place, so the project comes back at the same one."""
        shutil.copytree(self.root, self._kept, symlinks=True)
        return self

    def restore(self) -> Self:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root, symlinks=True)
        return copy(self)

    @property
    def _kept(self) -> Path:
        return self.root.with_name(f"{self.root.name}-kept")


class EngineProject(Project):
    """The same with the engine at work in it."""

    def __init__(
        self,
        root: Path,
        files: Mapping[str, bytes],
        code: Mapping[str, str] | None = None,
        *,
        git: bool = True,
    ) -> None:
        super().__init__(root)
        self.options = Options()
        self.begin(files, code, git=git)

    @classmethod
    def brought(cls, root: Path, bring: Callable[[Path], Project]) -> Self:
        """To where `bring` brings it, by which it is known: the way there is gone once."""
        begun.begin(root, bring, lambda: bring(root), place_is_told=True)
        found = cls.__new__(cls)
        Project.__init__(found, root)
        found.options = Options()
        return found

    def workspace(self) -> Workspace:
        return Workspace(self.run)

    def next(self, **options: Any) -> Outcome:
        return engine.advance(self.workspace(), self.options._replace(**options))

    def job(self) -> Job:
        return change_set.look(self.workspace(), self.options)

    def make(self, build: Callable[[Job], ChangeSet]) -> tuple[ChangeSet, Done]:
        return decided(self.workspace(), self.options, build)


def decided(
    workspace: Workspace, options: Options, build: Callable[[Job], ChangeSet]
) -> tuple[ChangeSet, Done]:
    with change_set.deciding(workspace, options, "test") as job:
        change = build(job)
        return change, change_set.carry_out(job, change)


def init(root: Path, *options: str) -> Project:
    """A repository with an empty run, and no commit yet."""
    root.mkdir(parents=True, exist_ok=True)
    project = Project(root)
    project.git("init", "-q", "-b", "main", "--template=", *options)
    project.run.mkdir(parents=True)
    return project


def trap(file: Path, script: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def about(step: str) -> Subject:
    found = subject(step)
    assert found is not None
    return found
