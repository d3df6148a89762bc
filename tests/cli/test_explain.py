from __future__ import annotations

from pathlib import Path

import pytest

from tests import runs, scenes
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal


@pytest.mark.rule("FM-07")
def test_the_reasons_and_the_files(project: Path, qrspi: Call) -> None:
    goals = runs.approved("goals") | runs.on_record("goals")
    runs.on_disk(project, {"config.md": runs.config("quick"), **goals})
    assert qrspi("explain") == (
        0,
        """\
2026-05-17-user-auth stands at questions

  - the route in config.md is goals, questions, research, plan, implement, test
  - approved: goals.md
  - questions.md is missing: the first of the route that is not approved
  - questions needs goals.md: all approved
  - questions.md does not exist

Next: Write questions.md, then run `qrspi next 2026-05-17-user-auth`. \
`qrspi prompt 2026-05-17-user-auth author` prints what to tell an agent.

READ               HOW MUCH     FOUND
config.md          all of it    there
.                  names in it  there
goals.md           all of it    there
approvals.jsonl    all of it    there
reviews/questions  names in it  absent
""",
        "",
    )


@pytest.mark.rule("SPD-01", "LIV-02")
def test_a_budget_that_is_reached_is_told_wherever_the_run_is_looked_at(
    project: Path, qrspi: Call
) -> None:
    agent, budget = "{claude: {argv: [cat], reply: text}}", "{usd: 2, per_step: {calls: 3}}"
    files = {"config.md": runs.config("quick", budget=budget, commands=agent)}
    runs.on_disk(project, files | runs.approved("goals") | runs.on_record("goals"))
    assert qrspi("trust", "--yes").code == 0
    spends = "spend add --step questions --role author --model m --usd 1 --calls".split()
    qrspi(*spends, "2")
    sends = f"qrspi next {runs.RUN} --dispatch"
    assert qrspi("status", "--json").json["runs"][0]["next"]["command"] == sends
    assert ("budget" in qrspi("explain").out, qrspi("inbox", "--json").json["items"]) == (False, [])
    qrspi(*spends, "1")
    said = (
        "the budget of a step in config.md (questions) is reached, 3 of 3 calls spent: "
        f"no agent is sent; raise it with `qrspi config set {runs.RUN} budget.per_step.calls 6`"
    )
    for words in ("status", "next", "explain"):
        shown = qrspi(words, "--json").json
        shown = shown["runs"][0] if words == "status" else shown
        assert shown["next"]["command"] == f"qrspi next {runs.RUN}", words
        assert said in [one["message"] for one in shown["warnings"]], words
    of_run, of_step = qrspi("inbox", "--json").json["items"]
    assert (of_step["summary"], of_step["command"]) == (f"{said}.", None)
    assert "2.0000 of 2.0000 USD" in of_run["summary"]
    assert said in qrspi("doctor").out


def test_what_is_wrong_with_a_config(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick", route="[goals, goals]")})
    result = qrspi("explain", "--json")
    document = result.json
    assert (result.code, document["current_step"], document["files"]) == (
        0,
        None,
        [
            {"path": "config.md", "how": "whole", "found": "there"},
            {"path": ".", "how": "listing", "found": "there"},
            {"path": "closed.md", "how": "start", "found": "absent"},
        ],
    )
    assert document["reasons"] == [error["message"] for error in document["errors"]]


@pytest.mark.rule("LIV-29")
def test_on_a_screen_folders_are_counted(project: Path) -> None:
    """What the next action is about stays; with --files there is a row for each file."""
    run = scenes.prepared(project)
    with Terminal("explain", run.name) as terminal:
        assert terminal.end() == 0
    with Terminal("explain", "--files", run.name) as every:
        assert every.end() == 0
    manifest = "reviews/goals/round-01/.dispatch-manifest.json"
    assert (manifest in terminal.screen, manifest in every.screen) == (False, True)
    short = terminal.screen.split("READ ")[1].splitlines()
    assert [" ".join(line.split()) for line in short if line.startswith("reviews/goals/")] == [
        "reviews/goals/round-01.diff frontmatter there",
        "reviews/goals/ 6 more: --files",
        "reviews/goals/round-01/ 1 more: --files",
    ]
