"""What the files of research were made from: an answer from its question, the summary from the
answers. A record that takes questions or research back keeps it, so that a file which was made from
something else is asked for again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qrspi.core.artifacts import inquiry, questions
from qrspi.core.artifacts.inquiry import Inquiry, QuestionGroup
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.records import feedback, step_text
from qrspi.core.records.approvals import MadeFrom, Record
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Tree, content
from qrspi.core.yaml import frontmatter

STEPS = frozenset(("questions", "research"))
SUMMARY = STEP["research"].artifact


def made(tree: Tree) -> tuple[MadeFrom, ...]:
    """The answers and the summary as they are now, those that are there."""
    return tuple(one for one in _all_made(tree) if one.file_hash)


def _all_made(tree: Tree) -> Iterator[MadeFrom]:
    asked = questions.parse(content(tree, questions.ARTIFACT))[0]
    for one in asked:
        together = inquiry.answered(tree, one, asked)
        texts = (" ".join(each.text.split()).encode() for each in together)
        yield MadeFrom(one.file, step_text.file_hash(tree, one.file), frontmatter.body_hash(texts))
    files = step_text.companions(tree, "research")
    hashes = (f"{path} {step_text.file_hash(tree, path)}".encode() for path in files)
    yield MadeFrom(SUMMARY, step_text.file_hash(tree, SUMMARY), frontmatter.body_hash(hashes))


def outdated(tree: Tree, records: Iterable[Record]) -> frozenset[str]:
    """The files that were made from something else than what is there now. Of several records the
    first that knows a file's content says what it was made from; what no record knows is valid."""
    known: dict[tuple[str, str], str] = {}
    for one in (one for record in records for one in record.made):
        known.setdefault((one.file, one.file_hash), one.made_from)
    if not known:
        return frozenset()
    return frozenset(
        one.file
        for one in made(tree)
        if known.get((one.file, one.file_hash), one.made_from) != one.made_from
    )


def asked_of(facts: Facts, name: str) -> QuestionGroup:
    """Whatever is asked of the researcher that is called like its first question."""
    return next(one for one in asked(facts).inquiry.open if one.name == name)


class OpenQuestions(NamedTuple):
    """The questions that are open, and why some are that have an answer."""

    inquiry: Inquiry
    sent_back: frozenset[str]  # names of answers that the newest feedback asks for again
    changed: frozenset[str]  # names of answers to what was asked before


def asked(facts: Facts) -> OpenQuestions:
    tree, named = facts.tree, frozenset[str]()
    if "feedback" in facts.names:
        named = feedback.asked_again(tree)
    files = outdated(tree, facts.records) - {SUMMARY}
    before = frozenset(file.rpartition("/")[2].removesuffix(".md") for file in files)
    return OpenQuestions(inquiry.inquiry(tree, facts.config, named | before), named, before)
