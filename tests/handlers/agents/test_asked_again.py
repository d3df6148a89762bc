"""Whoever is asked again is told why the last answer was not taken, whatever its role."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.filenames import prompt_file
from qrspi.handlers.agents import awaited_agents
from qrspi.handlers.agents.fan_out import FanOut
from tests import runs
from tests.handlers.shop import Shop, at_questions, commands, in_review
from tests.markers import named_only

AGAIN = "An earlier answer of yours was not taken; `rejected` below lists every reason."
CORRECT = (
    "What was handed in is on record already, and cannot go on as it stands: `rejected` below "
    "lists every reason. Correct what is named there, and keep the rest."
)
GOOD = "---\nstatus: draft\n---\n# Questions\n\n1. [codebase] Where are users kept?\n"
HEAD = "---\nstatus: draft\n---\n"
HALF = "---\nstatus: draft\n# Questions\n"


def answering(shop: Shop, text: str) -> FanOut:
    """What comes of one fan-out when the agent prints this."""
    (shop.root.parent / "answer").write_text(text)
    shop.agent(f"cat > /dev/null; cat {shop.root.parent}/answer")
    return shop.sent(folder=False)


def prompt(shop: Shop) -> str:
    (asked,) = shop.next().state.next.asks
    return shop.read(prompt_file(asked))


@pytest.mark.rule("LIV-18")
def test_an_author_is_told_what_was_wrong_with_what_it_printed(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    first = prompt(shop)
    (failure,) = answering(shop, HALF).failures
    told = prompt(shop)
    assert AGAIN not in first and AGAIN in told
    assert failure.message.removeprefix("author: ") in told
    (waiting,) = awaited_agents.line(shop.workspace())
    assert waiting.state == "failed" and waiting.problem in told


@pytest.mark.rule("LIV-18")
def test_what_was_wrong_with_another_answer_is_not_told(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    shop.next()
    answering(shop, HALF)
    assert AGAIN in prompt(shop)
    shop.write("goals.md", runs.artifact("approved", "# Goals\n\n## G1 Another\n\nOf its own.\n"))
    assert AGAIN not in prompt(shop)
    (waiting,) = awaited_agents.line(shop.workspace())
    assert (waiting.state, waiting.problem) == ("pending", "")


@pytest.mark.rule("LIV-18", "PRM-07")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "Certainly! Here are my questions: where is the ledger?",
            "reply: found 'Certainly! Here are my questions: where is the ledger?' at its "
            "beginning, expected a line `---`, then `status: draft`",
        ),
        (
            "null",
            "reply: found 'null' at its beginning, expected a line `---`, then `status: draft`",
        ),
        (
            f"{HEAD}Certainly! Where is the ledger?",
            "questions.md has no question; expected a list such as `1. [codebase] Which modules "
            "…?`",
        ),
    ],
)
def test_an_answer_that_is_no_text_of_the_step_writes_nothing(
    text: str, why: str, tmp_path: Path
) -> None:
    shop = at_questions(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    (failure,) = answering(shop, text).failures
    assert failure.message == f"author: {why}"
    assert not (shop.run / "questions.md").exists()
    assert AGAIN in prompt(shop) and why in prompt(shop)
    assert answering(shop, GOOD).failures == ()
    assert shop.next().performed[0].handler == "prepare-round"


@pytest.mark.rule("LIV-18")
def test_who_wrote_a_file_without_its_form_is_told_and_its_next_text_goes_on(
    tmp_path: Path,
) -> None:
    shop = at_questions(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    shop.write("questions.md", f"{HEAD}Certainly! Where is the ledger?\n")
    told, answer = prompt(shop), shop.next().state.next
    why = "questions.md has no question; expected a list such as `1. [codebase] Which modules …?`"
    assert (answer.who, answer.kind, answer.because) == ("agent", "form", (why,))
    assert CORRECT in told and AGAIN not in told and f"- {why}" in told
    assert answering(shop, GOOD).failures == ()
    assert shop.read("questions.md") == GOOD


@pytest.mark.rule("LIV-18")
def test_an_empty_answer_to_a_question_is_asked_for_again(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    shop.write("questions.md", GOOD.replace("draft", "approved"))
    answer = "research/q01-codebase.md"
    shop.write(answer, HEAD)
    assert shop.next().state.next.missing == (answer,)
    shop.write(answer, f"{HEAD}# Q01\n\nIn users.py:L3.\n")
    shop.write("research/summary.md", HEAD)
    assert shop.next().state.next.because == (
        "research/summary.md has no text; expected what was found, or that nothing was",
    )


@pytest.mark.rule("LIV-18", "MAN-02")
def test_the_reasons_stay_until_an_answer_is_taken_and_not_longer(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    answering(shop, HALF)
    answering(shop, HALF)
    assert AGAIN in prompt(shop)
    assert answering(shop, GOOD).failures == ()
    record = shop.dispatch("questions/author")
    assert (record["state"], record["rejected"]) == ("taken", "")


@pytest.mark.rule("LIV-18")
def test_a_reviewer_is_told_what_was_wrong_with_what_it_printed(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    shop.next()
    shop.write("reviews/design/round-01/scope-claude.clean.md", runs.clean("scope-claude"))
    (failure,) = answering(shop, "Looks fine to me.\n").failures
    told = prompt(shop)
    assert AGAIN in told and failure.message.removeprefix("quality-claude: ") in told


@pytest.mark.rule("LIV-17", "LIV-18")
def test_the_author_of_a_plan_without_its_tasks_is_told_so(tmp_path: Path) -> None:
    plan = "# Plan\n\n## Tasks\n\n| Task | Title |\n|---|---|\n| task-01 | One |\n"
    before = runs.approved("goals", "questions", "research")
    files = {"config.md": runs.config("quick"), **before, "plan.md": runs.artifact("draft", plan)}
    shop = Shop(tmp_path / "shop", files)
    told = prompt(shop)
    answer = shop.next().state.next
    assert (answer.action, answer.kind) == ("blocked", "plan-tasks")
    assert f"\nexisting_paths:\n{shop.run}/plan.md\n" in told and AGAIN not in told
    assert CORRECT in told and all(f"- {reason}" in told for reason in answer.because)


@pytest.mark.rule("LIV-18")
def test_a_fixer_is_told_what_was_wrong_with_its_record(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.next()
    place = "reviews/design/round-01"
    found = runs.finding(step="design", cites="design.md:L7")
    shop.write(f"{place}/quality-claude.finding-F01.md", found)
    shop.write(f"{place}/quality-claude.finding-F01.score.yml", runs.score(95))
    shop.write(f"{place}/scope-claude.clean.md", runs.clean("scope-claude"))
    assert AGAIN not in prompt(shop)
    shop.write("reviews/design/round-01-dispositions.md", "- a line\n" * 40)
    told = prompt(shop)
    answer = shop.next().state.next
    assert (answer.action, answer.kind) == ("blocked", "dispositions")
    assert CORRECT in told and AGAIN not in told
    assert all(f"- {reason}" in told for reason in answer.because)


@pytest.mark.rule("LIV-18", "PRM-07")
def test_a_fixer_that_opens_no_files_is_shown_the_record_that_it_corrects(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    shop.next()
    place = "reviews/design/round-01"
    found = runs.finding(step="design", cites="design.md:L7")
    shop.write(f"{place}/quality-claude.finding-F01.md", found)
    shop.write(f"{place}/quality-claude.finding-F01.score.yml", runs.score(95))
    shop.write(f"{place}/scope-claude.clean.md", runs.clean("scope-claude"))
    assert "- a line" not in prompt(shop)
    shop.write(f"{place}-dispositions.md", "- a line\n" * 40)
    told = named_only(prompt(shop))
    assert f"START id={place}-dispositions.md>>>\n- a line\n" in told
