"""What the engine did is said in words that need no explanation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import qrspi
from qrspi.render import deeds

HANDLERS = Path(qrspi.__file__).parent / "handlers"
# Answered by the command that a person gave, which says it in its own words.
BY_COMMAND = {
    *("adopt", "baseline", "checkpoint-knowledge", "checkpoint-review"),
    *("dispositions", "frontmatter-set", "import", "init", "quality", "task-clean"),
}
OURS = re.compile(r"assembl|cascad|choose-loop|scope.set|dispatch|backfill|settle-|draft-")


def handlers() -> set[str]:
    """Every name that a handler signs its work with."""
    sources = (path.read_text("utf-8") for path in HANDLERS.rglob("*.py"))
    return {name for text in sources for name in re.findall(r'Performed\(\s*"([a-z-]+)"', text)}


@pytest.mark.rule("LIV-29")
def test_every_deed_of_the_engine_has_its_words() -> None:
    assert len(handlers()) > 20
    known = {
        name for name in handlers() if deeds.sentence(name, "goals", 1) != f"{name} goals round 1"
    }
    assert handlers() - known == BY_COMMAND


@pytest.mark.rule("LIV-29")
@pytest.mark.parametrize("name", sorted(handlers() - BY_COMMAND))
def test_no_word_of_the_engine_is_used(name: str) -> None:
    assert not OURS.search(deeds.sentence(name, "goals", 1))
    assert not OURS.search(deeds.word(name)) or name.startswith(("draft-", "dispatch-", "backfill"))


@pytest.mark.rule("LIV-29")
def test_tests_have_no_round_of_their_own() -> None:
    assert deeds.sentence("run-tests", "test", 2) == "run the tests"
    assert deeds.sentence("prepare-round", "test", 1) == "open test round 1"
    assert deeds.sentence("write-prompts", "questions", 0) == "write the prompts of questions"
