"""The ledger's arithmetic."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.agents import spend
from qrspi.core.agents.spend import Bound, Group, LedgerEntry, Totals
from qrspi.core.config.blocks import Limits
from qrspi.core.model import Problem

CALL = LedgerEntry("2026-05-17T09:30:00Z", "goals", 1, "verifier", "small", usd=0.5, seconds=2.0)


@pytest.mark.rule("SPD-01")
def test_calls_are_summed_per_step_round_role_and_model() -> None:
    entries = [
        CALL,
        CALL._replace(input_tokens=7, output_tokens=3),
        CALL._replace(model="large", usd=None, calls=4),
        CALL._replace(round=2),
    ]
    assert spend.grouped(entries) == (
        (Group("goals", 1, "verifier", "large"), Totals(4, 0, 0, 0.0, 2.0, 4)),
        (Group("goals", 1, "verifier", "small"), Totals(2, 7, 3, 1.0, 4.0, 0)),
        (Group("goals", 2, "verifier", "small"), Totals(1, 0, 0, 0.5, 2.0, 0)),
    )


counts = st.integers(0, 10**9)
entries = st.lists(
    st.builds(
        CALL._replace,
        step=st.sampled_from(("goals", "design")),
        round=st.integers(0, 3),
        calls=counts,
        input_tokens=counts,
        output_tokens=counts,
        usd=st.none() | st.integers(0, 10**6).map(float),
        seconds=st.integers(0, 10**6).map(float),
    )
)


@given(entries)
def test_the_groups_add_up_to_the_total(listed: list[LedgerEntry]) -> None:
    sums = [totals for _, totals in spend.grouped(listed)]
    assert tuple(map(sum, zip(*sums, strict=True))) == (spend.total(listed) if listed else ())


@given(entries)
def test_a_line_reads_as_it_was_written(listed: list[LedgerEntry]) -> None:
    for entry in listed:
        assert spend.entry(json.loads(json.dumps(spend.render(entry)))) == entry


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"step": 7}, "step"),
        ({"calls": -1}, "calls"),
        ({"calls": True}, "calls"),
        ({"input_tokens": 1.5}, "input_tokens"),
        ({"usd": "much"}, "usd"),
        ({"usd": float("inf")}, "usd"),
        ({"usd": float("nan")}, "usd"),
        ({"seconds": [1]}, "seconds"),
        ({"round": 10**30}, "round"),
    ],
)
def test_a_line_that_is_no_entry_says_why(change: dict[str, Any], field: str) -> None:
    assert spend.entry({**spend.render(CALL), **change}, 3) == Problem(
        "bad-entry",
        f".qrspi/spend.jsonl: line 3 has no proper '{field}' and is not counted",
        file=".qrspi/spend.jsonl",
        field=field,
        expected="an entry as spend add writes it",
    )


@pytest.mark.rule("TRN-09")
@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Limits(), None),
        (Limits(calls=3), None),
        (Limits(calls=2), "budget-calls"),
        (Limits(calls=0), "budget-calls"),
        (Limits(tokens=31), None),
        (Limits(tokens=30), "budget-tokens"),
        (Limits(usd=1.01), None),
        (Limits(usd=1.0), "budget-usd"),
        (Limits(usd=1.0, tokens=1, calls=1), "budget-calls"),
    ],
)
def test_a_limit_is_reached_when_nothing_is_left(limits: Limits, code: str | None) -> None:
    found = spend.reached(Bound("the limit", limits), Totals(2, 20, 10, 1.0))
    assert (found.code if found else None) == code


@pytest.mark.rule("LIV-02", "TRN-09")
@pytest.mark.parametrize(
    ("bound", "spent", "said"),
    [
        (Bound("it", Limits(calls=4), "budget"), Totals(4), "budget.calls 8`"),
        (Bound("it", Limits(usd=0.5), "budget"), Totals(usd=0.75), "budget.usd 1.5`"),
        (Bound("it", Limits(tokens=0), "budget.per_step"), Totals(), "per_step.tokens 100000`"),
    ],
)
def test_a_budget_that_is_reached_names_the_command_that_raises_it(
    bound: Bound, spent: Totals, said: str
) -> None:
    found = spend.reached(bound, spent, "RUN")
    assert found
    assert found.hint.startswith(f"raise it with `qrspi config set RUN {bound.field}.")
    assert f"{said}, then run the same command again" in found.hint


def test_a_limit_says_whose_it_is_and_what_was_spent() -> None:
    found = spend.reached(Bound("the limit", Limits(usd=1)), Totals(usd=1.25))
    assert found
    assert found.message == (
        "stopped before the next call: the limit is reached, 1.2500 of 1.0000 USD spent"
    )
