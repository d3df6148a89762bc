"""What config.md asks of reviews, and how a lowering by hand is told."""

from __future__ import annotations

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.config import safeguards
from qrspi.core.config.reader import Config
from qrspi.core.derivation.derive import derive
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.tree import MemoryTree
from tests import runs

STRICT = {"second_reviewer": "true", "evidence": "dispatched", "gates": "{audit: on}"}
ADA = Record("approve", "goals", "", 0, "Ada <ada@example.org>", "2026-01-05T10:00:00Z")
SINCE = "no command did that since the last decision of Ada (approve goals, 2026-01-05): put it"


def config(**fields: str) -> Config:
    return configs.read(runs.config(**fields))


def test_only_what_is_more_than_the_least_is_asked() -> None:
    least = {"verifier_enabled": "false", "later_rounds": "raisers"}
    assert safeguards.text(safeguards.asked(config(**least))) == "none"
    assert safeguards.text(safeguards.asked(config())) == runs.ASKED
    assert safeguards.asked(config(**least, **STRICT)) == (
        "second_reviewer: true",
        "evidence: dispatched",
        "gates.audit: on",
    )


@pytest.mark.rule("SEC-22")
@pytest.mark.parametrize(
    ("now", "said"),
    [
        (STRICT, []),
        ({**STRICT, "guard": "strict"}, []),
        (
            {**STRICT, "evidence": "any", "second_reviewer": "false"},
            [
                "config.md: second_reviewer is no longer true and evidence is no longer "
                f"dispatched, and {SINCE} back, or run `qrspi config set {runs.RUN} "
                "second_reviewer false evidence any` to put it on record"
            ],
        ),
        (
            {"second_reviewer": "true", "evidence": "dispatched"},
            [f"config.md: gates.audit is no longer on, and {SINCE} back"],
        ),
    ],
    ids=["the same", "more", "less", "a block is gone"],
)
def test_what_is_asked_no_more_is_told(now: dict[str, str], said: list[str]) -> None:
    record = ADA._replace(safeguards=safeguards.text(safeguards.asked(config(**STRICT))))
    by_engine = Record("approve", "questions", "", 1, surface=approvals.CASCADE)
    files = {
        "config.md": runs.config(**now),
        approvals.FILE: approvals.render(record) + approvals.render(by_engine),
    }
    found = derive(MemoryTree(files, name=runs.RUN)).warnings
    assert [one.message for one in found if one.code == "settings-changed"] == said


@pytest.mark.rule("SEC-22")
def test_a_command_answers_for_what_it_set_and_for_nothing_else() -> None:
    before = ("second_reviewer: true", "evidence: dispatched", "gates.audit: on")
    now = config(gates="{audit: on, quality: live}")
    assert safeguards.after(before, now, ["evidence"]) == (before[0], before[2])
    assert safeguards.after(before, now, ["gates.quality", "second_reviewer"]) == (
        before[1],
        "gates.quality: live",
        "gates.audit: on",
    )
