"""`qrspi install` and `uninstall`: files of hosts, there and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from qrspi.core.installing.file_edit import stamped
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal
from tests.cli.test_schemas import schema

HOSTS = ("claude-code", "codex", "copilot")
FILES = {
    "claude-code": {
        ".claude/settings.json",
        ".mcp.json",
        ".claude/skills/qrspi/SKILL.md",
        "CLAUDE.md",
    },
    "codex": {
        ".codex/hooks.json",
        ".codex/config.toml",
        ".agents/skills/qrspi/SKILL.md",
        "AGENTS.md",
    },
    "copilot": {
        ".github/hooks/qrspi.json",
        ".mcp.json",
        ".github/skills/qrspi/SKILL.md",
        "AGENTS.md",
    },
}
SETTINGS = (
    '{\r\n\t"model" : "opus",\r\n\t"hooks": {"Stop": [ {"hooks": []} ], "Other": []},\r\n'
    '\t"zebra": 1, "apple": [1,2]\r\n}'
)
BEFORE = {
    ".claude/settings.json": SETTINGS,
    ".codex/hooks.json": '{"hooks":{}}',
    ".codex/config.toml": "# mine\r\nmodel = 'x'   # why\r\n\r\n[mcp_servers.other]\r\n"
    "command = 'y'",
    ".mcp.json": '{"mcpServers": {"other": {"command": "x"}}}\n\n',
    "CLAUDE.md": "# Ours\n\nUse tabs.",
    "AGENTS.md": "",
    "README.md": "status: approved\n",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path.resolve() / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def quoting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The differences quote the skill, whose commands are for a run that is not there yet."""
    monkeypatch.setenv("QRSPI_PRINTED", "off")


def contents(place: Path) -> dict[str, str]:
    return {
        path.relative_to(place).as_posix(): path.read_bytes().decode()
        for path in sorted(place.rglob("*"))
        if path.is_file() and ".qrspi" not in path.parts
    }


def put(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())


@pytest.mark.rule("HST-02", "HST-10")
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.usefixtures("quoting")
@pytest.mark.parametrize("before", [{}, BEFORE], ids=["nothing-there", "files-there"])
def test_there_and_back(host: str, before: dict[str, str], qrspi: Call, project: Path) -> None:
    put(project, before)
    start = contents(project)
    done = qrspi("install", host, "--yes", "--json")
    assert (done.code, done.err) == (0, "")
    Draft202012Validator(schema("install")).validate(done.json)
    assert {one["file"] for one in done.json["files"]} == FILES[host]
    assert set(contents(project)) == {*start, *FILES[host]}
    installed = contents(project)
    again = qrspi("install", host, "--yes", "--json").json
    assert {one["change"] for one in again["files"]} == {"unchanged"}
    assert contents(project) == installed
    back = qrspi("uninstall", host, "--yes", "--json")
    Draft202012Validator(schema("uninstall")).validate(back.json)
    assert contents(project) == start
    assert not (project / "docs/qrspi/.qrspi/install.json").exists()


@pytest.mark.rule("HST-10")
@pytest.mark.parametrize("host", HOSTS)
def test_for_all_projects_of_a_user(host: str, qrspi: Call, home: Path, project: Path) -> None:
    put(home, {".codex/config.toml": "model = 'x'\n", ".claude.json": '{"numStartups": 3}'})
    start = contents(home)
    done = qrspi("install", host, "--user", "--yes")
    assert done.code == 0, done.err
    assert len(contents(home)) >= len(start) + 3
    assert contents(project) == {}
    assert (home / ".config/qrspi/install.json").exists()
    qrspi("uninstall", host, "--user", "--yes")
    assert contents(home) == start


@pytest.mark.rule("HST-18")
def test_what_two_hosts_share_goes_with_the_last(qrspi: Call, project: Path) -> None:
    put(project, BEFORE)
    start = contents(project)
    for host in HOSTS:
        assert qrspi("install", host, "--yes").code == 0
    record = json.loads((project / "docs/qrspi/.qrspi/install.json").read_text())
    assert record["files"][".mcp.json"]["hosts"] == ["claude-code", "copilot"]
    assert record["files"]["AGENTS.md"]["hosts"] == ["codex", "copilot"]
    qrspi("uninstall", "claude-code", "--yes")
    left = contents(project)
    assert left[".claude/settings.json"] == SETTINGS
    assert '"qrspi"' in left[".mcp.json"]
    qrspi("uninstall", "codex", "--yes")
    assert "qrspi:begin" in contents(project)["AGENTS.md"]
    qrspi("uninstall", "copilot", "--yes")
    assert contents(project) == start


