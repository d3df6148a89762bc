"""A session with a real host as text: what the model did, and what it was told.

QRSPI_HOST_PROGRAMS=… python -m tests.hosts.shown_session claude|codex|copilot
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import runs, scenes
from tests.hosts.programs import Host, Session
from tests.hosts.scripted_model import Call, Say, Turn

NAMES = {"claude": "claude-code", "codex": "codex", "copilot": "copilot"}
ROOT = "/home/ada/shop"
RUN = f"docs/qrspi/{runs.RUN}"
FINDING = f"{RUN}/{scenes.ROUND}/{scenes.FINDING}"


def turns(name: str) -> list[Turn]:
    """A model that tries to approve by itself, looks at the plan too early, and then works."""
    tool, key = {"claude": ("Bash", "command"), "codex": ("exec_command", "cmd")}.get(
        name, ("bash", "command")
    )
    commands = [
        f"sed -i 's/status: draft/status: approved/' {RUN}/goals.md",
        f"echo '# Plan' > {RUN}/plan.md",
        f"echo 'not yet a finding' > {FINDING}",
    ]
    more = {} if name == "codex" else {"description": "work"}
    calls = [Call(tool, {key: command, **more}) for command in commands]
    return [*calls, Say("Done."), Say("I was asked to stop here.")]


def shown(session: Session, project: Path) -> str:
    text = "\n".join(_lines(session))
    return text.replace(str(project), ROOT) + "\n"


def _lines(session: Session) -> Iterator[str]:
    longest = max(session.requests, key=lambda one: len(json.dumps(one)))
    for text in _told(longest.get("messages") or longest.get("input") or []):
        yield from text


def _told(messages: list[dict[str, Any]]) -> Iterator[list[str]]:
    for message in messages:
        for part in _parts(message):
            match part:
                case {"type": "tool_use", "input": arguments}:
                    yield [*_wrapped(f"model  $ {arguments['command']}")]
                case {"type": "function_call", "arguments": arguments}:
                    yield [*_wrapped(f"model  $ {json.loads(arguments)['cmd']}")]
                case {"text": str(text)} | {"content": str(text)} | {"output": str(text)}:
                    yield [*_of_ours(text, message.get("role") == "assistant")]


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content", message.get("output"))
    if isinstance(content, list):
        return [part for part in content if isinstance(part, dict)]
    return [message]


def _of_ours(text: str, said: bool) -> Iterator[str]:
    """The words of a hook, and of the model itself; not those of the host."""
    if said:
        yield f"model  {text}"
        return
    found = re.search(r"\[qrspi\] .*?(?=\n\n|</hook_prompt>|\. Command: |\Z)", text, re.DOTALL)
    if found:
        first, *rest = found[0].splitlines()
        yield from _wrapped(f"hook   {first}")
        yield from (one for line in rest for one in _wrapped(f"       {line.strip()}"))


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(
        line, 96, subsequent_indent="         ", break_long_words=False, break_on_hyphens=False
    )


def session(name: str, scratch: Path) -> str:
    project = scratch / "shop"
    scenes.prepared(project)
    host = Host(name, scratch / "home", project)
    host.qrspi("install", NAMES[name], "--yes")
    return shown(host.session(turns(name)), project)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(session(sys.argv[1], Path(folder).resolve()))
