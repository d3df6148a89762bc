from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.gates.audit import audit, audit_report
from qrspi.core.gates.audit.audit import Coverage, Dimension, Move
from qrspi.core.records import quality_blocks
from qrspi.core.text import findings_block
from qrspi.core.tree import MemoryTree
from tests import runs
from tests.task_texts import NOW

PROJECT = MemoryTree({f"app/{name}.py": b"" for name in "abcdefg"} | {"README.md": b""})
SAID = "Nothing breaks; no side effects; revert; tests; edge cases; docs."


def task(number: int, files: str = "app/a.py", phase: int = 0) -> bytes:
    which = f"phase: {phase}\n" if phase else ""
    return (
        f"---\nstatus: draft\n{which}---\n# Task {number:02d}: T\n\n- **Target files:** {files}\n"
    ).encode()


def plan(*tasks: bytes, research: str = "See app/a.py:L1.", **more: bytes) -> MemoryTree:
    files = {f"tasks/task-{at:02d}.md": data for at, data in enumerate(tasks, 1)}
    files |= {
        "plan.md": f"---\nstatus: draft\n---\n# Plan\n\n{SAID}\n".encode(),
        "research/summary.md": research.encode(),
    }
    return MemoryTree(
        files | {name.replace("__", "-") + ".json": data for name, data in more.items()}
    )


def scores(tree: MemoryTree, phase: int = 1) -> list[tuple[str, int, tuple[int, ...], str]]:
    found = audit.audit(tree, PROJECT, phase)
    return [
        (one.id, one.total_score, tuple(part.score for part in one.dimensions), one.verdict)
        for one in found.reviews
    ]


@pytest.mark.rule("AU-01")
@pytest.mark.parametrize(
    ("parts", "total"),
    [
        ((70, 90, 85), 80),
        ((75, 90, 85), 82),
        ((85, 50, 85), 74),
        ((100, 90, 85), 92),
        ((0, 0, 5), 2),
    ],
)
def test_the_score_is_weighted_and_a_half_goes_to_the_even_side(
    parts: tuple[int, ...], total: int
) -> None:
    names = tuple(audit.WEIGHTS)
    found = [Dimension(name, (Move(score, ""),)) for name, score in zip(names, parts, strict=True)]
    assert audit.total(found) == total


@pytest.mark.rule("AU-01")
@given(st.tuples(*[st.integers(0, 100)] * 3))
def test_the_score_is_what_python_rounds_to(parts: tuple[int, ...]) -> None:
    names = tuple(audit.WEIGHTS)
    found = [Dimension(name, (Move(score, ""),)) for name, score in zip(names, parts, strict=True)]
    tenths = 4 * parts[0] + 3 * parts[1] + 3 * parts[2]
    assert audit.total(found) == round(tenths / 10)


@pytest.mark.rule("AU-02")
@pytest.mark.parametrize(
    ("research", "files", "score"),
    [
        ("app/a.py:L1", "app/a.py", 100),
        ("app/a.py:L1, app/b.py:L2-L9", "app/a.py", 85),
        ("app/a.py:L1 app/b.py:L1 app/c.py:L1 app/d.py:L1", "app/a.py", 55),
        ("".join(f" app/{name}.py:L1" for name in "abcdefg"), "app/a.py", 40),
        ("app/a.py:L1", "`app/a.py` (changed), app/new.py (new)", 100),
        ("app/a.py:L1", "app/", 100),
        ("app/a.py:L1", "./app/a.py, lib/x.py, lib/y.py", 90),
        ("app/a.py:L1", "app/a.py, lib/x.py", 100),
        ("app/a.py:L1", "lib/x.py", 75),
        ("app/a.py:L1", "../x.py", 75),
        ("app/a.py", "app/a.py", 70),
        ("app/z.py:L1", "app/a.py", 70),
        ("", "lib/x.py", 70),
        ("/etc/passwd:L1 ../x:L1", "app/a.py", 70),
    ],
)
def test_feasibility(research: str, files: str, score: int) -> None:
    assert scores(plan(task(1, files), research=research))[0][2][0] == score


@pytest.mark.rule("AU-02")
def test_targets_in_the_frontmatter_come_first() -> None:
    data = task(1, "app/b.py").replace(b"---\n# ", b"target_files: [app/a.py]\n---\n# ")
    assert scores(plan(data))[0][2][0] == 100


@pytest.mark.rule("AU-02")
def test_a_plan_that_departs_is_flagged() -> None:
    found = audit.audit(plan(task(1, "lib/x.py"), research=""), PROJECT, 1)
    assert found.reviews[0].dimensions[0].findings == (
        "potentially outdated: 1 of 1 target files neither exist nor lie beside existing ones",
        "nothing says which files matter: neither research nor a context file",
    )