@pytest.mark.rule("HST-10")
def test_what_others_changed_meanwhile_stays(qrspi: Call, project: Path) -> None:
    put(project, BEFORE)
    qrspi("install", "claude-code", "--yes")
    file = project / ".claude/settings.json"
    document = json.loads(file.read_text())
    document["model"] = "haiku"
    document["hooks"]["PreToolUse"].append({"hooks": [{"type": "command", "command": "lint"}]})
    file.write_text(json.dumps(document, indent=4))
    (project / "CLAUDE.md").write_text((project / "CLAUDE.md").read_text() + "\nMore.\n")
    qrspi("uninstall", "claude-code", "--yes")
    assert json.loads(file.read_text()) == {
        "model": "haiku",
        "hooks": {
            "Stop": [{"hooks": []}],
            "Other": [],
            "PreToolUse": [{"hooks": [{"type": "command", "command": "lint"}]}],
        },
        "zebra": 1,
        "apple": [1, 2],
    }
    assert (project / "CLAUDE.md").read_text() == "# Ours\n\nUse tabs.\nMore.\n"


BROKEN = {
    ".claude/settings.json": ("{'model': 1}", "it is not JSON: Expecting property name"),
    ".mcp.json": ('{"mcpServers": []}', "mcpServers is not an object"),
}


@pytest.mark.rule("HST-18")
@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_the_host_cannot_read_is_refused_and_untouched(
    name: str, qrspi: Call, project: Path
) -> None:
    text, why = BROKEN[name]
    put(project, {name: text})
    done = qrspi("install", "claude-code", "--yes")
    assert done.code == 3
    assert done.err.startswith(f"{name} is left as it is, and so is everything else: {why}")
    assert contents(project) == {name: text}


@pytest.mark.rule("HST-18")
@pytest.mark.parametrize(
    "text",
    ["// mine\n{}", '{"a": 1,}', "", "[]", "\ufeff{}", "{" * 100_000],
    ids=["comment", "comma", "empty", "list", "bom", "deep"],
)
def test_no_json_is_repaired(text: str, qrspi: Call, project: Path) -> None:
    put(project, {".claude/settings.json": text})
    assert qrspi("install", "claude-code", "--yes").code == 3
    assert contents(project) == {".claude/settings.json": text}


def test_no_toml_is_repaired(qrspi: Call, project: Path) -> None:
    for text in ("[a\n", "mcp_servers = {other = {command = 'x'}}\n"):
        put(project, {".codex/config.toml": text})
        assert qrspi("install", "codex", "--yes").code == 3
        assert contents(project) == {".codex/config.toml": text}


@pytest.mark.rule("HST-10")
def test_links_and_files_that_nobody_may_write_are_left_alone(qrspi: Call, project: Path) -> None:
    elsewhere = project.parent / "dotfiles.json"
    elsewhere.write_text("{}")
    (project / ".mcp.json").symlink_to(elsewhere)
    done = qrspi("install", "claude-code", "--yes")
    assert (done.code, done.err) == (
        3,
        ".mcp.json is left as it is, and so is everything else: it is a link or lies below one, "
        "and nothing is written there\n",
    )
    assert elsewhere.read_text() == "{}"
    (project / ".mcp.json").unlink()
    (project / "CLAUDE.md").write_text("Ours.\n")
    (project / "CLAUDE.md").chmod(0o444)
    done = qrspi("install", "claude-code", "--yes")
    assert (done.code, done.err) == (
        4,
        "CLAUDE.md is left as it is, and so is everything else: nobody may write it\n",
    )
    assert contents(project) == {"CLAUDE.md": "Ours.\n"}


