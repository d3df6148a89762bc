"""Commands as processes that can be killed: their start, and how they ended."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pkgutil
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import qrspi
from tests import scenes

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
LOOK = 0.001  # seconds between two looks at what is left of a group
GROUPS = ("checkpoint", "quality", "task")  # of commands
Words = tuple[str, ...]


class Command(NamedTuple):
    """What a person types, or what a script does."""

    words: Words
    project: Path
    env: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        return " ".join(self.words[: 2 if self.words[0] in GROUPS else 1])

    def begin(self) -> Process:
        return Process(start(self.words, self.project, self.env), self)

    def told(self) -> str:
        """What the last one said that was started."""
        return said(self.project).read_text("utf-8", "replace")


class Process(NamedTuple):
    pid: int
    command: Command

    def kill(self, whole_group: bool) -> bool:
        """Whether it was still alive."""
        return killed(self.pid, whole_group)

    def finish(self) -> int:
        return ended(self.pid)


def start(
    words: Words, project: Path, env: Mapping[str, str] = {}, output: int | None = None
) -> int:
    """A command as a process of its own, at the head of its own group. It is forked from here,
    where everything is imported already, so that a kill meets it at work and not on its way."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.update(env)
    nowhere = os.open(os.devnull, os.O_RDWR)
    told = os.open(said(project), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, target in enumerate((nowhere, nowhere if output is None else output, told)):
        os.dup2(target, stream)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    from qrspi.cli import main

    try:
        main(["--root", str(project), "-v", *words])
    except SystemExit as stop:
        os._exit(stop.code if isinstance(stop.code, int) else 1)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def said(project: Path) -> Path:
    return project.with_name("told")


def killed(pid: int, whole_group: bool) -> bool:
    with suppress(ProcessLookupError):
        (os.killpg if whole_group else os.kill)(pid, signal.SIGKILL)
    return ended(pid) == -signal.SIGKILL


def ended(pid: int) -> int:
    """How it ended, once everything it started has ended too."""
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(ChildProcessError):
        # Whoever leaves the group meanwhile, for a session of its own, wakes nobody up.
        while True:
            if os.waitpid(-pid, os.WNOHANG)[0] == 0:
                time.sleep(LOOK)
    return status


def unlock(project: Path) -> None:
    """What a person does whose git was killed, and what git itself tells to do."""
    for lock in list((project / ".git").rglob("*.lock")):
        lock.unlink()
    if (project / ".git/MERGE_HEAD").exists():
        scenes.git(project, "merge", "--abort")


def adopt_orphans() -> None:
    """A git that outlives the command that started it becomes ours to wait for."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def import_everything() -> None:
    """Once and here, for all that are forked."""
    for module in pkgutil.walk_packages(qrspi.__path__, "qrspi."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()  # what is collected would be copied


def settings() -> None:
    """The same for everybody who runs it."""
    os.environ |= {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "QRSPI_TRUST": "/",
        "XDG_CONFIG_HOME": "/nonexistent",
    }
    for role in ("AUTHOR", "COMMITTER"):
        os.environ[f"GIT_{role}_NAME"] = "Ada Example"
        os.environ[f"GIT_{role}_EMAIL"] = "ada@example.org"
