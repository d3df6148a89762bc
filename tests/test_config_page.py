"""docs/config.md explains every field of config.md, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qrspi.core.config import reader
from qrspi.core.config.blocks import Gates, Limits, Validators
from qrspi.core.config.edit import initial
from qrspi.core.config.fields import CHOICES
from qrspi.core.config.vendors import Command, Provider

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "config.md").read_text("utf-8")
FIELDS, BLOCKS = PAGE.split("\n## Blocks\n")


def rows(text: str) -> dict[str, list[str]]:
    """The cells behind each name; a row may have several."""
    found: dict[str, list[str]] = {}
    for line in re.findall(r"^\| `.*", text, re.MULTILINE):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        found |= dict.fromkeys(re.findall(r"`([\w.]+)`", cells[0]), cells[1:])
    return found


@pytest.mark.rule("LIV-28")
def test_every_field_is_explained_and_no_other() -> None:
    assert sorted(rows(FIELDS)) == sorted((*reader.KNOWN, reader.VERSION))
    assert [name for name, cells in rows(PAGE).items() if not all(cells)] == []


@pytest.mark.rule("LIV-28")
def test_every_field_of_a_block_is_explained_and_no_other() -> None:
    blocks = {
        "commands.VENDOR": Command._fields,
        "providers.VENDOR": Provider._fields,
        "budget": (*Limits._fields, "per_step"),
        "gates": Gates._fields,
        "validators": Validators._fields,
    }
    known = [f"{block}.{field}" for block, names in blocks.items() for field in names]
    assert sorted(rows(BLOCKS)) == sorted(known)


@pytest.mark.rule("LIV-28")
@pytest.mark.parametrize("field", CHOICES)
def test_its_values_and_what_init_writes_are_those_of_the_program(field: str) -> None:
    values, by_init = rows(FIELDS)[field][:2]
    assert set(re.findall(r"`(\w+)`", values)) == set(CHOICES[field])
    made = initial("2026-01-05", "quick", second_reviewer=False).decode()
    written = re.search(rf"^{field}: (.*)$", made, re.MULTILINE)
    assert by_init == (f"`{written[1]}`" if written else "-") or by_init == "asked"
