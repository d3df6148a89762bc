"""What stands where in a prompt, and what is left out when there is nothing to say."""

from __future__ import annotations

import re

import pytest

from qrspi.core.agents import prompt_lines, prompt_orders
from qrspi.core.agents.prompt_lines import without_paths
from qrspi.core.agents.prompts import (
    Author,
    Fixer,
    Implementer,
    Reviewer,
    Source,
    Verifier,
    author_prompt,
    fixer_prompt,
    implementer_prompt,
    reviewer_prompt,
    verifier_prompt,
)
from qrspi.core.agents.roles import SHARED, Role

PARTS = {name: f"[{name}]" for name in SHARED}
RUN = "/p/docs/qrspi/2026-01-01-sample-run"


def role(name: str) -> Role:
    return Role(name, "low", None, f"[{name}]\n## Step: task\n[on tasks]", f"/lib/{name}.md")


def text(name: str) -> tuple[Source, ...]:
    return (Source(name, b"x"),)


REVIEWER = Reviewer(
    role("reviewer-quality"), "quality-claude", "design", 2, f"{RUN}/r", text("body")
)
VERIFIER = Verifier(role("verifier"), "design", "", "a.R1-F01", f"{RUN}/f", f"{RUN}/s", f"{RUN}/a")
FIXER = Fixer(role("fixer"), "design", 1, RUN, f"{RUN}/a", f"{RUN}/v", f"{RUN}/d", (f"{RUN}/f",))
IMPLEMENTER = Implementer(
    role("implementer"), "task-01", RUN, f"{RUN}/t", "/w", "b", "0123abc", "report"
)


def labels(prompt: str) -> list[str]:
    """The names above the texts, in their order."""
    below = prompt.partition("\n# Parameters\n")[2]
    return re.findall(r"(?m)^([a-z_]+):\n(?=<<<UNTRUSTED-ARTIFACT-START)", below)


def this_time(prompt: str) -> str:
    return prompt.partition("# This time\n\n")[2].partition("\n# Parameters\n")[0]


@pytest.mark.rule("PRM-01", "LIV-18", "LIV-19")
def test_a_reviewer_reads_why_it_is_asked_again_before_the_text() -> None:
    given = REVIEWER._replace(
        rejected=("no line range",),
        earlier=text("earlier"),
        upstream=text("goals.md"),
        diffs=text("since-diff"),
    )
    assert labels(reviewer_prompt(given, PARTS)) == [
        "rejected",
        "artifact_body",
        "earlier_findings",
        "upstream",
        "diffs",
    ]
    assert labels(reviewer_prompt(REVIEWER, PARTS)) == ["artifact_body"]


@pytest.mark.rule("PRM-06", "LIV-20")
def test_a_verifier_elsewhere_is_given_the_diff_as_a_text() -> None:
    given = VERIFIER._replace(sources=text("finding"), diffs=text("diff"), rejected=("no score",))
    prompt = verifier_prompt(given, PARTS)
    assert labels(prompt) == ["rejected", "sources"]
    assert re.findall(r"START id=([a-z]+)-", prompt) == ["rejected", "finding", "diff"]


@pytest.mark.rule("LIV-20", "RTE-05")
def test_a_verifier_whose_model_nobody_knows_says_so() -> None:
    assert "\nverified_by: unknown\n" in verifier_prompt(VERIFIER, PARTS)
    assert "\nverified_by: small\n" in verifier_prompt(
        VERIFIER._replace(actual_model="small"), PARTS
    )


@pytest.mark.rule("LIV-20")
@pytest.mark.parametrize(
    ("step", "about_tasks"),
    [("task-01", True), ("ci-round-01/ci-command", True), ("design", False), ("test", False)],
)
def test_a_repair_is_reviewed_by_the_rules_of_a_task(step: str, about_tasks: bool) -> None:
    told = (
        reviewer_prompt(REVIEWER._replace(step=step), PARTS),
        verifier_prompt(VERIFIER._replace(step=step, rules=role("x").text), PARTS),
    )
    assert ["[on tasks]" in one for one in told] == [about_tasks, about_tasks]