@pytest.mark.rule("AU-03", "AU-04")
@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (1, ("phase-1", 92, (100, 90, 85), "approved")),
        (10, ("phase-1", 92, (100, 90, 85), "approved")),
        (11, ("phase-1", 80, (100, 50, 85), "approved")),
        (0, ("phase-1", 70, (85, 90, 30), "rejected")),
    ],
)
def test_risk_and_completeness(tasks: int, expected: tuple[str, int, tuple[int, ...], str]) -> None:
    assert scores(plan(*(task(at) for at in range(1, tasks + 1)))) == [expected]


@pytest.mark.rule("AU-04")
@pytest.mark.parametrize(
    ("score", "verdict"), [(80, "approved"), (79, "concerns"), (60, "concerns"), (59, "rejected")]
)
def test_what_a_score_means(score: int, verdict: str) -> None:
    assert audit.verdict(score) == verdict


@pytest.mark.rule("AU-04", "AU-06", "GTD-17")
def test_a_review_for_each_phase_and_the_worst_counts() -> None:
    many = tuple(task(at, "lib/x.py", 2) for at in range(2, 14))
    tree = plan(task(1, phase=1), *many, context__phase__2=b'{"relevant_files": ["app/b.py"]}')
    assert scores(tree) == [
        ("phase-1", 92, (100, 90, 85), "approved"),
        ("phase-2", 70, (75, 50, 85), "concerns"),
    ]
    assert audit.audit(tree, PROJECT, 1).verdict == "concerns"
    assert [one[0] for one in scores(tree, phase=3)] == ["phase-1", "phase-2", "phase-3"]
    assert audit.audit(tree, PROJECT, 3).verdict == "rejected"


@pytest.mark.rule("AU-02", "GTD-17")
def test_a_context_file_alone_counts_and_any_task_covers() -> None:
    listed = b'{"relevant_files": ["./app/a.py", "app/b.py", "gone.py"]}'
    tree = plan(task(1, "app/b.py", 1), task(2, phase=2), context__x=listed, research="app/c.py:L1")
    assert [one[2][0] for one in scores(tree)] == [85, 85]


@pytest.mark.rule("GTD-17")
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", 'it is not JSON, expected {"relevant_files": ["path", …]}'),
        (b"[" * 100_000, 'it is not JSON, expected {"relevant_files": ["path", …]}'),
        (b"[]", 'it has no list of relevant_files, expected {"relevant_files": ["path", …]}'),
        (
            b'{"relevant_files": [1]}',
            'it has no list of relevant_files, expected {"relevant_files": ["path", …]}',
        ),
        (
            b" " * 300_000,
            "it cannot be read (it is too large, 300,000 bytes, expected at most 262,144 bytes)",
        ),
    ],
)
def test_a_context_file_that_cannot_be_read_is_left_out_and_said(data: bytes, why: str) -> None:
    found = audit.audit(plan(task(1), context__x=data), PROJECT, 1).reviews[0]
    assert found.dimensions[0].score == 100
    assert found.dimensions[0].findings == (f"context-x.json is left out: {why}",)


@pytest.mark.rule("GTD-17")
def test_what_a_plan_does_not_speak_of_is_a_finding_and_costs_nothing() -> None:
    tree = MemoryTree({"plan.md": b"# Plan\n", "tasks/task-01.md": b"# Task 01: T\n"})
    found = audit.audit(tree, PROJECT, 1).reviews[0]
    said = [text.removeprefix("neither plan.md nor the tasks say a word about ") for part in (
        found.dimensions[1], found.dimensions[2]) for text in part.findings]  # fmt: skip
    assert said == [
        "breaking changes", "side effects", "rollback", "test plan", "edge cases", "documentation",
    ]  # fmt: skip
    assert found.total_score == 80


CITED = (
    "if the plan changes it, or list in context-*.json, instead of research, which files the plan "
    "has to change"
)


