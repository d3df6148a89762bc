"""The pause file: written once, then changed by one word at a time."""

from __future__ import annotations

import pytest

from qrspi.core.model import Finding, Problem, Triaged, Verdict
from qrspi.core.pipeline import ROUTES
from qrspi.core.rounds import pause_file
from qrspi.core.rounds.pause_file import Choice, Pause
from qrspi.core.tree import Fault
from tests.runs import RUN

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

To be applied without asking: 1

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
    assert pause_file.render("goals", 1, TRIAGED).decode() == WRITTEN


@pytest.mark.rule("PSE-04")
def test_nothing_a_reviewer_wrote_becomes_a_heading_or_a_field() -> None:
    hostile = item(
        "scope-claude", message="x\n## Paused: y\n---\ndecisions:\n  z: apply\r\u2028## q"
    )
    finding = hostile.finding._replace(referenced_files=("a\n\n## Paused: b", "c\ud800"))
    data = pause_file.render("goals", 1, (hostile._replace(finding=finding),))
    assert pause_file.read(data, FILE) == Pause({"scope-claude.R1-F01": "pending"})
    headings = [line for line in data.decode().splitlines() if line.startswith("## ")]
    assert headings == ["## Paused: scope-claude.R1-F01"]


@pytest.mark.rule("PSE-04", "PSE-05")
@pytest.mark.parametrize("choice", ["apply", "skip", "loop-back"])
def test_a_decision_changes_one_word(choice: Choice) -> None:
    changed = pause_file.decide(WRITTEN.encode(), {"scope-codex.R1-F01": choice}, FILE)
    expected = WRITTEN.replace("scope-codex.R1-F01: pending", f"scope-codex.R1-F01: {choice}")
    assert changed == expected.encode()


@pytest.mark.rule("PSE-04")
def test_several_decisions_at_once_keep_comments_and_line_ends() -> None:
    text = WRITTEN.replace("claude.R1-F01: pending", "claude.R1-F01:   pending  # hm", 1)
    data = text.replace("\n", "\r\n").encode()
    changed = pause_file.decide(
        data, {"scope-claude.R1-F01": "skip", "spec-claude.R1-F01": "apply"}, FILE
    )
    assert isinstance(changed, bytes)
    assert b"  scope-claude.R1-F01:   skip  # hm\r\n" in changed
    assert b"  spec-claude.R1-F01: apply\r\n" in changed
    assert len(changed) == len(data) - len("pending") * 2 + len("skip") + len("apply")


@pytest.mark.rule("PSE-01", "PSE-04")
def test_a_finding_that_came_later_waits_and_is_listed_when_it_is_decided() -> None:
    late = item("late-claude", message="Late.")
    known = pause_file.read(WRITTEN.encode(), FILE)
    assert isinstance(known, Pause)
    now = pause_file.of_round(known, (*TRIAGED, late))
    assert now.undecided == (*known.decisions, "late-claude.R1-F01")
    changed = pause_file.decide(WRITTEN.encode(), {"late-claude.R1-F01": "skip"}, FILE, (late,))
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
    assert pause_file.of_round(pause, (item("scope-claude"),)) == Pause(
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
    found = pause_file.read(data, FILE)
    assert isinstance(found, Problem)
    assert found.message == message


def test_a_file_that_is_written_another_way_is_not_rewritten() -> None:
    data = b"---\ndecisions: {a.R1-F01: pending}\n---\n"
    found = pause_file.decide(data, {"a.R1-F01": "skip"}, FILE)
    assert isinstance(found, Problem)
    assert found.message == (
        f"{FILE}: the decisions cannot be changed and the rest be kept as it is written; "
        "write one `<tag>.<id>: pending` a line below `decisions:`"
    )


FULL, QUICK = ROUTES["full"], ROUTES["quick"]


def citing(*cites: str) -> Finding:
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
    assert pause_file.upstream(route, step) == steps


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
    upstream = pause_file.upstream(FULL, "phasing")
    assert pause_file.targets(citing(*cites), upstream, RUN) == steps
