"""Limits on calls, tokens and money: they stop before the next call, and survive restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qrspi.handlers.agents import ledger
from tests.handlers.refusals import halt
from tests.handlers.shop import NOTHING, Shop, in_review
from tests.runs import RUN

REVIEWERS = ("quality-claude", "scope-claude")
HINT = (
    f"run the same command with a higher limit, or `qrspi next {RUN} --dispatch` without one: "
    "nothing is paid for twice"
)


def shop_with(tmp_path: Path, **more: Any) -> Shop:
    shop = in_review(tmp_path / "shop", **more)
    for name in REVIEWERS:
        shop.priced(name, NOTHING, usd=0.5, tokens=100)
    return shop


@pytest.mark.rule("TRN-09")
@pytest.mark.parametrize(
    ("limit", "code", "message"),
    [
        (
            {"calls": 1},
            "budget-calls",
            "stopped before the next call: the limit given with this command is reached, "
            "1 of 1 calls spent",
        ),
        (
            {"tokens": 110},
            "budget-tokens",
            "stopped before the next call: the limit given with this command is reached, "
            "110 of 110 tokens spent",
        ),
        (
            {"usd": 0.25},
            "budget-usd",
            "stopped before the next call: the limit given with this command is reached, "
            "0.5000 of 0.2500 USD spent",
        ),
    ],
)
def test_a_limit_of_the_command_stops_before_the_next_call(
    tmp_path: Path, limit: dict[str, Any], code: str, message: str
) -> None:
    shop = shop_with(tmp_path)
    driven = shop.driven(jobs=1, **limit)
    assert driven.stopped
    assert (driven.stopped.code, driven.stopped.message) == (code, message)
    assert driven.stopped.hint == HINT
    assert (driven.failures, len(shop.ledger())) == ((), 1)
    assert driven.outcome.state.next.missing == ("scope-claude",)


@pytest.mark.rule("TRN-09")
def test_calls_under_way_count_as_calls(tmp_path: Path) -> None:
    shop = shop_with(tmp_path)
    driven = shop.driven(jobs=8, calls=1)
    assert driven.stopped
    assert len(shop.ledger()) == 1


@pytest.mark.rule("TRN-09", "SPD-01")
def test_nothing_at_all_may_be_spent(tmp_path: Path) -> None:
    shop = shop_with(tmp_path)
    driven = shop.driven(calls=0)
    assert driven.stopped
    assert (driven.stopped.code, shop.ledger()) == ("budget-calls", [])


@pytest.mark.rule("SPD-01")
@pytest.mark.parametrize(
    ("budget", "whose"),
    [
        ("{calls: 1}", "the budget of this run in config.md"),
        ("{usd: 0.4}", "the budget of this run in config.md"),
        ("{per_step: {tokens: 50}}", "the budget of a step in config.md (design)"),
    ],
)
def test_a_budget_in_config_survives_restarts(tmp_path: Path, budget: str, whose: str) -> None:
    shop = shop_with(tmp_path, budget=budget)
    assert shop.driven(jobs=1).stopped
    again = shop.driven(jobs=1)
    assert again.stopped
    assert f": {whose} is reached, " in again.stopped.message
    assert again.stopped.hint.startswith(f"raise it with `qrspi config set {RUN} budget.")
    assert len(shop.ledger()) == 1


@pytest.mark.rule("SPD-01", "MAN-02")
def test_a_paid_answer_is_used_though_nothing_more_may_be_spent(tmp_path: Path) -> None:
    shop = shop_with(tmp_path)
    shop.driven(calls=0)
    place = ".qrspi/dispatch/design/round-01/scope-claude"
    shop.left(place, "sent", (shop.replies / "scope-claude.json").read_bytes())
    driven = shop.driven(jobs=1, calls=0)
    assert driven.stopped
    assert driven.stopped.code == "budget-calls"
    assert driven.outcome.state.next.missing == ("quality-claude",)
    assert shop.dispatch("design/round-01/scope-claude")["state"] == "taken"


@pytest.mark.rule("SPD-01")
def test_a_step_counts_only_its_own_calls(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, budget="{per_step: {calls: 2}}")
    line = '{"time": "", "step": "goals", "role": "author", "model": "m", "calls": 9}\n'
    shop.write(".qrspi/spend.jsonl", line)
    driven = shop.driven()
    assert (driven.stopped, driven.outcome.state.next.action) == (None, "approve")


@pytest.mark.rule("SPD-01")
def test_what_a_host_has_spent_counts_too(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, budget="{usd: 3}")
    line = '{"time": "", "step": "goals", "role": "author", "model": "m", "usd": 3.5}\n'
    shop.write(".qrspi/spend.jsonl", line)
    driven = shop.driven()
    assert driven.stopped
    assert driven.stopped.message == (
        "stopped before the next call: the budget of this run in config.md is reached, "
        "3.5000 of 3.0000 USD spent"
    )


@pytest.mark.rule("TRN-09")
def test_it_is_said_when_money_is_limited_and_nobody_names_a_price(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    for name in REVIEWERS:
        shop.reply(f"{name}.md", NOTHING)
    driven = shop.driven(usd=5)
    assert driven.stopped is None
    assert shop.told.notes[-1] == (
        "[budget] not every agent says what a call costs: those calls are not counted in USD; "
        "limit calls or tokens instead"
    )


@pytest.mark.rule("TRN-09")
def test_tokens_that_nobody_counts_are_estimated(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", budget="{tokens: 10}")
    for name in REVIEWERS:
        shop.reply(f"{name}.md", NOTHING)
    driven = shop.driven(jobs=1)
    assert driven.stopped
    guess = shop.ledger()[0]["estimated"]
    assert guess > 1000
    assert driven.stopped.message == (
        "stopped before the next call: the budget of this run in config.md is reached, "
        f"{guess} of 10 tokens ({guess} of them estimated) spent"
    )
    assert shop.told.notes[-1].startswith("[budget] not every agent says how many tokens")


@pytest.mark.rule("SPD-01", "TRN-10", "RTE-05")
def test_a_call_is_one_line_of_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    shop = shop_with(tmp_path)
    shop.driven(jobs=1)
    first = shop.ledger()[0]
    job = shop.dispatch("design/round-01/quality-claude")["job_id"]
    assert first == {
        "time": "2026-05-17T09:30:00Z",
        "step": "design",
        "round": 1,
        "role": "reviewer-quality",
        "model": "large",
        "vendor": "claude",
        "name": "quality-claude",
        "calls": 1,
        "input_tokens": 100,
        "output_tokens": 10,
        "usd": 0.5,
        "seconds": 0.0,
        "outcome": "done",
        "source": "dispatch",
        "job": job,
        "attempt": 1,
        "estimated": 0,
    }


@pytest.mark.rule("TRN-09", "SPD-01")
@pytest.mark.parametrize("kind", ["directory", "symlink"])
def test_nobody_is_sent_while_the_ledger_cannot_be_read(tmp_path: Path, kind: str) -> None:
    shop = shop_with(tmp_path)
    ledger_file = shop.run / ".qrspi/spend.jsonl"
    ledger_file.parent.mkdir(exist_ok=True)
    ledger_file.mkdir() if kind == "directory" else ledger_file.symlink_to(tmp_path / "elsewhere")
    halted = halt(shop.driven, calls=5)
    assert str(halted) == (
        f"nobody is sent: cannot read .qrspi/spend.jsonl: it is a {kind}, expected a regular "
        "file, so nobody knows what was spent"
    )
    assert halted.problem.hint == f"mv {ledger_file} {ledger_file}.unreadable"
    assert list(shop.run.rglob("*.reply")) == []


def test_a_line_that_says_too_little_is_named_and_not_counted(tmp_path: Path) -> None:
    shop = shop_with(tmp_path)
    good = '{"time": "", "step": "goals", "role": "author", "model": "m", "usd": 1.5}\n'
    bad = '{"step": "goals", "role": "author", "model": "m", "calls": -3}\n'
    shop.write(".qrspi/spend.jsonl", good + bad + "{torn")
    known = ledger.read(shop.workspace())
    assert [one.usd for one in known.entries] == [1.5]
    assert known.problems[0].message == (
        ".qrspi/spend.jsonl: line 2 has no proper 'calls' and is not counted"
    )
    assert len(known.problems) == 2
