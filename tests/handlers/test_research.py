"""Research: one author per question, then one for the summary; and how well they are sourced."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi import engine
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.handlers.shop import NOTHING, Shop

QUESTIONS = runs.artifact(
    "approved",
    "# Questions\n\n1. [codebase] Where are users kept?\n2. [web] What is the standard?\n"
    "3. [codebase] Who calls it?\n",
)
SOURCED = "---\nstatus: draft\n---\n# Q\n\nUsers are in app/users.py:L3 and nowhere else [1].\n"
BARE = "---\nstatus: draft\n---\n# Q\n\n" + "Users are kept somewhere in the application. " * 8


def shop_for(tmp_path: Path, pipeline: str = "quick", **more: str) -> Shop:
    files = {
        "config.md": runs.config(pipeline, **more),
        "goals.md": runs.artifact("approved"),
        "questions.md": QUESTIONS,
    }
    return Shop(tmp_path / "shop", files)


@pytest.mark.rule("DSR-01")
def test_each_question_within_the_budget_has_a_prompt_and_the_rest_is_listed(
    tmp_path: Path,
) -> None:
    shop = shop_for(tmp_path, question_budget="2")
    answer = engine.advance(Workspace(str(shop.run)), Options()).state.next
    assert answer.action == "author"
    assert answer.missing == ("research/q01-codebase.md", "research/q02-web.md")
    assert answer.prompts == (
        ".qrspi/dispatch/research/q01-codebase.md",
        ".qrspi/dispatch/research/q02-web.md",
    )
    assert answer.because == (
        "research/summary.md does not exist",
        "2 questions have no answer yet",
        "not dispatched, as question_budget in config.md is used up: q03-codebase",
    )
    prompt = shop.read(answer.prompts[0])
    assert f"\nartifact_path: {shop.run}/research/q01-codebase.md\n" in prompt
    assert "\nWhere are users kept?\n<<<UNTRUSTED-ARTIFACT-END id=q01-codebase>>>\n" in prompt
    assert "Who calls it?" not in prompt


@pytest.mark.rule("DSR-01")
def test_on_the_full_route_every_question_is_asked(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    answer = engine.advance(Workspace(str(shop.run)), Options()).state.next
    assert len(answer.prompts) == 3


@pytest.mark.rule("DSR-01", "PRM-07")
def test_answers_come_before_the_summary_and_are_committed_with_it(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    for name in ("q01-codebase", "q02-web", "q03-codebase", "author"):
        shop.reply(f"{name}.md", SOURCED)
    shop.reply("quality-claude.md", NOTHING)
    driven = shop.driven()
    assert driven.failures == ()
    authors = [one.files for one in driven.outcome.performed if one.handler == "dispatch-author"]
    assert [sorted(files) for files in authors] == [
        ["research/q01-codebase.md", "research/q02-web.md", "research/q03-codebase.md"],
        ["research/summary.md"],
    ]
    assert shop.subjects() == ["docs(qrspi): draft research for user-auth", "start"]
    assert shop.git("status", "--porcelain", "--", "docs/qrspi/*/research") == ""


def trusting(shop: Shop, model: str = "{ vendor: claude, model: trusted }") -> None:
    """The role names a model of its own."""
    from qrspi.world.runs import role_files as rolefiles

    shipped = rolefiles.shipped("author-research-question")
    text = getattr(shipped, "text", "")
    front = f"---\nname: author-research-question\ntier: medium\nmodel: {model}\n---\n"
    shop.write(".qrspi/agents/author-research-question.md", f"{front}{text}\n")


@pytest.mark.rule("VLD-01")
def test_a_badly_sourced_answer_is_asked_for_once_more_of_the_trusted_model(
    tmp_path: Path,
) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    trusting(shop)
    shop.reply("q01-codebase.md", BARE)
    shop.reply("q01-codebase-again.md", SOURCED)
    sent = shop.sent()
    assert sent.failures == ()
    assert shop.read("research/q01-codebase.md") == SOURCED
    assert sent.performed.notes == (
        "q01-codebase: 0 references in 57 words, below 0.05; asked again of trusted, whose answer "
        "replaces the first",
    )
    assert [(one["name"], one["model"]) for one in shop.ledger()] == [
        ("q01-codebase", "middle"),
        ("q01-codebase-again", "trusted"),
    ]


@pytest.mark.rule("VLD-01")
def test_the_second_answer_stands_however_it_is_sourced(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    trusting(shop)
    shop.reply("q01-codebase.md", BARE)
    shop.reply("q01-codebase-again.md", BARE.replace("somewhere", "anywhere"))
    assert shop.sent().failures == ()
    assert "anywhere" in shop.read("research/q01-codebase.md")
    assert len(shop.ledger()) == 2


@pytest.mark.rule("VLD-01")
def test_without_a_trusted_model_it_halts_and_the_answer_is_not_paid_for_again(
    tmp_path: Path,
) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    shop.reply("q01-codebase.md", BARE)
    (failure,) = shop.sent().failures
    assert failure.code == "no-trusted-model"
    assert failure.message.startswith(
        "q01-codebase: badly sourced (0 references in 57 words, below 0.05), and "
        "there is no trusted model to ask again: the role author-research-question ("
    )
    assert not (shop.run / "research").exists()
    shop.write(
        "config.md",
        runs.config("quick", question_budget="1", validators="{citation_density_floor: 0}"),
    )
    (shop.replies / "q01-codebase.md").unlink()
    assert shop.sent().failures == ()
    assert shop.read("research/q01-codebase.md") == BARE.strip() + "\n"
    assert len(shop.ledger()) == 1


@pytest.mark.rule("VLD-01")
def test_a_trusted_model_that_cannot_be_reached_is_none(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    shop = shop_for(tmp_path, question_budget="1", commands=f"{{claude: {{argv: ['{agent}']}}}}")
    shop.agent(f"cat > /dev/null; cat {tmp_path}/bare")
    (tmp_path / "bare").write_text(BARE)
    trusting(shop, "{ vendor: elsewhere, model: trusted }")
    (failure,) = shop.sent(folder=False).failures
    assert failure.message.endswith(
        "there is no trusted model to ask again: config.md has neither a command nor a provider "
        "for elsewhere"
    )


@pytest.mark.rule("VLD-01", "TRN-09")
def test_the_second_try_needs_room_in_the_budget_too(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    trusting(shop)
    shop.reply("q01-codebase.md", BARE)
    shop.reply("q01-codebase-again.md", SOURCED)
    sent = shop.sent(calls=1)
    assert sent.stopped
    assert (sent.stopped.code, sent.failures, len(shop.ledger())) == ("budget-calls", (), 1)
    (shop.replies / "q01-codebase.md").unlink()
    assert shop.sent().failures == ()
    assert len(shop.ledger()) == 2


@pytest.mark.rule("VLD-01")
def test_only_research_is_measured(tmp_path: Path) -> None:
    approved = runs.approved("goals", "questions", "research")
    shop = Shop(tmp_path / "shop", {"config.md": runs.config("full"), **approved})
    shop.reply("author.md", "# Design\n\n## Approach\n\nWords without any source at all.\n")
    assert shop.sent().failures == ()
