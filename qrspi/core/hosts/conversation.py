"""Which runs a conversation is about, from the transcript that a host keeps of it. Messages and
tool calls count, but no answers of tools and hooks: our own hook prints a list of all runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from qrspi.core.filenames import slug_of
from qrspi.core.hosts.answers import OURS


def runs_named(lines: Iterable[bytes], runs: Iterable[str]) -> tuple[str, ...]:
    """The runs that are named by their folder. A slug counts only in a qrspi command."""
    wanted = {run: _pattern(run) for run in runs}
    quick = re.compile("|".join(re.escape(slug_of(run)) for run in wanted).encode())
    found: set[str] = set()
    for line in lines if wanted else ():
        if quick.search(line):
            texts = [text for text in _said(_document(line)) if OURS not in text]
            found |= {run for run, name in wanted.items() if any(map(name.search, texts))}
    return tuple(run for run in wanted if run in found)


def _pattern(run: str) -> re.Pattern[str]:
    name, slug = re.escape(run), re.escape(slug_of(run))
    return re.compile(rf"(?<![\w-]){name}(?![\w-])|qrspi [^\n`]*(?<![\w-]){slug}(?![\w-])")


def _document(line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _said(entry: Mapping[str, Any]) -> Iterator[str]:
    match entry:
        case {"type": "user" | "assistant", "message": {"content": content}}:  # Claude Code
            if not entry.get("isMeta"):
                yield from _blocks(content)
        case {"type": "response_item", "payload": dict(item)}:  # Codex
            if item.get("role") in ("user", "assistant"):
                yield from _blocks(item.get("content"))
            elif str(item.get("type")).endswith("_call"):
                yield from _texts([item.get("arguments"), item.get("input"), item.get("action")])
        case {"type": "user.message" | "assistant.message", "data": dict(data)}:  # Copilot
            yield from _texts([data.get("content"), data.get("toolRequests")])


def _blocks(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") != "tool_result":
            yield from _texts(block)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
