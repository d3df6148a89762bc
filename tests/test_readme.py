"""What the README says of commands and files is so."""

from __future__ import annotations

import re
from pathlib import Path

import commands
import pytest

README = commands.README.read_text("utf-8")
PAGES = [commands.README, *sorted((commands.ROOT / "docs").rglob("*.md"))]


def test_the_table_of_commands_is_the_programs_own() -> None:
    assert commands.renewed(README) == README, "python tools/commands.py rewrites it"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(commands.ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(
        r"\]\((?!https?:)([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    )
    assert [link for link in links if not _is_there(page, link)] == []


def _is_there(page: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists() or not heading:
        return target.exists()
    titles = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
    return heading in [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles]


@pytest.mark.rule("LIV-28")
def test_installing_comes_first_and_the_name_is_explained() -> None:
    titles = re.findall(r"^## (.+)$", README, re.MULTILINE)
    assert titles[:3] == ["Install", "See it in ten seconds", "A first run, by hand"]
    assert titles[3] == "The same feature, to the pull request"
    opening = README.partition("\n## ")[0]
    assert "".join(re.findall(r"\*\*(\w)\*\*", opening)) == "qrspi"


@pytest.mark.rule("LIV-28")
def test_one_feature_goes_through_every_step_to_its_pull_request() -> None:
    story = README.partition("## A first run")[2].partition("## Three ways")[0]
    for name in ("goals.md", "questions.md", "research/summary.md", "plan.md", "tasks/task-01.md"):
        assert f"> {name} <<" in story or re.search(rf"> (?:\.\./)*{name}$", story, re.MULTILINE)
    assert "$ qrspi task report task-01" in story
    assert "The run is complete. Its work waits on branch qrspi/sign-link-mail; " in story
    assert "pull-request.md\n# Sign in with a link from a mail\n" in story


def test_every_target_of_make_that_is_named_is_there() -> None:
    makefile = (commands.ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"`?make ([a-z]+)", README)) - {"lists"}
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert named - targets == set()


def test_nothing_is_wider_than_a_terminal() -> None:
    """Tables aside, which no renderer breaks, and what commands print."""
    prose = re.sub(r"```console.*?```", "", README, flags=re.DOTALL)
    wide = [line for line in prose.splitlines() if len(line) > 88 and not line.startswith("|")]
    assert wide == []
