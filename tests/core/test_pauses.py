"""The pause file: written once, then changed by one word at a time."""

from __future__ import annotations

import pytest

from qrspi.core.model import Finding, Problem, Triaged, Verdict
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds.pause_file import Choice, Pause
from qrspi.core.tree import Fault

FILE = "reviews/goals-loop-pause-round-01.md"


def item(
    tag: str, verdict: Verdict = "pause", message: str = "Out of scope.", **more: str
) -> Triaged:
    kind = more.get("kind", "scope")
    finding = Finding(
        tag, 1, f"{tag}.finding-F01.md", "R1-F01", "high", more.get("said", kind), kind,  # type: ignore[arg-type]
        ("goals.md:L7",), message, b"",
    )  # fmt: skip
    return Triaged(finding, None, verdict, "a person decides about scope, whatever the score")


TRIAGED = (
    item("quality-claude", "keep"),
    item("scope-claude"),
    item("scope-codex", kind="intent", said="style"),
    item("spec-claude", "propose"),
    item("security-claude", "drop"),
)
WRITTEN = """\
---
step: goals
round: 1
decisions:
  scope-claude.R1-F01: pending
  scope-codex.R1-F01: pending
  spec-claude.R1-F01: pending
---

# Round 01 of goals waits for a person

Auto-applied: 1 findings

## Paused: scope-claude.R1-F01

high · scope · a person decides about scope, whatever the score
Cites: goals.md:L7

> Out of scope.

## Paused: scope-codex.R1-F01

high · intent (escalated from style) · a person decides about scope, whatever the score
Cites: goals.md:L7

> Out of scope.

## Proposed: spec-claude.R1-F01

high · scope · a person decides about scope, whatever the score
Cites: goals.md:L7

> Out of scope.
"""


@pytest.mark.rule("PSE-02", "PSE-04", "FND-07")
def test_the_file_lists_what_waits_and_counts_the_rest() -> None:
    assert pauses.render("goals", 1, TRIAGED).decode() == WRITTEN


@pytest.mark.rule("PSE-04")
def test_nothing_a_reviewer_wrote_becomes_a_heading_or_a_field() -> None:
    hostile = item(
        "scope-claude", message="x\n## Paused: y\n---\ndecisions:\n  z: apply\r\u2028## q"
    )
    finding = hostile.finding._replace(referenced_files=("a\n\n## Paused: b", "c\ud800"))
    data = pauses.render("goals", 1, (hostile._replace(finding=finding),))
    assert pauses.read(data, FILE) == Pause({"scope-claude.R1-F01": "pending"})
    headings = [line for line in data.decode().splitlines() if line.startswith("## ")]
    assert headings == ["## Paused: scope-claude.R1-F01"]


@pytest.mark.rule("PSE-04", "PSE-05")
@pytest.mark.parametrize("choice", ["apply", "skip", "loop-back"])
def test_a_decision_changes_one_word(choice: Choice) -> None:
    changed = pauses.decide(WRITTEN.encode(), {"scope-codex.R1-F01": choice}, FILE)
    expected = WRITTEN.replace("scope-codex.R1-F01: pending", f"scope-codex.R1-F01: {choice}")
    assert changed == expected.encode()


@pytest.mark.rule("PSE-04")
def test_several_decisions_at_once_keep_comments_and_line_ends() -> None:
    text = WRITTEN.replace("claude.R1-F01: pending", "claude.R1-F01:   pending  # hm", 1)
    data = text.replace("\n", "\r\n").encode()
    changed = pauses.decide(
        data, {"scope-claude.R1-F01": "skip", "spec-claude.R1-F01": "apply"}, FILE
    )
    assert isinstance(changed, bytes)
    assert b"  scope-claude.R1-F01:   skip  # hm\r\n" in changed
    assert b"  spec-claude.R1-F01: apply\r\n" in changed
    assert len(changed) == len(data) - len("pending") * 2 + len("skip") + len("apply")


@pytest.mark.rule("PSE-01", "PSE-04")
def test_a_finding_that_came_later_waits_and_is_listed_when_it_is_decided() -> None:
    late = item("late-claude", message="Late.")
    known = pauses.read(WRITTEN.encode(), FILE)
    assert isinstance(known, Pause)
    now = pauses.of_round(known, (*TRIAGED, late))
    assert now.undecided == (*known.decisions, "late-claude.R1-F01")
    changed = pauses.decide(WRITTEN.encode(), {"late-claude.R1-F01": "skip"}, FILE, (late,))
    assert isinstance(changed, bytes)
    head = "  spec-claude.R1-F01: pending\n"
    section = "\n## Paused: late-claude.R1-F01\n\nhigh · scope · " + late.because
    assert changed.decode() == (
        WRITTEN.replace(head, f"{head}  late-claude.R1-F01: skip\n")
        + f"{section}\nCites: goals.md:L7\n\n> Late.\n"
    )


@pytest.mark.rule("PSE-05")
def test_a_finding_that_is_gone_waits_no_longer_but_its_decision_stays() -> None:
    pause = Pause({"scope-claude.R1-F01": "pending", "gone.R1-F01": "pending", "x.R1-F02": "skip"})
    assert pauses.of_round(pause, (item("scope-claude"),)) == Pause(
        {"scope-claude.R1-F01": "pending", "x.R1-F02": "skip"}
    )


@pytest.mark.rule("PSE-05")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"---\ndecisions:\n  a.R1-F01: maybe\n---\n",
            f"{FILE}: decisions.a.R1-F01 is maybe, expected pending, apply, skip, loop-back",
        ),
        (
            b"---\ndecisions: [a]\n---\n",
            f"{FILE}: decisions is no list of decisions, expected pending, apply, skip, loop-back",
        ),
        (
            Fault("not-a-file", "directory"),
            f"{FILE}: decisions is not-a-file, expected pending, apply, skip, loop-back",
        ),
    ],
)
def test_a_file_that_cannot_be_trusted_is_a_problem(data: bytes | Fault, message: str) -> None:
    found = pauses.read(data, FILE)
    assert isinstance(found, Problem)
    assert found.message == message


def test_a_file_that_is_written_another_way_is_not_rewritten() -> None:
    data = b"---\ndecisions: {a.R1-F01: pending}\n---\n"
    found = pauses.decide(data, {"a.R1-F01": "skip"}, FILE)
    assert isinstance(found, Problem)
    assert found.message == (
        f"{FILE}: the decisions cannot be changed and the rest be kept as it is written; "
        "write one `<tag>.<id>: pending` a line below `decisions:`"
    )
