"""What the files of research were made from: an answer from its question, the summary from the
answers. A record that takes questions or research back keeps it, so that a file which was made from
something else is asked for again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qrspi.core.artifacts import questions
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.records import feedback, step_text
from qrspi.core.records.approvals import Made, Record
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Tree, content
from qrspi.core.yaml import frontmatter

STEPS = frozenset(("questions", "research"))
SUMMARY = STEP["research"].artifact


def made(tree: Tree) -> tuple[Made, ...]:
    """The answers and the summary as they are now, those that are there."""
    return tuple(one for one in _all_made(tree) if one.file_hash)


def _all_made(tree: Tree) -> Iterator[Made]:
    for one in questions.parse(content(tree, questions.ARTIFACT))[0]:
        asked = frontmatter.body_hash((" ".join(one.text.split()).encode(),))
        yield Made(one.file, step_text.file_hash(tree, one.file), asked)
    files = step_text.companions(tree, "research")
    hashes = (f"{path} {step_text.file_hash(tree, path)}".encode() for path in files)
    yield Made(SUMMARY, step_text.file_hash(tree, SUMMARY), frontmatter.body_hash(hashes))


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


def changed(tree: Tree, before: Iterable[Made]) -> tuple[str, ...]:
    """The files that are new or different since a record, and those that are gone."""
    then = {one.file: one.file_hash for one in before}
    files = dict.fromkeys((*step_text.paths(tree, "research"), *then))
    return tuple(file for file in files if step_text.file_hash(tree, file) != then.get(file, ""))


class Asked(NamedTuple):
    """The questions that are open, and why some are that have an answer."""

    inquiry: questions.Inquiry
    sent_back: frozenset[str]  # names of answers that the newest feedback asks for again
    changed: frozenset[str]  # names of answers to what was asked before


def asked(facts: Facts) -> Asked:
    tree, named = facts.tree, frozenset[str]()
    if "feedback" in facts.names:
        named = feedback.asked_again(tree)
    files = outdated(tree, facts.records) - {SUMMARY}
    before = frozenset(file.rpartition("/")[2].removesuffix(".md") for file in files)
    return Asked(questions.inquiry(tree, facts.config, named | before), named, before)
