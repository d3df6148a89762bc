"""Where a loop back goes: the earlier artifact that a finding cites."""

from __future__ import annotations

import pytest

from qrspi.core.model import Finding
from qrspi.core.pipeline import ROUTES
from qrspi.core.rounds import loop_back as loopback
from tests.runs import RUN

FULL, QUICK = ROUTES["full"], ROUTES["quick"]


def finding(*cites: str) -> Finding:
    name = "scope-claude.finding-F01.md"
    return Finding(
        "scope-claude", 1, name, "R1-F01", "high", "scope", "scope", cites, "Text.", b"Text.\n"
    )


@pytest.mark.rule("PSE-03")
@pytest.mark.parametrize(
    ("route", "step", "steps"),
    [
        (FULL, "goals", ()),
        (FULL, "questions", ("goals",)),
        (FULL, "research", ("goals", "questions")),
        (FULL, "phasing", ("goals", "questions", "research", "design")),
        (QUICK, "plan", ("goals", "questions", "research")),
        (QUICK, "replan", QUICK),
    ],
)
def test_what_lies_upstream(route: tuple[str, ...], step: str, steps: tuple[str, ...]) -> None:
    assert loopback.upstream(route, step) == steps


TARGETS = [
    ("its own artifact", ("phasing.md:L3",), ()),
    ("nothing", (), ()),
    ("one earlier artifact", ("goals.md:L7",), ("goals",)),
    ("beside its own", ("phasing.md:L3", "design.md:L10-L20"), ("design",)),
    ("several, the earliest first", ("design.md:1", "goals.md"), ("goals", "design")),
    ("two files of one step", ("research/q01-code.md", "research/summary.md"), ("research",)),
    ("a companion", ("research/q12-web.md:L4",), ("research",)),
    ("from the project", (f"docs/qrspi/{RUN}/questions.md:L2",), ("questions",)),
    ("absolute", (f"/home/ada/shop/docs/qrspi/{RUN}/goals.md:L2",), ("goals",)),
    ("absolute, elsewhere", ("/etc/goals.md",), ()),
    ("another run", ("docs/qrspi/2026-01-01-other/goals.md",), ()),
    ("out of the run", (f"docs/qrspi/{RUN}/../../goals.md", "../goals.md"), ()),
    ("dots", ("./goals.md",), ("goals",)),
    ("a later artifact", ("plan.md:L1", "structure.md"), ()),
    ("code", ("src/app.py:L10",), ()),
    ("a file of the same name elsewhere", ("notes/goals.md",), ()),
    ("feedback", ("feedback/goals-round-01.md",), ()),
    ("a range in words", ("goals.md (line 12)",), ("goals",)),
    ("no citation", ("goals.md:\nL7", "goals.md:0", ""), ()),
]


@pytest.mark.rule("PSE-03", "FND-06")
@pytest.mark.parametrize(("case", "cites", "steps"), TARGETS, ids=[row[0] for row in TARGETS])
def test_the_targets_of_a_finding(
    case: str, cites: tuple[str, ...], steps: tuple[str, ...]
) -> None:
    upstream = loopback.upstream(FULL, "phasing")
    assert loopback.targets(finding(*cites), upstream, RUN) == steps
