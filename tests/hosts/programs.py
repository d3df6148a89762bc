"""The real Claude Code, Codex and Copilot: installed from npm, run without their services."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.hosts.scripted_model import Turn

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "copilot": "@github/copilot",
}
CODEX_CONFIG = """\
model = "test"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "http://127.0.0.1:PORT/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"

[projects."{directory}"]
trust_level = "trusted"
"""


class Session(NamedTuple):
    """What one headless session did."""

    status: int
    stdout: str
    stderr: str
    requests: list[dict[str, Any]]

    def read(self) -> str:
        """All that the model was given to read in the end."""
        longest = max(self.requests, key=lambda one: len(json.dumps(one)), default={})
        return json.dumps(longest.get("messages") or longest.get("input") or [])


@cache
def folder() -> Path:
    """Where the programs are: what QRSPI_HOST_PROGRAMS names, or a fresh `npm install`."""
    known = os.environ.get("QRSPI_HOST_PROGRAMS")
    if known:
        return Path(known)
    place = ROOT / ".hosts"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "node_modules" / ".bin" / "claude").exists():
            _install(place)
    return place / "node_modules" / ".bin"


def _install(place: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, and the host programs come from it")
    (place / "package.json").write_text('{"private": true}\n')
    command = ["npm", "install", "--no-audit", "--no-fund", *PACKAGES.values()]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"npm has no host programs here: {done.stderr.strip().splitlines()[-1]}")
    # npm may be told to run no scripts of packages; this one fetches nothing.
    script = place / "node_modules" / PACKAGES["claude"] / "install.cjs"
    subprocess.run(["node", script], check=True, capture_output=True)


def program(name: str) -> Path:
    found = folder() / name
    if not found.exists():
        pytest.skip(f"npm gave no {name}")
    return found


class Host:
    """A scratch home and a project that one program is used in."""

    def __init__(self, name: str, home: Path, project: Path) -> None:
        self.name, self.home, self.project = name, home, project
        self.without_qrspi = False
        home.mkdir(parents=True, exist_ok=True)
        if name == "codex":
            (home / ".codex").mkdir(exist_ok=True)
            (home / ".codex" / "config.toml").write_text(CODEX_CONFIG.format(directory=project))
        if name == "copilot":
            trusted = {"trusted_folders": [str(project)]}
            (home / ".copilot").mkdir(exist_ok=True)
            (home / ".copilot" / "config.json").write_text(json.dumps(trusted))

    @property
    def environment(self) -> dict[str, str]:
        ours = [] if self.without_qrspi else [str(Path(sys.executable).parent)]
        path = [*ours, str(folder()), *_system_path()]
        common = {"HOME": str(self.home), "PATH": os.pathsep.join(path), "LANG": "C.UTF-8"}
        return common | _ENVIRONMENTS[self.name]

    def qrspi(self, *words: str) -> None:
        subprocess.run(
            [Path(sys.executable).with_name("qrspi"), *words],
            cwd=self.project,
            env=self.environment,
            check=True,
            capture_output=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of the program that needs no model, such as `mcp list`."""
        return subprocess.run(
            ["unshare", "-n", program(self.name), *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def session(self, turns: Sequence[Turn], text: str = "Go on.") -> Session:
        argv, stdin = _headless(self.name, text)
        files = {}
        if self.name == "codex":
            config = self.home / ".codex" / "config.toml"
            address = re.sub(r"127\.0\.0\.1:\w+", "127.0.0.1:PORT", config.read_text())
            files = {str(config): address}
        spec = {
            "turns": [list(turn) for turn in turns],
            "argv": [str(program(self.name)), *argv],
            "stdin": stdin,
            "directory": str(self.project),
            "environment": self.environment,
            "files": files,
        }
        done = subprocess.run(
            ["unshare", "-n", sys.executable, "-m", "tests.hosts.drive"],
            cwd=ROOT,
            input=json.dumps(spec),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return Session(**json.loads(done.stdout))


def _system_path() -> list[str]:
    """Without another qrspi that may be there."""
    places = os.environ["PATH"].split(os.pathsep)
    return [place for place in places if place and not (Path(place) / "qrspi").exists()]


_ENVIRONMENTS: Mapping[str, dict[str, str]] = {
    "claude": {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:PORT",
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    },
    "codex": {"LOCAL_KEY": "dummy"},
    "copilot": {
        "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:PORT",
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "test",
        "COPILOT_OFFLINE": "true",
    },
}


def _headless(name: str, text: str) -> tuple[list[str], str]:
    match name:
        case "claude":
            tools = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,Edit,Read"]
            return ["-p", text, "--output-format", "json", *tools], ""
        case "codex":
            words = ["exec", "--json", "--skip-git-repo-check"]
            trust = [
                "--dangerously-bypass-hook-trust",
                "--dangerously-bypass-approvals-and-sandbox",
            ]
            return [*words, *trust, "-"], text
        case _:
            return ["-p", text, "-s", "--allow-all-tools"], ""
