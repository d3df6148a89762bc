"""The plugin in hosts/claude-code is the package's own words, and the skill is short."""

from __future__ import annotations

import json
import re
from typing import get_args

import plugin
import pytest

from qrspi import __version__
from qrspi.cli.verb_table import VERBS
from qrspi.core.model import Action
from qrspi.world.hosts import host_files


@pytest.mark.rule("HST-11", "HST-12")
def test_the_plugin_is_what_the_package_says() -> None:
    there = {
        path.relative_to(plugin.PLUGIN).as_posix(): path.read_text("utf-8")
        for path in plugin.PLUGIN.rglob("*")
        if path.is_file()
    }
    assert there == plugin.files(), "python tools/plugin.py writes it anew"


@pytest.mark.rule("HST-11")
def test_its_versions_are_the_packages() -> None:
    read = {name: json.loads(text) for name, text in plugin.files().items() if "plugin/" in name}
    assert read[".claude-plugin/plugin.json"]["version"] == __version__
    assert read[".claude-plugin/marketplace.json"]["plugins"][0]["version"] == __version__


# What nobody but the engine or a person does; all other actions are an agent's.
NOT_FOR_AGENTS = set(
    "prepare-round assemble commit-round decide approve replan done blocked".split()
)


@pytest.mark.rule("HST-12")
def test_the_skill_is_short_and_has_a_row_for_each_action_of_an_agent() -> None:
    text = host_files.skill()
    assert len(text.splitlines()) < 200
    assert text.startswith("---\nname: qrspi\ndescription: ")
    rows = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))
    wanted = set(get_args(Action)) - NOT_FOR_AGENTS
    assert rows >= wanted, wanted - rows


@pytest.mark.rule("HST-12")
def test_the_commands_in_the_skill_exist() -> None:
    named = set(re.findall(r"(?:`|^    |^       )qrspi ([a-z]+)", host_files.skill(), re.MULTILINE))
    assert named - set(VERBS) == set()
    assert {"init", "next", "approve", "reject", "resolve", "decide", "task"} <= named
