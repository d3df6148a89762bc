"""Tools that only look: what each answers, and what it says that it does not answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.cli.conftest import Call
from tests.mcp.host import Host, serving, text

RUN = runs.RUN
READING = "status next_step explain brief show_round inbox read_prompt verify spend".split()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run whose goals wait for their reviewers, one that is new, one that cannot be read."""
    root = tmp_path_factory.mktemp("mcp").resolve() / "shop"
    run = scenes.project(root, RUN, "2026-05-18-second-one")
    scenes.advance(run)
    (root / "docs/qrspi/2026-05-19-broken-one").mkdir()
    (root / "docs/qrspi/2026-05-19-broken-one/config.md").write_bytes(b"---\nroute: x\n---\n")
    return root


@pytest.fixture(scope="module")
def host(project: Path) -> Iterator[Host]:
    with serving(project) as host:
        yield host


def contents(project: Path) -> dict[str, str]:
    files = (path for path in project.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.rule("HST-01", "HST-03")
def test_without_options_it_only_reads(host: Host) -> None:
    tools = host.tools()
    assert list(tools) == READING
    hints = {
        name: tool.annotations and tool.annotations.read_only_hint for name, tool in tools.items()
    }
    assert hints == dict.fromkeys(READING, True)


ANSWERS = {
    "status": {},
    "next_step": {"run": RUN},
    "explain": {"run": RUN},
    "brief": {"run": RUN, "chars": 900},
    "show_round": {"run": RUN, "step": "goals", "round": 1},
    "inbox": {},
    "read_prompt": {"run": RUN, "tag": "quality-claude"},
    "verify": {},
    "spend": {"run": RUN},
}
COMMANDS = {
    "status": ("status",),
    "next_step": ("next", RUN, "--dry-run"),
    "explain": ("explain", RUN),
    "brief": ("brief", RUN, "--chars", "900"),
    "show_round": ("show", RUN, "goals", "--round", "1"),
    "inbox": ("inbox",),
    "read_prompt": ("prompt", RUN, "quality-claude"),
    "verify": ("verify",),
    "spend": ("spend", RUN),
}


@pytest.mark.rule("HST-03", "HST-04")
@pytest.mark.parametrize("tool", READING)
def test_a_tool_says_what_its_command_says_and_changes_nothing(
    tool: str, host: Host, project: Path, process: Call
) -> None:
    before = contents(project)
    document = host.document(tool, **ANSWERS[tool])
    assert contents(project) == before
    printed = process(*COMMANDS[tool], "--json", cwd=project)
    assert document == printed.json
    shown = process(*COMMANDS[tool], cwd=project)
    said = text(host.call(tool, **ANSWERS[tool]))
    assert said == (shown.err + shown.out).strip()


@pytest.mark.rule("HST-04")
@pytest.mark.parametrize("tool", READING)
def test_a_tool_publishes_the_schema_of_its_answer(tool: str, host: Host) -> None:
    published = host.tools()[tool].output_schema
    assert published
    assert published["$id"] == host.document(tool, **ANSWERS[tool])["schema"]


REFUSALS = [
    (
        "status",
        {"run": "nope"},
        f"unknown-run: no run 'nope' in {{runs}}: there is {RUN}, 2026-05-18-second-one, "
        "2026-05-19-broken-one",
    ),
    # What a model says is a name, never an option.
    (
        "status",
        {"run": "--all"},
        f"unknown-run: no run '--all' in {{runs}}: there is {RUN}, 2026-05-18-second-one, "
        "2026-05-19-broken-one",
    ),
    (
        "show_round",
        {"run": RUN, "round": 7},
        f"no-round: {RUN} has no round 07 of goals: `qrspi next {RUN}` opens rounds when they are "
        "due",
    ),
    (
        "read_prompt",
        {"run": RUN, "tag": "quality-codex"},
        f"not-awaited: run {RUN} does not wait for 'quality-codex'; it waits for quality-claude, "
        f"scope-claude; did you mean quality-claude?\nway out: qrspi dispatch list {RUN}",
    ),
    (
        "show_round",
        {"round": "two"},
        "usage: show_round cannot be called like this: round: Input should be a valid integer, "
        "unable to parse string as an integer\nway out: call show_round with: run, step, round",
    ),
    (
        "show_round",
        {"rounds": 2, "name": RUN},
        "usage: show_round cannot be called like this: it takes no name, rounds\n"
        "way out: call show_round with: run, step, round",
    ),
    (
        "read_prompt",
        {},
        "usage: read_prompt cannot be called like this: tag: Field required\n"
        "way out: call read_prompt with: tag, run",
    ),
    ("statu", {}, "not-offered: there is no tool 'statu'; did you mean status?"),
]


@pytest.mark.rule("HST-04", "HST-14")
@pytest.mark.parametrize(("tool", "arguments", "said"), REFUSALS)
def test_a_refusal_begins_with_its_code_and_ends_with_the_way_out(
    tool: str, arguments: dict[str, object], said: str, host: Host, project: Path
) -> None:
    assert host.refusal(tool, **arguments) == said.format(runs=project / "docs/qrspi")
