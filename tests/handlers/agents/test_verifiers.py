"""What verifiers are given, so that a true finding about code can be seen to be true."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.filenames import prompt_file
from qrspi.handlers.menus import menu
from qrspi.handlers.menus.menu import More
from qrspi.handlers.tasks import reports
from tests import deliveries, runs
from tests.handlers.agents.test_awaited_agents import found
from tests.handlers.agents.test_travelling import AWAY, chosen
from tests.handlers.shop import in_review
from tests.handlers.workshop import Workshop
from tests.markers import named_only

PRINTING = {"commands": "{claude: {argv: [agent]}}"}


def verifying(shop: Workshop, folder: str, tags: tuple[str, ...], step: str, cites: str) -> str:
    """The prompt of who scores what the first of these reviewers has found."""
    finding = runs.finding(tags[0], step=step, cites=cites)
    shop.write(f"{folder}/{tags[0]}.finding-F01.md", finding)
    for tag in tags[1:]:
        shop.write(f"{folder}/{tag}.clean.md", runs.clean(tag))
    (ask,) = shop.next().state.next.asks
    assert ask.kind == "verify"
    return named_only(shop.read(prompt_file(ask)))


@pytest.mark.rule("LIV-20", "PRM-07")
@pytest.mark.parametrize("prints", [True, False])
def test_who_opens_no_files_is_shown_the_concerns_and_the_code(
    tmp_path: Path, prints: bool
) -> None:
    shop = Workshop(tmp_path / "shop", deliveries.quick(**(PRINTING if prints else {})))
    shop.next()
    shop.work("task-01", "a.py", "made = 'task-01'\n")
    words = "Perhaps late at midnight."
    shop.make(lambda job: reports.report(job, "task-01", "DONE_WITH_CONCERNS", "HEAD", words))
    shop.next()
    folder = "reviews/tasks/task-01/round-01"
    prompt = verifying(shop, folder, deliveries.TAGS, "task-01", "a.py:L1")
    assert [words in prompt, "\nmade = 'task-01'\n" in prompt] == [prints, prints]


@pytest.mark.rule("LIV-20", "PRM-07")
@pytest.mark.parametrize("prints", [True, False])
def test_who_opens_no_files_is_shown_what_is_merged(tmp_path: Path, prints: bool) -> None:
    tasks = {"tasks/task-01.md": deliveries.task(1, files="a.py", phase=1)}
    plan = deliveries.PLAN.partition("| task-02")[0] + (
        "\n## Branch Map\n\n| Task | Branch | Base |\n|---|---|---|\n"
        "| task-01 | | feature branch tip |\n"
    )
    files = deliveries.full(**(PRINTING if prints else {}))
    files = {path: data for path, data in files.items() if not path.startswith("tasks/")}
    shop = Workshop(tmp_path / "shop", {**files, **tasks, "parallelization.md": plan.encode()})
    shop.next()
    shop.take("task-01", "a.py", "made = 'task-01'\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    tags, folder = ("integration-claude", "security-claude"), "reviews/integration/round-01"
    prompt = verifying(shop, folder, tags, "integrate", "a.py:L1")
    assert ("\nmade = 'task-01'\n" in prompt) is prints


@pytest.mark.rule("EXE-17", "PRM-06")
def test_on_another_machine_a_verifier_is_given_all_of_the_diff_and_no_part(
    tmp_path: Path,
) -> None:
    shop = in_review(tmp_path / "shop")
    shop.next()
    found(shop, 1, "quality-claude", 95)
    shop.write("reviews/design/round-01/scope-claude.clean.md", runs.clean("scope-claude"))
    shop.next()
    shop.write("design.md", runs.artifact(body="# Design\n\n## Approach\n\nAnother way.\n"))
    done = "---\nround: 1\nartifact: design\n---\n- quality-claude.R1-F01: applied. L7\n"
    shop.write("reviews/design/round-01-dispositions.md", done)
    shop.next()
    assert all("START id=since-diff-" in one.prompt.decode() for one in chosen(shop).values())
    found(shop, 2, "quality-claude", 95)
    (shop.run / "reviews/design/round-02/quality-claude.finding-F01.score.yml").unlink()
    shop.write("reviews/design/round-02/scope-claude.clean.md", runs.clean("scope-claude", 2))
    shop.next()
    (verifier,) = chosen(shop, how=AWAY).values()
    told = verifier.prompt.decode()
    assert "START id=diff-" in told and "START id=since-diff-" not in told


@pytest.mark.rule("LIV-18")
def test_a_verifier_that_is_asked_again_is_told_why(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.next()
    found(shop, 1, "quality-claude", 95)
    place = "reviews/design/round-01/quality-claude.finding-F01.score.yml"
    shop.write(place, b"score: many\nreason: Yes.\n")
    shop.write("reviews/design/round-01/scope-claude.clean.md", runs.clean("scope-claude"))
    shop.next()
    shop.make(lambda job: menu.plan(job, "retry", More()))
    (ask,) = shop.next().state.next.asks
    told = named_only(shop.read(prompt_file(ask)))
    assert f"\n- {place}: score is 'many'; expected a whole number" in told
