"""Research: one author per question, then one for the summary; and how well they are sourced."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrspi.core.agents.roles import Role
from qrspi.core.filenames import prompt_file
from qrspi.handlers.agents import prompt_parameters
from qrspi.handlers.agents.prompt_parameters import Agent
from qrspi.handlers.changes import change_set
from qrspi.handlers.decisions import approve, comment, decide_findings, reject, rewind
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs import role_files
from tests import runs
from tests.handlers.refusals import refusal
from tests.handlers.shop import NOTHING, Shop
from tests.markers import named_only
from tests.project import trap

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
def test_each_question_in_the_budget_has_a_prompt_and_the_rest_is_listed(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, question_budget="2")
    answer = shop.next().state.next
    assert answer.action == "author"
    assert answer.missing == ("research/q01-codebase.md", "research/q02-web.md")
    assert tuple(map(prompt_file, answer.asks)) == (
        ".qrspi/dispatch/research/q01-codebase.md",
        ".qrspi/dispatch/research/q02-web.md",
    )
    assert answer.because == (
        "research/summary.md does not exist",
        "2 questions have no answer yet",
        "not dispatched, as question_budget in config.md is used up: q03-codebase",
    )
    prompt = named_only(shop.read(prompt_file(answer.asks[0])))
    assert "\nWhere are users kept?\n<<<UNTRUSTED-ARTIFACT-END id=q01-codebase>>>\n" in prompt
    assert "Who calls it?" not in prompt


@pytest.mark.rule("DSR-01")
def test_of_one_question_nothing_is_said_as_of_many(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    answer = shop.next().state.next
    assert answer.because[1] == "1 question has no answer yet"
    assert answer.summary == (
        "Answer 1 question of questions.md, in research/q01-codebase.md, then run `qrspi next "
        f"{shop.run.name}`. `qrspi prompt {shop.run.name} q01-codebase` prints what to tell an "
        f"agent; `qrspi submit artifact FILE {shop.run.name} research --name q01-codebase` takes "
        "in what it prints."
    )


@pytest.mark.rule("DSR-01", "PRM-07")
@pytest.mark.parametrize("answered", [False, True])
def test_no_researcher_learns_what_the_facts_are_for(tmp_path: Path, answered: bool) -> None:
    shop = shop_for(tmp_path, "full")
    for name in ("q01-codebase", "q02-web", "q03-codebase") if answered else ():
        shop.write(f"research/{name}.md", SOURCED)
    (asked, *_) = shop.next().state.next.asks
    prompt = shop.read(prompt_file(asked))
    assert shop.run.name not in prompt and str(shop.run) not in prompt
    assert "goals.md" not in prompt
    assert ("Users are in app/users.py:L3" in prompt) is answered
    assert "Print your text and nothing else; write no file." in prompt


TOGETHER = runs.artifact(
    "approved",
    "# Questions\n\n1. [codebase] Where are users kept?\n2. [web] What is the standard?\n"
    "3. [codebase, with Q1] Who calls it?\n",
)
PARTS = (
    "---\nstatus: draft\nquestion_ids: [Q1, Q2]\n---\n# Q1, Q3\n\n"
    "## Q1 Where are users kept?\n\n### Summary\n\nIn app/users.py:L3 [1].\n\n"
    "## Q3 Who calls it?\n\n### Summary\n\nNobody but app/web.py:L8 [2].\n"
)


@pytest.mark.rule("DSR-01")
def test_several_questions_are_asked_and_answered_at_once(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    shop.write("questions.md", TOGETHER)
    answer = shop.next().state.next
    assert [ask.target for ask in answer.asks] == ["q01-codebase", "q02-web"]
    assert answer.summary.startswith(
        "Answer 3 questions of questions.md, each in a file (research/q01-codebase.md for Q1 and "
        "Q3, research/q02-web.md), then run "
    )
    assert answer.because[-1] == "3 questions have no answer yet"
    told = [named_only(shop.read(prompt_file(ask))) for ask in answer.asks]
    words = ("Where are users kept?", "What is the standard?", "Who calls it?")
    assert [[word in one for word in words] for one in told] == [
        [True, False, True],
        [False, True, False],
    ]
    assert "\nquestion_ids: q01-codebase, q03-codebase\n" in told[0]
    for name, text in (("q01-codebase", PARTS), ("q02-web", SOURCED), ("author", SOURCED)):
        shop.reply(f"{name}.md", text)
    shop.reply("quality-claude.md", NOTHING)
    assert shop.driven().failures == ()
    assert "\nquestion_ids: [Q1, Q3]\n" in shop.read("research/q01-codebase.md")
    assert not (shop.run / "research/q03-codebase.md").exists()


@pytest.mark.rule("DSR-01", "LIV-18")
def test_an_answer_without_one_of_its_questions_is_asked_for_again(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    shop.write("questions.md", TOGETHER)
    shop.reply("q01-codebase.md", PARTS.replace("## Q3", "## Q2"))
    shop.reply("q02-web.md", SOURCED)
    (failure,) = shop.sent().failures
    why = (
        "research/q01-codebase.md has no summary of Q3; expected `## Q3`, and text below its "
        "`### Summary`"
    )
    assert failure.message == f"q01-codebase: {why}"
    (asked,) = shop.next().state.next.asks
    assert f"\n- {why}\n" in named_only(shop.read(prompt_file(asked)))


@pytest.mark.rule("DSR-01", "LIV-22")
def test_an_answer_for_several_that_is_sent_back_is_asked_for_whole(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    shop.write("questions.md", TOGETHER)
    for name, text in (("q01-codebase", PARTS), ("q02-web", SOURCED), ("author", SOURCED)):
        shop.reply(f"{name}.md", text)
    shop.reply("quality-claude.md", NOTHING)
    assert shop.driven().failures == ()
    with change_set.deciding(shop.workspace(), Options(), "reject") as job:
        change_set.carry_out(job, reject.plan(job, "research", b"Q3 is thin."))
    (asked,) = shop.next().state.next.asks
    assert asked.target == "q01-codebase"
    prompt = named_only(shop.read(prompt_file(asked)))
    assert "Q3 is thin." in prompt and "Nobody but app/web.py:L8" in prompt
    assert "\nquestion_ids: q01-codebase, q03-codebase\n" in prompt


TELLING = ("umbrellas", "goals.md", "request.md")


def research_prompts(shop: Shop) -> Iterator[tuple[str, str]]:
    """Of everybody who works on facts, from the first question to a second round."""
    shop.write("goals.md", runs.artifact("approved", "# Goals\n\nSell umbrellas by post.\n"))
    shop.write("request.md", "Umbrellas, please.\n")
    yield from awaited(shop)
    for name in ("q01-codebase", "q02-web", "q03-codebase"):
        shop.write(f"research/{name}.md", SOURCED)
    yield from awaited(shop)
    shop.write("research/summary.md", SOURCED)
    yield from awaited(shop)
    found = runs.finding(step="research", cites="research/summary.md:L6")
    shop.write("reviews/research/round-01/quality-claude.finding-F01.md", found)
    yield from awaited(shop)
    shop.write("reviews/research/round-01/quality-claude.finding-F01.score.yml", runs.score(95))
    yield from awaited(shop)
    shop.write("research/summary.md", SOURCED.replace("nowhere else", "in no other place"))
    done = b"---\nround: 1\nartifact: research\n---\n- quality-claude.R1-F01: applied. L6\n"
    shop.write("reviews/research/round-01-dispositions.md", done)
    yield from awaited(shop)


def awaited(shop: Shop) -> Iterator[tuple[str, str]]:
    for ask in shop.next().state.next.asks:
        yield f"{ask.kind} {ask.round} {ask.target}".strip(), shop.read(prompt_file(ask))


@pytest.mark.rule("DSR-01", "PRM-07")
@pytest.mark.parametrize("prints", [False, True])
def test_no_prompt_about_facts_tells_what_they_are_wanted_for(tmp_path: Path, prints: bool) -> None:
    agent = f"{{claude: {{argv: ['{tmp_path}/agent']}}}}"
    more = {"commands": agent} if prints else {}
    shop = shop_for(tmp_path, "full", **more)
    told = dict(research_prompts(shop))
    assert list(told) == [
        "research-question 0 q01-codebase",
        "research-question 0 q02-web",
        "research-question 0 q03-codebase",
        "author 0",
        "review 1 quality-claude",
        "verify 1 quality-claude.finding-F01",
        "fix 1",
        "review 2 quality-claude",
    ]
    for name, prompt in told.items():
        given = prompt.partition("\n# Parameters\n")[2]
        assert [word for word in (*TELLING, "_path:") if word in given] == [], name
        assert shop.run.name not in prompt and str(shop.root) not in prompt, name
    assert "What is the standard?" not in told["research-question 0 q01-codebase"]
    later = told["review 2 quality-claude"]
    assert (
        "`since-diff` below" in later and "+Users are in app/users.py:L3 and in no other" in later
    )
    assert "a/research/summary.md" in later and "START id=diff-" not in later


CANARY = "zeppelin"
SAYS_ALL = """n=$(mktemp {out}/XXXXXX)
{{ cat; echo; env; pwd; echo "$@"; }} > $n
cat {out}.answer"""


def told_of_facts(shop: Shop, tmp_path: Path, answer: str) -> list[str]:
    """All that agents can see without looking for it: stdin, environment, place, arguments."""
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    (tmp_path / "out.answer").write_text(answer)
    trap(tmp_path / "agent", SAYS_ALL.format(out=out))
    shop.next()
    shop.sent(folder=False)
    return [file.read_text() for file in out.iterdir()]


@pytest.mark.rule("DSR-01", "PRM-07")
def test_nothing_that_reaches_an_agent_tells_the_feature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"2026-05-17-{CANARY}-by-post"
    home = tmp_path / "shop" / "docs" / "qrspi"
    shop = shop_for(tmp_path, "full", commands=f"{{claude: {{argv: ['{tmp_path}/agent']}}}}")
    shop.run = (home / runs.RUN).rename(home / name)
    shop.write("goals.md", runs.artifact("approved", f"# Goals\n\nA {CANARY}.\n"))
    shop.write("request.md", f"A {CANARY}, please.\n")
    shop.write("feedback/goals-round-01.md", f"No, a {CANARY}!\n")
    shop.git("checkout", "-q", "-b", f"qrspi/{CANARY}-by-post")
    shop.commit("approved")
    for variable in ("PWD", "OLDPWD", "QRSPI_ROOT"):
        monkeypatch.setenv(variable, str(shop.run))
    monkeypatch.setenv("CI_BRANCH", f"qrspi/{CANARY}-by-post")
    answers = (SOURCED, SOURCED, "no form\n", "no form\n")
    seen = [text for answer in answers for text in told_of_facts(shop, tmp_path, answer)]
    parts = ("# Researcher of", "# Author of the research", "# Quality rev", "An earlier answer")
    assert [part for part in parts if not any(part in text for text in seen)] == []
    assert [line for text in seen for line in text.splitlines() if CANARY in line.lower()] == []


SNOOP = """cat > /dev/null
{{ pwd; git -C . log --format=%s; grep -ril {canary} .; ls; }} >> {out} 2>&1
cat {out}.answer"""


@pytest.mark.rule("DSR-01")
def test_the_wrapper_of_the_documentation_keeps_runs_from_researchers(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "dispatch.md"
    script = page.read_text().partition("```sh\n#!/bin/sh\n")[2].partition("```")[0]
    assert script.count("claude --setting-sources user -p") == 2
    place = tmp_path / "wrapper"
    trap(place, script.replace("claude --setting-sources user -p", f"{tmp_path}/agent"))
    out = tmp_path / "out"
    (tmp_path / "out.answer").write_text(SOURCED)
    trap(tmp_path / "agent", SNOOP.format(canary=CANARY, out=out))
    shop = shop_for(tmp_path, "full", commands=f"{{claude: {{argv: ['{place}']}}}}")
    shop.write("goals.md", runs.artifact("approved", f"# Goals\n\nA {CANARY}.\n"))
    (shop.root / "app.py").write_text("users = []\n")
    shop.commit(f"Sell a {CANARY}")
    shop.next()
    assert shop.sent(folder=False).failures == ()
    seen = out.read_text()
    assert "app.py" in seen and shop.read("research/q01-codebase.md") == SOURCED
    assert [word for word in (CANARY, "docs", str(shop.root)) if word in seen.lower()] == []
    assert not Path(seen.splitlines()[0]).exists()


@pytest.mark.rule("DSR-01", "PRM-07")
def test_what_commands_print_of_a_researchers_prompt_tells_nothing(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    shop.next()
    qrspi = [sys.executable, "-m", "qrspi", "prompt", shop.run.name, "q01-codebase"]
    printed, asked = (
        subprocess.run([*qrspi, *more], cwd=shop.root, capture_output=True, text=True, check=True)
        for more in ((), ("--json",))
    )
    prompt = shop.read(".qrspi/dispatch/research/q01-codebase.md")
    assert (printed.stdout, json.loads(asked.stdout)["prompt"]) == (prompt, prompt)
    assert shop.run.name not in prompt


def reviewed_research(shop: Shop) -> None:
    for name in ("q01-codebase", "q02-web", "q03-codebase", "author"):
        shop.reply(f"{name}.md", SOURCED)
    shop.reply("quality-claude.md", NOTHING)
    assert shop.driven().failures == ()


def rejected(shop: Shop, words: bytes) -> None:
    with change_set.deciding(shop.workspace(), Options(), "reject") as job:
        change_set.carry_out(job, reject.plan(job, "research", words))


@pytest.mark.rule("DSR-01", "LIV-22")
def test_a_researcher_hears_what_is_said_of_its_own_question_alone(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    reviewed_research(shop)
    rejected(shop, b"Much too late.\n\nQ1 lacks the tests.\n\nFor Q2, the newer standard.\n")
    asked = shop.next().state.next.asks
    told = {ask.target: shop.read(prompt_file(ask)) for ask in asked}
    words = ("Much too late.", "Q1 lacks the tests.", "For Q2, the newer standard.")
    assert {name: [one in text for one in words] for name, text in told.items()} == {
        "q01-codebase": [False, True, False],
        "q02-web": [False, False, True],
    }
    assert all("People have spoken about this text" in text for text in told.values())


@pytest.mark.rule("DSR-01")
def test_whoever_is_asked_for_the_first_time_hears_nothing_of_others(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    reviewed_research(shop)
    rejected(shop, b"Q1 lacks the tests.")
    more = QUESTIONS + b"4. [web] Who else has it?\n"
    shop.write("questions.md", more)
    told = {ask.target: shop.read(prompt_file(ask)) for ask in shop.next().state.next.asks}
    assert {name: "lacks the tests" in text for name, text in told.items()} == {
        "q01-codebase": True,
        "q04-web": False,
    }
    assert "People have spoken" not in told["q04-web"]


@pytest.mark.rule("DSR-01", "LIV-22")
def test_whoever_is_asked_another_question_is_not_shown_the_answer_to_the_old_one(
    tmp_path: Path,
) -> None:
    shop = shop_for(tmp_path, "full")
    reviewed_research(shop)
    shop.make(lambda job: approve.plan(job, "research", Consent()))
    with change_set.deciding(shop.workspace(), Options(), "rewind") as job:
        change_set.carry_out(job, rewind.plan(job, "questions", words=b"Ask for groups."))
    shop.write("questions.md", QUESTIONS.replace(b"users kept", b"groups kept"))
    (asked,) = shop.next().state.next.asks
    told = shop.read(prompt_file(asked))
    assert "Where are groups kept?" in told and "in app/users.py:L3" not in told


GOAL = "The members shall be able to rent blue umbrellas by post all year."


@pytest.mark.rule("DSR-01", "LIV-02")
def test_words_that_tell_the_goals_are_not_said_to_researchers(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    shop.write("goals.md", runs.artifact("approved", f"# Goals\n\n## G1 Rent\n\n{GOAL}\n"))
    reviewed_research(shop)
    run = shop.run.name
    problem = refusal(lambda: rejected(shop, f"Q1: {GOAL}".encode())).problem
    assert problem.message.startswith(
        'the message repeats words of goals.md ("the members shall be able to rent blue"), and '
    )
    assert problem.hint == f"qrspi reject {run} research -m TEXT"
    shop.make(lambda job: approve.plan(job, "research", Consent()))
    with change_set.deciding(shop.workspace(), Options(), "rewind") as job:
        problem = refusal(lambda: rewind.plan(job, "research", words=GOAL.encode())).problem
    assert problem.hint == f"qrspi rewind {run} --to research -m TEXT"


@pytest.mark.rule("DSR-01", "LIV-02")
def test_words_that_tell_the_goals_are_not_said_to_the_fixer_of_research(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    shop.write("goals.md", runs.artifact("approved", f"# Goals\n\n## G1 Rent\n\n{GOAL}\n"))
    for name in ("q01-codebase", "q02-web", "q03-codebase", "summary"):
        shop.write(f"research/{name}.md", SOURCED)
    shop.next()
    found = runs.finding(step="research", kind="scope", cites="research/summary.md:L6")
    place = "reviews/research/round-01/quality-claude.finding-F01"
    shop.write(f"{place}.md", found)
    shop.write(f"{place}.score.yml", runs.score(95))
    shop.next()
    name = "quality-claude.R1-F01"

    def decided(note: str) -> None:
        shop.make(lambda job: decide_findings.plan(job, [name], "apply", note=note))

    problem = refusal(lambda: decided(GOAL)).problem
    assert problem.hint == f"qrspi decide {shop.run.name} {name} apply -m TEXT"
    decided("Only those of the standard.")
    (asked,) = shop.next().state.next.asks
    assert "Only those of the standard." in shop.read(prompt_file(asked))


@pytest.mark.rule("DSR-01", "PPL-02")
def test_a_comment_on_facts_does_not_tell_the_goals_to_whoever_reads_it(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    shop.write("goals.md", runs.artifact("approved", f"# Goals\n\n## G1 Rent\n\n{GOAL}\n"))
    reviewed_research(shop)
    place = "research/summary.md:L6"
    problem = refusal(lambda: shop.make(lambda job: comment.make(job, place, GOAL))).problem
    assert (problem.code, problem.hint) == (
        "goal-in-research",
        f"qrspi comment {shop.run.name} {place} -m TEXT",
    )
    shop.make(lambda job: comment.make(job, "questions.md:L5", GOAL))  # its author knows the goals
    shop.make(lambda job: comment.make(job, place, "Which line of it?"))
    rejected(shop, b"Much too long.")
    (asked,) = shop.next().state.next.asks
    assert "Which line of it?" in shop.read(prompt_file(asked))


@pytest.mark.rule("DSR-01")
def test_on_the_full_route_every_question_is_asked(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    answer = shop.next().state.next
    assert len(answer.asks) == 3


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
    assert shop.subjects() == [
        "docs(qrspi): review round 01 of research for user-auth",
        "docs(qrspi): draft research for user-auth",
        "start",
    ]
    assert shop.git("status", "--porcelain", "--", "docs/qrspi/*/research") == ""


def trusting(shop: Shop, model: str = "{ vendor: claude, model: trusted }") -> None:
    """The role names a model of its own."""
    shipped = role_files.shipped("author-research-question")
    text = getattr(shipped, "text", "")
    front = f"---\nname: author-research-question\ntier: medium\nmodel: {model}\n---\n"
    shop.write(".qrspi/agents/author-research-question.md", f"{front}{text}\n")


@pytest.mark.rule("VLD-01")
def test_a_badly_sourced_answer_is_asked_of_the_trusted_model_too(tmp_path: Path) -> None:
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


@pytest.mark.rule("VLD-01", "LIV-02")
def test_without_a_trusted_model_it_halts_and_the_answer_is_paid_for_once(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    shop.reply("q01-codebase.md", BARE)
    (failure,) = shop.sent().failures
    assert failure.code == "no-trusted-model"
    assert failure.message.startswith(
        "q01-codebase: badly sourced (0 references in 57 words, below 0.05), and "
        "there is no trusted model to ask again: the role author-research-question ("
    )
    again, accept, _ = failure.options
    assert again == f"Send it again: qrspi next {shop.run.name} --dispatch"
    assert accept.endswith(
        f": qrspi config set {shop.run.name} validators.citation_density_floor 0"
    )
    assert not (shop.run / "research").exists()
    assert [one["outcome"] for one in shop.ledger()] == ["done"]
    shop.write(
        "config.md",
        runs.config("quick", question_budget="1", validators="{citation_density_floor: 0}"),
    )
    (shop.replies / "q01-codebase.md").unlink()
    assert shop.sent().failures == ()
    assert shop.read("research/q01-codebase.md") == BARE.strip() + "\n"
    assert len(shop.ledger()) == 1


@pytest.mark.rule("VLD-01", "LIV-18")
def test_without_a_trusted_model_the_same_command_sends_it_again(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    shop.reply("q01-codebase.md", BARE)
    shop.sent()
    record = shop.dispatch("research/q01-codebase")
    said = "badly sourced (0 references in 57 words, below 0.05)"
    assert (record["state"], record["problem"]) == ("failed", said)
    (asked,) = shop.next().state.next.asks
    assert f"\n- {said}\n" in named_only(shop.read(prompt_file(asked)))
    shop.reply("q01-codebase.md", SOURCED)
    assert shop.sent().failures == ()
    assert shop.read("research/q01-codebase.md") == SOURCED
    assert len(shop.ledger()) == 2


@pytest.mark.rule("VLD-01", "MAN-02")
def test_a_trusted_model_that_is_named_later_is_asked_with_the_first_answer_kept(
    tmp_path: Path,
) -> None:
    shop = shop_for(tmp_path, question_budget="1")
    shop.reply("q01-codebase.md", BARE)
    shop.sent()
    trusting(shop)
    (shop.replies / "q01-codebase.md").unlink()
    shop.reply("q01-codebase-again.md", SOURCED)
    assert shop.sent().failures == ()
    assert shop.read("research/q01-codebase.md") == SOURCED
    assert [one["name"] for one in shop.ledger()] == ["q01-codebase", "q01-codebase-again"]


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
    shop.reply("author.md", "---\n---\n# Design\n\nWords without any source at all.\n")
    assert shop.sent().failures == ()


@pytest.mark.rule("LIV-22")
def test_rejected_research_asks_again_what_the_feedback_names(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, "full")
    for name in ("q01-codebase", "q02-web", "q03-codebase", "author"):
        shop.reply(f"{name}.md", SOURCED)
    shop.reply("quality-claude.md", NOTHING)
    assert shop.driven().failures == ()
    words = b"Look at the newer standard for question 2, and Q99."
    with change_set.deciding(shop.workspace(), Options(), "reject") as job:
        change_set.carry_out(job, reject.plan(job, "research", words))
    answer = shop.next().state.next
    feedback = "feedback/research-round-01.md"
    assert answer.missing == ("research/q02-web.md",)
    assert answer.inputs == ("questions.md", feedback)
    assert answer.because[-1] == ("the feedback names q02-web, and the answer is still what it was")
    prompt = shop.read(prompt_file(answer.asks[0]))
    assert "\n## User Feedback\n\nLook at the newer standard" in prompt
    role = role_files.shipped("author-research-question")
    assert isinstance(role, Role)
    job = change_set.look(shop.workspace(), Options())
    told = prompt_parameters.prompt(job, answer.asks[0], Agent(role, "middle", prints=True))
    assert "in app/users.py:L3" in told and "Look at the newer standard" in told
    newer = SOURCED.replace("nowhere else", "in the newer one")
    shop.reply("q02-web.md", newer)
    shop.reply("author.md", SOURCED.replace("nowhere else", "in the newer one too"))
    assert shop.driven().failures == ()
    assert shop.read("research/q02-web.md") == newer
    assert "in the newer one too" in shop.read("research/summary.md")
