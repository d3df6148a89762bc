"""Laws of an installation: what was put in comes out again, and nobody else's bytes move."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrspi.core.installing import install_plan
from qrspi.core.installing.host_parts import HOSTS, HostName, Level, Part, parts
from qrspi.core.installing.install_plan import Plan, Record
from qrspi.core.model import Problem

SKILL = "---\nname: qrspi\n---\n\nText.\n"
HOSTS_AND_LEVELS = [(host, level) for host in HOSTS for level in ("project", "user")]
SOME = settings(max_examples=max(10, settings().max_examples // 3))  # of each host and level
NAMES = st.sampled_from(["model", "permissions", "hooks", "mcpServers", "ä", 'a"b', "Stop", "x"])
LEAVES = st.one_of(st.text(max_size=8), st.integers(), st.booleans(), st.none(), st.floats(0, 1))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
HANDLER = {"type": "command", "command": "make lint"}
GROUPS = st.lists(st.just({"matcher": "Bash", "hooks": [HANDLER]}), max_size=2)
EVENTS = st.dictionaries(st.sampled_from(["PreToolUse", "Stop", "preToolUse", "Other"]), GROUPS)
SERVERS = st.dictionaries(st.sampled_from(["other", "qrspi2"]), st.just({"command": "x"}))
SETTINGS = st.builds(
    lambda rest, hooks, servers: {**rest, **hooks, **servers},
    st.dictionaries(st.sampled_from(["model", "permissions", "ä", "env"]), VALUES, max_size=3),
    st.one_of(st.just({}), EVENTS.map(lambda one: {"hooks": one})),
    st.one_of(st.just({}), SERVERS.map(lambda one: {"mcpServers": one})),
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """Settings as some person or program has written them down."""
    value = draw(SETTINGS)
    indent = draw(st.sampled_from([None, 2, 4, "\t", 0]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace(": ", " :  ").replace("{}", "{ }").replace("[]", "[\n]")
    text += draw(st.sampled_from(["", "\n", "\n\n", " "]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


TEXTS = st.text(alphabet="ab #<>\n-é", max_size=40).map(lambda text: text.replace("\r", ""))
TOMLS = st.sampled_from(
    [
        "",
        "model = 'x'",
        "# mine\nmodel = 'x'\n\n[mcp_servers.other]\ncommand = 'y' # why\n",
        "[a]\r\nb = 1\r\n",
        "[[hooks]]\nx = 1",
        "\n\n",
    ]
)


def before(part: Part, draw: st.DataObject) -> str | None:
    if "SKILL.md" in part.file:
        return None
    kinds = {"json": written(), "toml": TOMLS, "md": TEXTS}
    kind = part.file.rpartition(".")[2]
    found: str | None = draw.draw(st.one_of(st.none(), kinds[kind]), label=part.file)
    return found


def applied(files: dict[str, str], plan: Plan | Problem) -> tuple[dict[str, str], Record]:
    assert isinstance(plan, Plan)
    after = {**files, **{one.file: one.after for one in plan.changes}}
    return {file: text for file, text in after.items() if text is not None}, plan.record


@pytest.mark.rule("HST-10")
@pytest.mark.parametrize(("host", "level"), HOSTS_AND_LEVELS)
@SOME
@given(data=st.data())
def test_what_was_put_in_comes_out_again(host: HostName, level: Level, data: st.DataObject) -> None:
    mine = parts(host, level, SKILL)
    start = {part.file: text for part in mine if (text := before(part, data)) is not None}
    installed, record = applied(start, install_plan.install(host, mine, {}, start.get))
    assert all(install_plan.is_current(part, installed[part.file]) for part in mine)
    again, same = applied(installed, install_plan.install(host, mine, record, installed.get))
    assert (again, same) == (installed, record)
    kept = install_plan.read_record(install_plan.record_text(record))
    assert kept == record
    assert applied(installed, install_plan.uninstall(host, mine, kept, installed.get)) == (
        start,
        {},
    )


@pytest.mark.rule("HST-10")
@pytest.mark.parametrize(("host", "level"), HOSTS_AND_LEVELS)
@SOME
@given(data=st.data())
def test_nobody_elses_settings_change(host: HostName, level: Level, data: st.DataObject) -> None:
    mine = parts(host, level, SKILL)
    start = {part.file: text for part in mine if (text := before(part, data)) is not None}
    installed, _ = applied(start, install_plan.install(host, mine, {}, start.get))
    for part in mine:
        if part.file in start:
            read = tomllib.loads if part.file.endswith(".toml") else _loads
            assert _within(read(start[part.file]), read(installed[part.file])), part.file


def _loads(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else text


def _within(old: Any, new: Any) -> bool:
    """Everything that was there is there, in the same order."""
    if isinstance(old, dict) and isinstance(new, dict):
        order = [key for key in new if key in old]
        return order == list(old) and all(_within(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return new[: len(old)] == old
    return (
        bool(new.startswith(old)) if isinstance(old, str) and isinstance(new, str) else old == new
    )


@pytest.mark.rule("HST-10")
@pytest.mark.parametrize(("host", "level"), HOSTS_AND_LEVELS)
@SOME
@given(data=st.data())
def test_without_a_record_our_part_is_found_by_itself(
    host: HostName, level: Level, data: st.DataObject
) -> None:
    """As when a host has written its settings anew, in its own layout."""
    mine = parts(host, level, SKILL)
    start = {part.file: text for part in mine if (text := before(part, data)) is not None}
    installed, _ = applied(start, install_plan.install(host, mine, {}, start.get))
    rewritten = {
        file: json.dumps(json.loads(text), indent=3) if text.startswith("{") else text
        for file, text in installed.items()
    }
    left, _ = applied(rewritten, install_plan.uninstall(host, mine, {}, rewritten.get))
    for part in mine:
        text = left.get(part.file)
        assert text is None or install_plan.is_current(part, text) is None
        if text is not None and text.startswith("{"):
            old = json.loads(start.get(part.file, "{}"))
            assert _pruned(json.loads(text)) in (_pruned(old), {"version": 1})


def _pruned(value: Any) -> Any:
    """Without containers of hooks and servers that are empty."""
    found = {**value}
    for name in ("hooks", "mcpServers"):
        inner = {key: one for key, one in found.get(name, {}).items() if one}
        found = {key: one for key, one in found.items() if key != name}
        found |= {name: inner} if inner else {}
    return found


@pytest.mark.rule("HST-18")
@given(data=st.data(), order=st.permutations(HOSTS), back=st.permutations(HOSTS))
def test_what_hosts_share_goes_with_the_last_of_them(
    data: st.DataObject, order: list[HostName], back: list[HostName]
) -> None:
    everything = {host: parts(host, "project", SKILL) for host in HOSTS}
    start: dict[str, str] = {}
    for part in {part.file: part for mine in everything.values() for part in mine}.values():
        text = before(part, data)
        if text is not None:
            start[part.file] = text
    files, record = dict(start), dict[str, Any]()
    for host in order:
        files, record = applied(
            files, install_plan.install(host, everything[host], record, files.get)
        )
    for at, host in enumerate(back):
        plan = install_plan.uninstall(host, everything[host], record, files.get)
        files, record = applied(files, plan)
        for other in back[at + 1 :]:
            assert all(
                install_plan.is_current(part, files[part.file]) for part in everything[other]
            )
    assert (files, record) == (start, {})
