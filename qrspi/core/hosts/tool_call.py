"""What a host says before it calls a tool, as one record for all hosts. A Copilot that runs Claude
Code's hooks uses Claude Code's names around its own arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qrspi.core.hosts.written_files import Replaced, Text, Write, absolute
from qrspi.core.named_tuple import NamedTuple


class ToolCall(NamedTuple):
    cwd: str
    command: str = ""  # of a shell
    writes: tuple[Write, ...] = ()  # of a tool that names its file itself


_PATHS = ("file_path", "path", "notebook_path", "filename")
_TEXTS = ("content", "file_text")
_PATCHES = ("apply_patch", "applypatch")
_READERS = ("read", "view", "glob", "grep", "ls", "rg", "show_file", "notebookread")


def read(payload: Mapping[str, Any]) -> ToolCall:
    name = str(payload.get("tool_name") or payload.get("toolName") or "").lower()
    given = payload.get("tool_input", payload.get("toolArgs"))
    if isinstance(given, str):
        given = _decoded(given)
    cwd = str(payload.get("cwd") or "/")
    if name in _READERS or not isinstance(given, dict):
        return ToolCall(cwd)
    command = given.get("command", given.get("cmd"))
    if name in _PATCHES:
        patch = command or given.get("input") or given.get("patch")
        return ToolCall(cwd, f"apply_patch <<'{_END}'\n{_joined(patch)}\n{_END}\n")
    if command:
        return ToolCall(cwd, _joined(command))
    return ToolCall(cwd, writes=_named(given, cwd))


_END = "END-OF-THE-PATCH"


def _decoded(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return {"input": text}  # a patch as it is


def _joined(command: object) -> str:
    """A list of words is what a shell is started with: `["bash", "-lc", "…"]`."""
    if isinstance(command, list):
        return " ".join(_quoted(str(word)) for word in command)
    return str(command or "")


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _named(given: Mapping[str, Any], cwd: str) -> tuple[Write, ...]:
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
    if not path:
        return ()
    target = absolute(path, cwd)
    text = next((given[key] for key in _TEXTS if isinstance(given.get(key), str)), None)
    if text is not None:
        return (Write(target, Text(text)),)
    edits = given.get("edits")
    parts = edits if isinstance(edits, list) else [given]
    return tuple(Write(target, _replaced(part)) for part in parts if isinstance(part, dict))


def _replaced(part: Mapping[str, Any]) -> Replaced:
    old = str(part.get("old_string", part.get("old_str", "")))
    new = str(part.get("new_string", part.get("new_str", part.get("new_source", ""))))
    return Replaced(old, new, bool(part.get("replace_all")))
