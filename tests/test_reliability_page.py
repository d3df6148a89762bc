"""docs/reliability.md says what can be run: each is there, and does as much as is said."""

from __future__ import annotations

import re
from pathlib import Path

import mutants

from tests.fuzz.kinds import KINDS

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")


def test_every_command_is_a_target_of_make() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = set(re.findall(r"`(?:QRSPI_\w+=\S+ )*make ([a-z]+)`", PAGE))
    assert {"fuzz", "soak", "mutants", "faults"} <= named <= set(targets)


def test_every_kind_of_fuzz_has_its_row_with_its_usual_count() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| ([\d,]+) \|", PAGE, re.MULTILINE))
    assert {name: int(rows[name].replace(",", "")) for name in KINDS} == {
        name: fuzz.count for name, fuzz in KINDS.items()
    }


def test_every_module_that_is_changed_has_its_row() -> None:
    named = re.findall(r"^\| `core\.([a-z_.]+)` \|", PAGE, re.MULTILINE)
    assert named == list(mutants.TESTS)


def test_every_fixture_that_came_of_a_find_is_there() -> None:
    named = re.findall(r"`(fixtures/[\w./-]+)`", PAGE)
    assert named and all((ROOT / path).exists() for path in named)
