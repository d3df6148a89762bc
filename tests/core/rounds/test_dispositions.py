from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from qrspi.core.rounds.dispositions import nothing_applied, problems

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "schemas" / "dispositions-observations.schema.json").read_text("utf-8"))
FILE = "reviews/design/round-01-dispositions.md"
ITEM = """\
observations:
  - summary: "4 clarity findings: all just below the floor"
    defect_class: goal-leakage
    representative_score: 70
    threshold: 80
    finding_paths:
      - round-01/quality-claude.finding-F02.md
      - round-01/quality-codex.finding-F01.md
"""
HEADING = "## Sub-Threshold Observations\n"


def document(yaml: str, fence: str = "```", before: str = "# Done\n\n") -> bytes:
    return f"{before}{HEADING}\n{fence}yaml\n{yaml}{fence}\n".encode()


def said(data: bytes) -> list[str]:
    return [problem.message for problem in problems(data, FILE, 1)]


def fits(yaml: str) -> bool:
    loaded = YAML(typ="safe", pure=True).load(yaml)
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(loaded)


@pytest.mark.rule("DSP-01")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# Round 01\n\n- quality-claude.R1-F01: applied.\n",
        b"line\n" * 30,
        b"line\n" * 30 + b"\n" + document(ITEM, before=""),
        document(ITEM),
        document(ITEM, "~~~~"),
        document("observations: []\n"),
        document(ITEM) + b"\nwords after it\n" * 40,
        document(ITEM).replace(b"\n", b"\r\n"),
        b"```\n## Sub-Threshold Observations\n```\n",
        nothing_applied(1, {}),
    ],
)
def test_proper_dispositions(data: bytes) -> None:
    assert said(data) == []


@pytest.mark.rule("DSP-01")
def test_they_are_short() -> None:
    assert said(b"line\n" * 31) == [f"{FILE}: 31 lines; expected at most 30"]
    assert said(b"line\n" * 31 + document(ITEM, before="\n")) == [
        f"{FILE}: 31 lines before '## Sub-Threshold Observations'; expected at most 30"
    ]


PATHS = "paths such as round-01/quality-claude.finding-F01.md"


@pytest.mark.rule("DSP-01")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("round-01/quality-codex", "../round-01/quality-codex", None),
        ("round-01/quality-codex", "/round-01/quality-codex", None),
        ("round-01/quality-codex", "round-02/quality-codex", None),
        ("round-01/quality-codex", "round-01/../quality-codex", None),
        ("round-01/quality-codex", "reviews/design/round-01/quality-codex", None),
        ("round-01/quality-codex.finding-F01.md", "round-01/", None),
        ("round-01/quality-codex.finding-F01.md", "round-01/..", None),
        (
            "representative_score: 70",
            "representative_score: 7.5",
            "observations[1].representative_score is '7.5'; expected a whole number from 0 to 100",
        ),
        (
            "threshold: 80",
            "threshold: high",
            "observations[1].threshold is 'high'; expected a whole number from 0 to 100",
        ),
        (
            "    defect_class: goal-leakage\n",
            "",
            "observations[1].defect_class is missing or not text; expected one line of text",
        ),
        (
            "finding_paths",
            "paths",
            f"observations[1].finding_paths is missing or not a list; expected a list of {PATHS}",
        ),
        (
            "observations:",
            "observation:",
            "observations is no list; expected a list of observations",
        ),
    ],
)
def test_observations_are_checked(old: str, new: str, message: str | None) -> None:
    yaml = ITEM.replace(old, new)
    if message is None:
        path = yaml.splitlines()[-1].removeprefix("      - ")
        message = f"observations[1].finding_paths is '{path}'; expected {PATHS}"
    assert said(document(yaml)) == [f"{FILE}: {message}"]


@pytest.mark.rule("DSP-01")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            HEADING.encode(),
            "no fenced YAML under '## Sub-Threshold Observations'; "
            "expected a fenced observations: list",
        ),
        (
            document("observations:\n- x\n"),
            "observations[1] is not a mapping; expected summary, defect_class, "
            "representative_score, threshold, finding_paths",
        ),
        (b"\xff", "byte 1 is not UTF-8; expected UTF-8 text"),
    ],
)
def test_what_is_no_list_of_observations(data: bytes, message: str) -> None:
    assert said(data) == [f"{FILE}: {message}"]


@pytest.mark.rule("DSP-01")
def test_broken_yaml_is_one_line_with_its_place() -> None:
    assert said(document("observations: []\nthreshold: 1\nthreshold: 2\n")) == [
        f"{FILE}:8:1: repeated key 'threshold'"
    ]


@pytest.mark.rule("DSP-01")
@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        (ITEM, True),
        ("observations: []\n", True),
        ("{}\n", False),
        (ITEM.replace("round-01/quality-codex", "round-01/../quality-codex"), False),
        (ITEM.replace("threshold: 80", "threshold: 101"), False),
        (ITEM.replace("defect_class", "class"), False),
    ],
)
def test_the_published_schema_says_the_same(yaml: str, expected: bool) -> None:
    assert fits(yaml) is expected
    assert (said(document(yaml)) == []) is expected