@pytest.mark.rule("LIV-19")
@pytest.mark.parametrize(
    ("path", "names", "said"),
    [
        ("/r-since.diff", ("since-diff",), prompt_orders.SINCE),
        ("", ("diff", "since-diff"), prompt_orders.SINCE_BELOW),
        ("", ("diff",), ""),
    ],
)
def test_what_changed_is_named_where_it_is_given(
    path: str, names: tuple[str, ...], said: str
) -> None:
    diffs = tuple(Source(name, b"x") for name in names)
    told = this_time(reviewer_prompt(REVIEWER._replace(since_diff_path=path, diffs=diffs), PARTS))
    assert told.strip() == said


@pytest.mark.rule("LIV-19", "CNV-12")
def test_in_a_narrowed_round_no_diff_shows_all_of_the_text() -> None:
    given = REVIEWER._replace(since_diff_path="/r-since.diff", scope_hint=("## Approach",))
    told = this_time(reviewer_prompt(given, PARTS))
    assert prompt_orders.SINCE_NARROWED in told and "all of it" not in told


@pytest.mark.rule("PRM-07")
def test_who_works_elsewhere_is_told_so_and_given_no_path() -> None:
    author = Author(
        role("author-plan"),
        "plan",
        RUN,
        f"{RUN}/plan.md",
        (f"{RUN}/goals.md",),
        sources=text("goals.md"),
        prints=True,
        travels=True,
    )
    for prompt in (
        author_prompt(without_paths(author), PARTS),
        fixer_prompt(without_paths(FIXER._replace(travels=True)), PARTS),
        verifier_prompt(without_paths(VERIFIER._replace(travels=True)), PARTS),
        reviewer_prompt(without_paths(REVIEWER._replace(travels=True)), PARTS),
    ):
        assert "You work on another machine than the files of this task." in this_time(prompt)
        assert RUN not in prompt
    assert "another machine" not in author_prompt(author._replace(travels=False), PARTS)


@pytest.mark.rule("DSP-01")
def test_the_words_of_a_person_reach_whoever_applies_a_finding() -> None:
    for prompt in (
        fixer_prompt(FIXER._replace(decisions=text("decisions"), rejected=("long",)), PARTS),
        implementer_prompt(
            IMPLEMENTER._replace(decisions=text("decisions"), rejected=("long",)), PARTS
        ),
    ):
        assert prompt_orders.DECISIONS in this_time(prompt)
        assert labels(prompt) == ["decisions", "rejected"]
    assert prompt_orders.DECISIONS not in fixer_prompt(FIXER, PARTS)


@pytest.mark.rule("IMP-11", "LIV-20")
@pytest.mark.parametrize(
    ("task", "writer", "criteria", "order"),
    [
        ("task-01", "implementer", "task", prompt_orders.ORDER),
        ("task-01", "test-writer", "task", prompt_orders.TESTS_ORDER),
        ("ci-round-01/ci", "implementer", "task", prompt_orders.REPAIR_ORDER),
        ("test-round-01/acceptance-tests", "test-writer", "test", prompt_orders.REPAIR_ORDER),
    ],
)
def test_an_order_comes_before_all_else(task: str, writer: str, criteria: str, order: str) -> None:
    given = IMPLEMENTER._replace(
        role=role(writer),
        task=task,
        criteria_of=criteria,
        tests_commit="f00d",
        tests_seen="failed",
        blocked=text("blocked"),
        rejected=("no commit",),
    )
    told = this_time(implementer_prompt(given, PARTS)).strip().split("\n\n")
    assert [one.partition(" ")[0] for one in told] == ["One", "Its", "This", "Your"]
    assert told[0] == order


@pytest.mark.rule("PRM-02", "SEC-01")
@pytest.mark.parametrize(("length", "bare"), [(64, True), (65, False)])
def test_a_long_word_stands_between_markers(length: int, bare: bool) -> None:
    word = "a" * length
    assert (prompt_lines.line("task", word) == f"task: {word}") is bare
