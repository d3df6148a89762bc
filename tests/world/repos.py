"""Real repositories for tests: built with plain git, never through the code under test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

RUN = "docs/qrspi/2026-01-01-sample-run"


class Project:
    """A work tree with one run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.run = root / RUN

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

    def write(self, path: str, data: str | bytes) -> Path:
        """A file in the run."""
        file = self.run / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def commit(self, message: str = "work") -> str:
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def status(self) -> list[str]:
        return self.git_bytes("status", "--porcelain", "-uall").decode().splitlines()

    def hook(self, name: str, script: str) -> None:
        trap(self.root / ".git" / "hooks" / name, script)


def trap(file: Path, script: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def make(root: Path, *options: str) -> Project:
    root.mkdir(parents=True, exist_ok=True)
    project = Project(root)
    project.git("init", "-q", "-b", "main", "--template=", *options)
    project.run.mkdir(parents=True)
    return project
