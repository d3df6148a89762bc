"""docs/security.md names the test that tries each attack: each is really there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import attacks
import pytest

from tests.attacks.trial import Who

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


@pytest.mark.rule("SEC-08")
@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_the_named_test_is_there(file: str, name: str) -> None:
    assert f"def {name}(" in (ROOT / file).read_text("utf-8")


@pytest.mark.rule("SEC-08")
def test_every_attack_names_a_test() -> None:
    tables = PAGE.partition("## What they run")[2].partition("## Not defended")[0].splitlines()
    rows = [line for line in tables if line.startswith("| ") and "tried by" not in line]
    assert len(rows) > 20
    assert [row for row in rows if "::test_" not in row] == []


@pytest.mark.rule("SEC-08")
def test_who_can_write_what_and_what_is_trusted_is_said() -> None:
    headings = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert headings == [
        "What is protected",
        "Who can write what",
        "What is trusted",
        "What you have allowed",
        "Attacks, and the tests that make them",
        "What they run up against",
        "Not defended against",
    ]


@pytest.mark.rule("SEC-08")
def test_the_table_of_attacks_is_made_from_the_attacks() -> None:
    assert attacks.renewed(PAGE) == PAGE


@pytest.mark.rule("SEC-08")
def test_every_test_among_the_attacks_is_one_and_they_are_many() -> None:
    modules = attacks.modules()
    unmarked = [
        f"{module.__name__}.{name}"
        for module in modules
        for name, test in vars(module).items()
        if name.startswith("test_")
        if "attack" not in {mark.name for mark in getattr(test, "pytestmark", ())}
    ]
    assert unmarked == []
    assert sum(map(attacks.count, modules)) >= 120
    who = {attack.who for module in modules for _, attack in attacks.attacks(module)}
    assert who == set(get_args(Who))


@pytest.mark.rule("SEC-08")
def test_each_attack_is_made_in_four_ways_or_says_why_not() -> None:
    marks = [mark for module in attacks.modules() for mark in attacks.attacks(module)]
    assert [name for name, attack in marks if len(attack.ways) < 4 and not attack.no_more] == []
    assert [name for name, attack in marks if len(attack.ways) >= 4 and attack.no_more] == []
