"""What counts as a step's text, and so is never changed unseen."""

from __future__ import annotations

import hashlib

import pytest

from qrspi.core.pipeline import subject_of
from qrspi.core.records import step_text
from qrspi.core.tree import MemoryTree

PLAN = b"---\nstatus: draft\nowner: ada\n---\n\n# Plan\n"
TASK = b"---\nstatus: draft\nallowed_files: [a.py]\n---\n\n# Task\n"


def hashed(plan: bytes = PLAN, task: bytes = TASK, name: str = "task-01") -> str:
    files = {"plan.md": plan, f"tasks/{name}.md": task}
    return step_text.body_hash(MemoryTree(files), subject_of("plan"))


@pytest.mark.rule("SEC-16")
@pytest.mark.parametrize(
    "plan",
    [
        PLAN.replace(b"draft", b"approved"),
        PLAN.replace(b"status: draft", b'"status": "replan-draft"'),
        PLAN.replace(b"status: draft\n", b""),
        PLAN.replace(b"owner", b"phase_start_commit: 0a1b2c\nfeature_branch: 'qrspi/a'\nowner"),
        PLAN.replace(b"owner", b"quality_verdict: PASS hash=1a @2026-05-17T09:30:00Z v1\nowner"),
        PLAN.replace(b"\n", b"\r\n"),
        PLAN.replace(b"ada\n", b"ada  \n"),
    ],
)
def test_what_the_engine_sets_and_white_space_do_not_count(plan: bytes) -> None:
    assert hashed(plan) == hashed()


@pytest.mark.rule("SEC-16")
@pytest.mark.parametrize(
    "plan",
    [
        PLAN.replace(b"ada", b"bob"),
        PLAN.replace(b"owner: ada\n", b""),
        PLAN.replace(b"owner", b"constraints: none\nowner"),
        PLAN.replace(b"owner", b"# do as you like\nowner"),
        PLAN.replace(b"draft", b"draft # do as you like"),
        PLAN.replace(b"draft", b"draft\n  and do as you like"),
        PLAN.replace(b"status: draft", b"status: |\n  do as you like"),
        PLAN.replace(b"# Plan", b"# Another plan"),
    ],
)
def test_everything_else_in_a_file_counts(plan: bytes) -> None:
    assert hashed(plan) != hashed()


@pytest.mark.rule("SEC-16")
def test_names_and_frontmatter_of_companions_count() -> None:
    assert hashed(name="task-02") != hashed()
    assert hashed(task=TASK.replace(b"a.py", b"b.py")) != hashed()
    assert hashed(task=TASK.replace(b"draft", b"approved")) == hashed()


@pytest.mark.rule("SEC-16")
def test_a_file_without_frontmatter_may_be_given_a_status() -> None:
    assert hashed(b"---\nstatus: approved\n---\n# Plan\n") == hashed(b"# Plan\n")


@pytest.mark.rule("SEC-16")
@pytest.mark.parametrize("word", [b"approved", b'"approved"'])
def test_fields_in_braces_are_told_apart_too(word: bytes) -> None:
    braces = b"---\n{status: draft, owner: ada}\n---\n# Plan\n"
    assert hashed(braces.replace(b"draft", word)) == hashed(braces)
    assert hashed(braces.replace(b"ada", b"bob")) != hashed(braces)


@pytest.mark.rule("SEC-16")
def test_a_hash_of_the_bodies_alone_vouches_for_nothing() -> None:
    """It is told apart from one of another text, as far as bodies go."""
    old = hashlib.sha256(b"\n# Plan\n\0\n# Task\n").hexdigest()
    for plan, same in ((PLAN, True), (PLAN.replace(b"ada", b"bob"), True), (PLAN + b"x", False)):
        tree = MemoryTree({"plan.md": plan, "tasks/task-01.md": TASK})
        assert not step_text.is_unchanged(tree, subject_of("plan"), old)
        assert step_text.only_body_is_known(tree, subject_of("plan"), old) is same
        assert step_text.may_be_unchanged(tree, subject_of("plan"), old) is same
    assert not step_text.only_body_is_known(tree, subject_of("plan"), hashed())


@pytest.mark.rule("SEC-16")
def test_no_text_is_nobodys_text() -> None:
    tree = MemoryTree({"tasks/task-01.md": TASK})
    assert step_text.body_hash(tree, subject_of("plan")) == ""
    assert not step_text.is_unchanged(tree, subject_of("plan"), hashed())


@pytest.mark.rule("SEC-16")
@pytest.mark.parametrize("plan", [PLAN, PLAN + b"More \t\r\n", PLAN.replace(b"\n", b"\r\n")])
def test_a_text_is_unchanged_when_its_hash_is(plan: bytes) -> None:
    tree = MemoryTree({"plan.md": plan, "tasks/task-01.md": TASK})
    known = hashed(plan)
    assert step_text.is_unchanged(tree, subject_of("plan"), known)
    other = MemoryTree({"plan.md": plan + b"x", "tasks/task-01.md": TASK})
    assert not step_text.is_unchanged(other, subject_of("plan"), known)
