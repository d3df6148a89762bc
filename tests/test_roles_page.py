"""docs/roles.md: its tables are made from the shipped roles and from the trials on record."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import roles_page
from jsonschema import Draft202012Validator

from qrspi.core.agents import roles

SCHEMA = roles_page.ROOT / "schemas" / "roles-trial.schema.json"


def test_the_tables_are_made_from_roles_and_trials() -> None:
    page = roles_page.PAGE.read_text("utf-8")
    assert roles_page.renewed(page) == page, "python tools/roles_page.py rewrites them"


@pytest.mark.parametrize(
    "file", sorted(roles_page.TRIALS.glob("*.json")), ids=lambda path: path.name
)
def test_a_trial_on_record_is_what_the_command_prints(file: Path) -> None:
    document = json.loads(file.read_text("utf-8"))
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(document)
    assert document["model"] and document["date"]


def test_the_texts_of_the_last_trial_are_those_that_are_shipped() -> None:
    home = roles_page.ROOT / "qrspi" / "roles"
    kinds = (roles._PARTS["reviewer"], roles._PARTS["verifier"])
    shared = sorted({name for kind in kinds for name in (*kind.before, kind.writes, kind.prints)})
    files = [*sorted(home.glob("reviewer-*.md")), home / "verifier.md"]
    files += [home / "shared" / f"{name}.md" for name in (*shared, "given-print")]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    assert f"`{digest}`" in roles_page.PAGE.read_text("utf-8"), (
        "a text was changed after its trial: repeat that, or say so on the page"
    )


def test_a_row_for_each_role_that_was_heard() -> None:
    counts = "asked answered unusable faults found missed harmless false elsewhere".split()
    heard = dict(zip(counts, (80, 3, 1, 2, 1, 1, 2, 1, 0), strict=True), role="verifier")
    silent = {**heard, "role": "reviewer-spec", "answered": 0, "unusable": 0}
    table = roles_page.trial_table([{"model": "m", "date": "2026-05-17", "roles": [silent, heard]}])
    assert table == (
        "| role | model | date | answers | faults found | missed | false | elsewhere |\n"
        "|---|---|---|---|---|---|---|---|\n"
        "| `verifier` | m | 2026-05-17 | 3 of 80 | 1 of 2 | 1 | 1 of 2 | 0 |\n"
    )
