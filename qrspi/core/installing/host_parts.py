"""What is installed where for each host: its hooks, the MCP server, the skill, a few lines for
agents. Two hosts may share a file; both then need the same content."""

from __future__ import annotations

from qrspi.core.hints import Any, Literal
from qrspi.core.named_tuple import NamedTuple

HostName = Literal["claude-code", "codex", "copilot"]
Level = Literal["project", "user"]
HOSTS: tuple[HostName, ...] = ("claude-code", "codex", "copilot")
SKILL = "skills/qrspi/SKILL.md"

HOOK = "qrspi hook "  # a part of every command of ours in a host's settings
BEGIN, END = "<!-- qrspi:begin -->", "<!-- qrspi:end -->"
FRAGMENT = """\
This project plans and reviews its work in runs of `qrspi`, folders below `docs/qrspi/`. Before you
touch a file there, or when you are asked to plan, build or go on with a feature, use the skill
`qrspi`; `qrspi status` says where each run stands. Never write `status: approved` and never edit
files that only the engine writes: approving is for a person.
"""


class SettingsEntry(NamedTuple):
    """A value in a JSON file: under `key` of the object at `path`, or at the end of an array."""

    path: tuple[str, ...]
    key: str
    value: Any


class Json(NamedTuple):
    entries: tuple[SettingsEntry, ...]
    skeleton: str = "{}\n"  # of a file that is not there yet


class Toml(NamedTuple):
    table: str
    text: str


class Lines(NamedTuple):
    text: str


class Whole(NamedTuple):
    text: str  # of a file that is all ours: its last line says so, with a hash of the rest


Content = Json | Toml | Lines | Whole


class Part(NamedTuple):
    file: str
    content: Content


def command(event: str, host: HostName) -> str:
    """Does nothing where qrspi is not installed, and always exits with 0."""
    return f"! command -v qrspi >/dev/null 2>&1 || {HOOK}{event} --host {host} || :"


# Hooks, server, folder of the skill, lines for agents: below the project, or below the user's home.
_FILES: dict[tuple[HostName, Level], tuple[str, str, str, str]] = {
    ("claude-code", "project"): (".claude/settings.json", ".mcp.json", ".claude", "CLAUDE.md"),
    ("claude-code", "user"): (
        ".claude/settings.json",
        ".claude.json",
        ".claude",
        ".claude/CLAUDE.md",
    ),
    ("codex", "project"): (".codex/hooks.json", ".codex/config.toml", ".agents", "AGENTS.md"),
    ("codex", "user"): (".codex/hooks.json", ".codex/config.toml", ".agents", ".codex/AGENTS.md"),
    ("copilot", "project"): (".github/hooks/qrspi.json", ".mcp.json", ".github", "AGENTS.md"),
    ("copilot", "user"): (
        ".copilot/hooks/qrspi.json",
        ".copilot/mcp-config.json",
        ".copilot",
        ".copilot/copilot-instructions.md",
    ),
}


def parts(host: HostName, level: Level, skill: str) -> tuple[Part, ...]:
    hooks, server, folder, lines = _FILES[host, level]
    return (
        Part(hooks, _hooks(host)),
        Part(server, _server(server)),
        Part(f"{folder}/{SKILL}", Whole(skill)),
        Part(lines, Lines(FRAGMENT)),
    )


def _hooks(host: HostName) -> Content:
    if host == "copilot":
        events = (
            ("preToolUse", "pre-tool"),
            ("agentStop", "stop"),
            ("sessionStart", "session-start"),
        )
        return Json(
            tuple(SettingsEntry(("hooks", name), "", _of_copilot(event)) for name, event in events),
            '{\n  "version": 1\n}\n',
        )
    asks = {"matcher": "Write|Edit|MultiEdit|NotebookEdit|Bash|apply_patch"}
    return Json(
        (
            SettingsEntry(("hooks", "PreToolUse"), "", asks | _handlers("pre-tool", host)),
            SettingsEntry(("hooks", "Stop"), "", _handlers("stop", host)),
            SettingsEntry(("hooks", "SessionStart"), "", _handlers("session-start", host)),
        )
    )


def _handlers(event: str, host: HostName) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command(event, host), "timeout": 10}]}


def _of_copilot(event: str) -> dict[str, Any]:
    return {"type": "command", "bash": command(event, "copilot"), "timeoutSec": 10}


def _server(file: str) -> Content:
    if file.endswith(".toml"):
        text = '[mcp_servers.qrspi]\ncommand = "qrspi"\nargs = ["mcp"]\n'
        return Toml("mcp_servers.qrspi", text)
    value: dict[str, Any] = {"command": "qrspi", "args": ["mcp"]}
    if file.endswith("mcp-config.json"):
        value = {"type": "local", **value, "tools": ["*"]}
    return Json((SettingsEntry(("mcpServers",), "qrspi", value),))


def is_ours(path: tuple[str, ...], value: Any) -> bool:
    """Put into a JSON file by some version of qrspi."""
    if path == ("mcpServers", "qrspi"):
        return True
    line = value.get("command", value.get("bash")) if isinstance(value, dict) else None
    return path[:1] == ("hooks",) and isinstance(line, str) and HOOK in line


TRUST = {
    "claude-code": "Start `claude` here and say yes when it asks about the server of .mcp.json.",
    "codex": "Start `codex` here, trust the folder, and trust the hooks when it asks about them.",
    "copilot": "Start `copilot` here and say yes when it asks whether you trust the folder.",
}