@pytest.mark.rule("GTD-17")
def test_concerns_carry_suggestions_and_a_rejection_what_it_needs() -> None:
    lost = "".join(f" app/{name}.py:L1" for name in "bcdefg")
    many = [task(at, "lib/x.py") for at in range(1, 12)]
    report = audit_report.document(audit.audit(plan(*many, research=lost), PROJECT, 1), "", NOW)
    assert (report["reviews"][0]["total_score"], report["overall_verdict"]) == (52, "rejected")
    assert report["reviews"][0]["suggestions"] == [
        "plan 10 tasks or fewer in one phase (+12)",
        f"have a task target app/b.py {CITED} (+6)",
        f"have a task target app/c.py {CITED} (+6)",
        f"have a task target app/d.py {CITED} (+6)",
        f"have a task target app/e.py {CITED} (+6)",
        "target files that exist, or that lie beside existing ones (+4)",
    ]
    assert report["reviews"][0]["required_action"] == (
        "phase-1: raise the score to 60 or more; first: plan 10 tasks or fewer in one phase (+12)"
    )


@given(st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_the_points_add_up(uncovered: int, covered: int, departs: bool) -> None:
    files = tuple(map(str, range(uncovered + covered)))
    strange = ("x", "y") if departs else ()
    found = audit.feasibility(Coverage(files, files[:uncovered], strange, 2))
    coverage = max(40, 100 - 15 * uncovered)
    assert found.score == (coverage - 10 * departs if files else 70)


# What the report is about


BASE = {
    "plan.md": runs.artifact(body="# Plan\n"),
    "tasks/task-01.md": runs.artifact(body="# Task 01: T\n\n## Context\n\nMine.\n"),
}


def inputs(**changed: bytes) -> str:
    names = {
        "plan": "plan.md",
        "task": "tasks/task-01.md",
        "other": "tasks/task-02.md",
        "verdicts": quality_blocks.FILE,
    }
    return audit_report.inputs_sha256(
        MemoryTree(BASE | {names[key]: data for key, data in changed.items()})
    )


@pytest.mark.rule("AU-06", "GTD-01")
def test_what_approvals_and_verdicts_write_is_no_input() -> None:
    plan, task = BASE["plan.md"], BASE["tasks/task-01.md"]
    approved = plan.replace(b"draft", b"approved\nphase_start_commit: abc\nfeature_branch: main")
    assert inputs(plan=approved) == inputs()
    assert inputs(task=task.replace(b"draft", b"approved\nquality_verdict: PASS")) == inputs()
    block = b"--- Quality Review Findings hash=1a2b3c4d @2026-05-17T09:30:00Z ---\nGaps:\n- g\n"
    reviewed = task.replace(b"Mine.\n", b"Mine.\n" + block)
    [text] = findings_block.texts(reviewed)
    record = json.dumps({"block_sha256": quality_blocks.digest(text)}).encode()
    assert inputs(task=reviewed, verdicts=record) == inputs()
    assert inputs(task=reviewed) != inputs()  # a block that nobody has on record is text


@pytest.mark.rule("AU-06")
def test_everything_else_is() -> None:
    plan, task = BASE["plan.md"], BASE["tasks/task-01.md"]
    found = [
        inputs(),
        inputs(plan=plan + b"more\n"),
        inputs(task=task + b"more\n"),
        inputs(task=task.replace(b"draft", b"draft\nphase: 2")),
        inputs(other=b"new"),
        inputs(task=task.replace(b"Mine.", b"Mine.\nGaps:")),
    ]
    assert len(set(found)) == len(found)


def report_for(tree: MemoryTree, verdict: str = "approved") -> bytes:
    inputs = audit_report.inputs_sha256(tree)
    review = {"id": "phase-1", "verdict": verdict, "total_score": 50}
    return json.dumps(
        {"overall_verdict": verdict, "inputs_sha256": inputs, "reviews": [review]}
    ).encode()


@pytest.mark.rule("AU-06", "GTD-02")
@pytest.mark.parametrize(
    ("claimed", "computed", "code"),
    [
        ("approved", "approved", None),
        ("concerns", "concerns", None),
        ("rejected", "rejected", "audit-rejected"),
        ("approved", "rejected", "not-audited"),
        ("rejected", "approved", "not-audited"),
        (None, "approved", "not-audited"),
    ],
)
def test_a_report_that_disagrees_does_not_help(
    claimed: str | None, computed: audit.Verdict, code: str | None
) -> None:
    tree = MemoryTree(BASE)
    files = BASE | ({audit_report.FILE: report_for(tree, claimed)} if claimed else {})
    found = audit_report.read(MemoryTree(files))
    problem = audit_report.objection("run", computed, audit_report.inputs_sha256(tree), found)
    assert (problem and problem.code) == code
    stale = audit_report.objection("run", computed, "0" * 64, found)
    assert stale and stale.code == "not-audited"


@given(st.binary())
def test_any_report_is_read_or_a_problem(data: bytes) -> None:
    audit_report.read(MemoryTree({audit_report.FILE: data}))
