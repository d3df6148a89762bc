from __future__ import annotations

import re
import subprocess
import sys

import pytest
import rules

LISTED = rules.listed(rules.LISTING.read_text("utf-8"))


def test_every_id_that_the_suite_names_is_in_the_contract() -> None:
    assert rules.unknown(rules.named_by(rules.TESTS), LISTED) == []


def test_the_listing_has_each_id_once() -> None:
    ids = [rule for group in LISTED.values() for rule in group]
    assert len(ids) == len(set(ids)) == 445
    assert [rule for rule in ids if not re.fullmatch(r"[A-Z]{2,4}-\d\d", rule)] == []


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("@pytest.mark.rule('FM-01')\ndef test_x(): ...", ["FM-01"]),
        ("@pytest.mark.rule('FM-01', 'FM-02')\nclass TestX: ...", ["FM-01", "FM-02"]),
        ("pytestmark = [pytest.mark.rule('FM-01')]", ["FM-01"]),
        ("rows = [pytest.param(1, marks=pytest.mark.rule('FM-01'))]", ["FM-01"]),
        ("def test_FM_01_and_ST_02(): ...", ["FM-01", "ST-02"]),
        ("@pytest.mark.rule(RULE)\ndef test_x(): ...", [""]),
        ("def test_run_02(): ...", []),
        ("def test_FM_011(): ...", []),
        ("@pytest.mark.slow\ndef test_x():\n    'FM-01'", []),
    ],
)
def test_ids_are_read_from_marks_and_names(source: str, named: list[str]) -> None:
    assert [one.rule for one in rules.named_in(source, "test_x.py")] == named


def test_the_report_is_grouped_and_counted() -> None:
    groups = {"01-run.md": ("FM-01", "FM-02"), "02-config.md": ("CFG-01",)}
    named = [
        rules.Named("FM-01", "tests/test_x.py:3"),
        rules.Named("CFG-01", "tests/test_x.py:4"),
        rules.Named("FM-99", "tests/test_x.py:5"),
        rules.Named("", "tests/test_x.py:6"),
    ]
    assert list(rules.report(named, groups)) == [
        "tests/test_x.py:5: FM-99 is not in the contract",
        "tests/test_x.py:6: the id is not a literal",
        "01-run.md: 1 of 2 proven; no test names FM-02",
        "02-config.md: 1 of 1 proven",
        "2 of 3 rules are named by a test",
    ]


def test_strict_refuses_a_file_that_the_contract_does_not_have() -> None:
    script = rules.ROOT / "tools" / "rules.py"
    done = subprocess.run(
        [sys.executable, script, "--strict", "99-none"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "rules.py: error: no such contract file: 99-none.md (known: " + ", ".join(LISTED) + ")"
    )


GROUPS = {"01-run.md": ("FM-01", "FM-02"), "02-config.md": ("CFG-01",)}


@pytest.mark.parametrize(
    ("named", "wanted", "fails"),
    [
        (["CFG-01"], ["02-config.md"], False),
        (["CFG-01"], [], False),
        (["FM-01", "CFG-01"], ["01-run.md"], True),
        (["FM-01", "CFG-01"], ["02-config.md", "01-run.md"], True),
        (["FM-01", "FM-02"], ["01-run.md"], False),
        (["CFG-01", "FM-99"], [], True),
        (["CFG-01", ""], ["02-config.md"], True),
    ],
)
def test_strict_fails_exactly_when_a_rule_of_that_file_has_no_test(
    named: list[str], wanted: list[str], fails: bool
) -> None:
    found = [rules.Named(rule, "tests/test_x.py:3") for rule in named]
    assert rules.fails(found, GROUPS, wanted) is fails


def test_the_command_ends_as_the_suite_stands(capsys: pytest.CaptureFixture[str]) -> None:
    named = rules.named_by(rules.TESTS)
    assert rules.main(["--strict", *LISTED]) == int(rules.fails(named, LISTED, list(LISTED)))
    assert capsys.readouterr().out.splitlines() == list(rules.report(named, LISTED))