def test_modes_stay(qrspi: Call, project: Path) -> None:
    put(project, BEFORE)
    (project / ".claude/settings.json").chmod(0o600)
    qrspi("install", "claude-code", "--yes")
    assert (project / ".claude/settings.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.rule("HST-10")
@pytest.mark.usefixtures("quoting")
def test_a_dry_run_shows_the_differences_and_changes_nothing(qrspi: Call, project: Path) -> None:
    put(project, {"AGENTS.md": "Ours.\n"})
    done = qrspi("install", "codex", "--dry-run")
    assert contents(project) == {"AGENTS.md": "Ours.\n"}
    lines = done.out.splitlines()
    assert lines[:4] == ["--- /dev/null", "+++ .codex/hooks.json", "@@ -0,0 +1,38 @@", "+{"]
    assert lines[-7:] == [
        f"Would install: codex, in {project}.",
        "  .codex/hooks.json: would be created",
        "  .codex/config.toml: would be created",
        "  .agents/skills/qrspi/SKILL.md: would be created",
        "  AGENTS.md: would be changed",
        "",
        "Nothing was trusted for you. Start `codex` here, trust the folder, and trust the hooks "
        "when it asks about them.",
    ]


@pytest.mark.rule("HST-10")
def test_without_a_terminal_nothing_is_written_unasked(qrspi: Call, project: Path) -> None:
    done = qrspi("install", "codex")
    assert (done.code, contents(project)) == (3, {})
    assert done.err == (
        "install changes files of codex: without a terminal to ask at, that needs --yes\n"
        "  qrspi install codex --dry-run\n"
    )
    assert qrspi("uninstall", "codex").out == (
        f"codex: not installed in {project}; nothing was changed.\n"
    )


def said_by_doctor(qrspi: Call) -> list[tuple[str, str]]:
    found = qrspi("doctor", "--json").json["findings"]
    return [(one["level"], one["message"]) for one in found if one["about"] == "hosts"]


@pytest.mark.rule("HST-10", "HST-18")
def test_doctor_says_what_is_installed_out_of_date_off_and_run_twice(
    qrspi: Call, project: Path
) -> None:
    assert said_by_doctor(qrspi) == []
    qrspi("install", "claude-code", "--yes")
    assert said_by_doctor(qrspi) == [("ok", "claude-code: installed in this project")]
    file = project / ".claude/settings.json"
    file.write_text(file.read_text().replace("hook stop", "hook halt"))
    (project / ".mcp.json").unlink()
    assert said_by_doctor(qrspi) == [
        (
            "note",
            "claude-code: installed in this project, and out of date: .claude/settings.json, "
            ".mcp.json",
        )
    ]
    qrspi("install", "claude-code", "--yes")
    settings = {"disableAllHooks": True, "disabledMcpjsonServers": ["qrspi"]}
    settings["enabledPlugins"] = {"qrspi@qrspi": True}
    (project / ".claude/settings.local.json").write_text(json.dumps(settings))
    qrspi("install", "copilot", "--yes")
    qrspi("install", "codex", "--yes")
    qrspi("install", "codex", "--yes", "--user")
    local = ".claude/settings.local.json"
    assert said_by_doctor(qrspi) == [
        ("ok", "claude-code: installed in this project"),
        ("ok", "codex: installed in this project"),
        ("ok", "copilot: installed in this project"),
        ("ok", "codex: installed in your home"),
        ("note", f"claude-code: hooks are switched off by disableAllHooks in {local}"),
        (
            "note",
            f"claude-code: the MCP server is switched off by disabledMcpjsonServers in {local}",
        ),
        ("note", "codex: its hooks run twice, from this project and from your home"),
        (
            "note",
            "copilot: its hooks run twice, as it runs those of .claude/settings.json too; both "
            "give the same answer",
        ),
        ("note", f"claude-code: its hooks run twice, as {local} has the plugin qrspi@qrspi too"),
    ]


@pytest.mark.rule("HST-10")
def test_an_older_skill_is_replaced_and_a_changed_one_is_not(qrspi: Call, project: Path) -> None:
    file = project / ".agents/skills/qrspi/SKILL.md"
    put(project, {".agents/skills/qrspi/SKILL.md": stamped("an older text\n")})
    assert qrspi("install", "codex", "--yes").code == 0
    assert "an older text" not in file.read_text()
    file.write_text(file.read_text() + "mine\n")
    done = qrspi("install", "codex", "--yes")
    assert done.code == 3
    assert "it was changed by hand" in done.err
    qrspi("uninstall", "codex", "--yes")
    assert file.read_text().endswith("mine\n")


@pytest.mark.rule("HST-10")
def test_at_a_terminal_the_differences_are_shown_and_a_question_is_asked(project: Path) -> None:
    with Terminal("install", "codex") as terminal:
        screen = terminal.until("Write this? (y/n)")
        terminal.type("n\n")
        terminal.until("you said no, nothing was changed")
    assert "+++ .codex/hooks.json" in screen
    assert contents(project) == {}
    with Terminal("install", "codex") as terminal:
        terminal.until("Write this? (y/n)")
        terminal.type("y\n")
        terminal.until("Installed: codex, in")
    assert set(contents(project)) == FILES["codex"]
