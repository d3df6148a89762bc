from __future__ import annotations

import hashlib

import pytest

from qrspi.core.gates.quality import task_spec
from qrspi.core.gates.quality.task_spec import Spec
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from tests.task_texts import CRITERIA, DESCRIPTION, PLAN, spec, task


def read(text: str | bytes) -> Spec:
    found = task_spec.read(text.encode() if isinstance(text, str) else text, "task-01")
    assert isinstance(found, Spec)
    return found


@pytest.mark.rule("QV-01")
def test_the_hash_is_over_title_description_criteria_and_plan() -> None:
    text = f"Keep sign-in links|{DESCRIPTION}|{CRITERIA}|{PLAN}"
    assert spec().hash == hashlib.sha256(text.encode()).hexdigest()[:8]


@pytest.mark.rule("QV-01")
def test_white_space_around_a_field_and_line_endings_do_not_count() -> None:
    data = task()
    assert read(data.replace(b"\n", b"\r\n")).hash == read(data).hash
    assert read(data.replace(b"\n## ", b"\n\n\n## ")).hash == read(data).hash


@pytest.mark.rule("QV-01")
@pytest.mark.parametrize("field", ["context", "executor", "tags", "quality_verdict"])
def test_what_else_is_in_the_file_does_not_count(field: str) -> None:
    assert spec(**{field: "another"}).hash == spec().hash


@pytest.mark.rule("QV-01")
@pytest.mark.parametrize("field", ["title", "description", "criteria", "plan"])
def test_each_field_counts(field: str) -> None:
    assert spec(**{field: "another"}).hash != spec().hash


@pytest.mark.rule("GTD-14")
def test_a_section_wins_over_the_frontmatter() -> None:
    front = b"---\ndescription: front\nacceptance_criteria: [a, b]\nexecution_plan: [c, d]\n"
    assert read(task().replace(b"---\n", front, 1)) == spec()
    found = read(
        "---\ndescription: front\nacceptance_criteria: [a, b]\nexecution_plan: [c, d]\n"
        "context: said\n---\n# T\n"
    )
    assert found[2:6] == ("front", "- a\n- b", "1. c\n2. d", "said")


@pytest.mark.rule("GTD-14")
def test_how_sections_are_found() -> None:
    found = read(
        "# T\n\n```\n## Description\nfenced\n```\n\n## DESCRIPTION:\n\nfirst\n\n### Inside\n\n"
        "more\n\n## description\n\nsecond\n\n## Acceptance criteria\n- a\n"
    )
    assert found.description == "first\n\n### Inside\n\nmore"
    assert found.criteria == "- a"
    assert (found.plan, found.is_empty) == ("", False)


@pytest.mark.rule("GTD-14")
def test_a_task_without_any_section() -> None:
    assert read("# Task 01: T\n\nJust words.\n").is_empty


@pytest.mark.parametrize(
    ("tags", "tag"),
    [
        ("[a, worthiness:info-only]", "worthiness:info-only"),
        ("worthiness:calendar-like, b", "worthiness:calendar-like"),
        ("[worthiness]", ""),
        ("{worthiness: info-only}", ""),
        ("", ""),
    ],
)
@pytest.mark.rule("QV-08")
def test_tags_by_which_nobody_has_to_review(tags: str, tag: str) -> None:
    assert spec(tags=tags).skip_tag == tag


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            Fault("too-large", "300000"),
            "tasks/task-01.md cannot be read: it is too large, 300,000 bytes",
        ),
        (b"---\nstatus: draft\n", None),
        (b"---\nphase: x\n---\n", "tasks/task-01.md: phase is x; expected a whole number from 1"),
    ],
)
def test_what_cannot_be_read_is_a_problem(content: bytes | Fault, message: str | None) -> None:
    found = task_spec.read(content, "task-01")
    assert isinstance(found, Problem)
    assert message is None or found.message == message


def test_a_file_that_is_no_text_is_read_all_the_same() -> None:
    assert read(b"# T\n\n## Description\n\n\xff\xfe\x00\n").description == "��\x00"


def test_the_reviewer_sees_no_earlier_findings_but_executor_and_repository() -> None:
    block = "--- Quality Review Findings hash=1a2b3c4d @2026-05-17T09:30:00Z ---\nGaps:\n- earlier"
    told = task_spec.told(spec(context=f"Mine.\n{block}", executor="codex"), "/srv/shop")
    assert "earlier" not in told and "Mine." in told
    assert told.endswith("## Repository\n\n/srv/shop\n\n## Executor\n\ncodex\n")
