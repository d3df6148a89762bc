"""The agents a run waits for, on a narrow terminal."""

from __future__ import annotations

import pytest

from qrspi.core.agents import spend
from qrspi.handlers.agents import ledger
from qrspi.handlers.agents.awaited_agents import Waiting
from qrspi.render import agents

SEVEN = (
    "quality",
    "scope",
    "spec",
    "security",
    "test-coverage",
    "silent-failure",
    "goal-traceability",
)


def waiting(name: str) -> Waiting:
    return Waiting(
        name=f"{name}-claude",
        step="plan",
        round=1,
        role=f"reviewer-{name}",
        vendor="claude",
        model="claude-sonnet-4.6",
        transport="host",
    )


@pytest.mark.rule("LIV-27", "LIV-29")
def test_the_states_of_seven_reviewers_fit_eighty_columns() -> None:
    drawn = agents.awaited_lines("run", tuple(map(waiting, SEVEN)), 80)
    assert len(drawn) == 8
    assert all(line.endswith(("STATE", "pending")) and len(line) <= 80 for line in drawn)


def test_roles_are_shown_where_there_is_room() -> None:
    head, row = agents.awaited_lines("run", (waiting("quality"),), 80)
    assert head.split() == ["AGENT", "ROLE", "MODEL", "VIA", "STATE"]
    assert "reviewer-quality" in row


@pytest.mark.rule("SPD-01", "LIV-29")
def test_a_narrow_table_keeps_the_money() -> None:
    group = spend.Group("integrate", 12, "silent-failure-hunter", "claude-opus-4-5")
    spent = spend.Totals(5, 900, 100, 0.5, 4.0)
    spending = ledger.Spending(((group, spent),), spent, ())
    assert agents.spending_lines(spending, 80) == [
        "STEP       ROUND  ROLE                   MODEL            CALLS  USD",
        "integrate  12     silent-failure-hunter  claude-opus-4-5  5      0.5000",
        "total                                                     5      0.5000",
        "Too wide for here: SECONDS, TOKENS OUT, TOKENS IN; `--json` has them.",
    ]
    assert len(agents.spending_lines(spending, 200)) == 3
