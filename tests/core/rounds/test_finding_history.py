"""What a later round is told of the findings before it."""

from __future__ import annotations

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.pipeline import subject_of
from qrspi.core.rounds import finding_history, pause_file
from qrspi.core.rounds import loop as loops
from tests.runs import artifact, clean, config, finding, manifest, score, tree

FIRST = "reviews/goals/round-01"
SECOND = "reviews/goals/round-02"
TEXT = artifact("draft", "# Goals\n\n## Why\n\nOne way.\n")


def files() -> dict[str, bytes]:
    found = {
        f"{FIRST}/quality-claude.finding-F01.md": finding(cites="goals.md:L7"),
        f"{FIRST}/quality-claude.finding-F01.score.yml": score(90),
        f"{FIRST}/quality-claude.finding-F02.md": finding(number=2, cites="goals.md:L7"),
        f"{FIRST}/quality-claude.finding-F02.score.yml": score(10),
        f"{FIRST}/scope-claude.finding-F01.md": finding("scope-claude", kind="scope"),
        f"{FIRST}/.dispatch-manifest.json": manifest(round=1, body=TEXT),
        f"{FIRST}-dispositions.md": b"Fixed.\n",
        f"{SECOND}/.dispatch-manifest.json": manifest(round=2, body=TEXT),
        f"{SECOND}/scope-claude.clean.md": clean("scope-claude", 2),
    }
    return {"config.md": config(), "goals.md": TEXT} | found


@pytest.mark.rule("LIV-19")
def test_there_is_a_line_for_each_earlier_finding_with_its_fate() -> None:
    there = files()
    settings = configs.read(there["config.md"])
    first = loops.at(tree(there), subject_of("goals"), settings, 1)
    data = pause_file.render("goals", 1, first.triaged)
    there["reviews/goals-loop-pause-round-01.md"] = data.replace(b"pending", b"skip")
    loop = loops.evaluate(tree(there), subject_of("goals"), settings)
    lines = finding_history.fates(tree(there), loop, settings, 0)
    assert [line.partition(": ")[0] for line in lines] == [
        "quality-claude.R1-F01 (it cites goals.md:L7, as round 1 read it)",
        "quality-claude.R1-F02 (it cites goals.md:L7, as round 1 read it)",
        "scope-claude.R1-F01 (it cites goals.md:L7, as round 1 read it)",
    ]
    message = " ".join(first.triaged[0].finding.message.split())
    assert [line.partition(": ")[2] for line in lines] == [
        f"kept, see {FIRST}-dispositions.md: {message}",
        f"dropped by the verifier: {message}",
        f"skipped: {message}",
    ]
    assert finding_history.fates(tree(there), loop, settings, 1) == ()


@pytest.mark.rule("LIV-19")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "quality-claude.R1-F01: applied. Why is one way.",
            ' (its fixer: "applied. Why is one way.")',
        ),
        ("x.R1-F01, quality-claude.R1-F01: not applied: no", ' (its fixer: "not applied: no")'),
        ("quality-claude.R1-F011: applied.", f", see {FIRST}-dispositions.md"),
    ],
)
def test_what_a_fixer_says_of_a_finding_is_part_of_its_fate(line: str, told: str) -> None:
    there = files() | {f"{FIRST}-dispositions.md": f"---\nround: 1\n---\n- {line}\n".encode()}
    settings = configs.read(there["config.md"])
    loop = loops.evaluate(tree(there), subject_of("goals"), settings)
    first = finding_history.fates(tree(there), loop, settings, 0)[0]
    assert first.startswith(
        f"quality-claude.R1-F01 (it cites goals.md:L7, as round 1 read it): kept{told}: "
    )


@pytest.mark.rule("LIV-19")
def test_a_long_finding_is_one_short_line() -> None:
    there = files()
    path = f"{FIRST}/quality-claude.finding-F01.md"
    there[path] = finding(message="Two\n\nlines. " + "long " * 100)
    settings = configs.read(there["config.md"])
    loop = loops.evaluate(tree(there), subject_of("goals"), settings)
    line = finding_history.fates(tree(there), loop, settings, 0)[0]
    assert "Two lines. long" in line and line.endswith("…") and len(line) < 320
