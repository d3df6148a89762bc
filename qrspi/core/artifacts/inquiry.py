"""Which questions are open, and which of them one researcher answers in one file: a part for each,
and their numbers in its frontmatter."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from qrspi.core.artifacts import questions
from qrspi.core.artifacts.questions import ARTIFACT, Question
from qrspi.core.config.reader import Config
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.tables import lines_of, shown
from qrspi.core.tree import Fault, Tree, entries
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Scalar

IDS = "question_ids"  # in an answer: the questions that it is for


class QuestionGroup(NamedTuple):
    """What one researcher is asked: one question, or several that the same places answer."""

    questions: tuple[Question, ...]

    @property
    def name(self) -> str:
        return self.questions[0].name

    @property
    def file(self) -> str:
        return self.questions[0].file

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(f"Q{question.number}" for question in self.questions)


class Inquiry(NamedTuple):
    open: tuple[QuestionGroup, ...] = ()
    left: tuple[Question, ...] = ()  # beyond the budget: nobody is sent
    warnings: tuple[Problem, ...] = ()

    @property
    def not_dispatched(self) -> tuple[str, ...]:
        if not self.left:
            return ()
        names = ", ".join(question.name for question in self.left)
        return (f"not dispatched, as question_budget in config.md is used up: {names}",)


_NAMED = re.compile(rb"\b[Qq](?:uestion)?[ -]?0{0,3}([1-9][0-9]{0,3})\b")


def names_one_of(asked: QuestionGroup, words: bytes) -> bool:
    numbers = {int(digits) for digits in _NAMED.findall(words)}
    return any(question.number in numbers for question in asked.questions)


def named(tree: Tree, config: Config, words: bytes) -> tuple[str, ...]:
    """The answers to the questions that somebody's words name."""
    data = tree.read(ARTIFACT)
    if isinstance(data, Fault):
        return ()
    numbers = {int(digits) for digits in _NAMED.findall(words)}
    sent = questions.research(questions.parse(data)[0], config).sent
    return tuple(dict.fromkeys(_answer(tree, one, sent) for one in sent if one.number in numbers))


def inquiry(tree: Tree, config: Config, again: Container[str] = ()) -> Inquiry:
    """The questions to be answered. `again` are names of answers that were sent back."""
    data = tree.read(ARTIFACT)
    if isinstance(data, Fault):
        return Inquiry()
    asked, warnings = questions.parse(data)
    planned = questions.research(asked, config)
    unanswered = tuple(question for question in planned.sent if _is_open(tree, question))
    elsewhere = _answered_together(tree) if unanswered else frozenset()
    still = {question for question in unanswered if question.number not in elsewhere}
    due = (
        question
        for question in planned.sent
        if question in still or _answer(tree, question, planned.sent) in again
    )
    return Inquiry(tuple(_grouped(due)), planned.left, warnings)


def _grouped(due: Iterable[Question]) -> Iterator[QuestionGroup]:
    groups: dict[int, list[Question]] = {}
    for question in due:
        groups.setdefault(question.joins or question.number, []).append(question)
    return (QuestionGroup(tuple(members)) for members in groups.values())


def _answer(tree: Tree, question: Question, sent: tuple[Question, ...]) -> str:
    """The name of its answer, which may be that of a question it is answered with."""
    if not question.joins or not _is_open(tree, question):
        return question.name
    holds = (one.name for one in sent if question in answered(tree, one, sent))
    return next(holds, question.name)


def answered(tree: Tree, question: Question, asked: tuple[Question, ...]) -> tuple[Question, ...]:
    """Whatever its file answers: itself, and those of its group that the file lists."""
    head = tree.head(question.file)
    if isinstance(head, Fault):
        return ()
    listed, first = frozenset(_listed(head)), question.joins or question.number
    mine = (other for other in asked if first in (other.joins, other.number))
    return tuple(other for other in mine if other == question or other.number in listed)


_SEVERAL = re.compile(r"q(\d{1,4})-q(\d{1,4})(?:-.*)?\.md")


def _answered_together(tree: Tree) -> frozenset[int]:
    """Questions that share an answer: `q01-q26-codebase.md`, or a list in the file."""
    numbers: set[int] = set()
    for entry in entries(tree, "research"):
        if match := _SEVERAL.fullmatch(entry.name):
            numbers.update(range(int(match[1]), int(match[2]) + 1))
        elif entry.kind == "file" and entry.name.startswith("q"):
            numbers.update(_listed(tree.head(f"research/{entry.name}")))
    return frozenset(numbers)


def _listed(head: bytes | Fault) -> Iterator[int]:
    ids = frontmatter.fields(head).get(IDS, ())
    for item in () if isinstance(ids, (Scalar, dict)) else ids:
        digits = item.text.lstrip("Qq") if isinstance(item, Scalar) else ""
        if digits.isdecimal() and len(digits) < 5:
            yield int(digits)


def _is_open(tree: Tree, question: Question) -> bool:
    head = tree.head(question.file)
    if isinstance(head, Fault):
        return head.kind == "absent"
    return not frontmatter.body(head).strip()


_PART = re.compile(r" {0,3}##[ \t]+Q(?:uestion[ \t]*)?0{0,3}(\d{1,4})\b")
_SUMMARY = re.compile(r" {0,3}###[ \t]+Summary[ \t]*#*[ \t]*$")
_ANY_HEADING = re.compile(r" {0,3}#{1,3}[ \t]")


def answer_fault(data: bytes, asked: QuestionGroup) -> Problem | None:
    """Of several questions each has a part with a summary, as later texts are made from that."""
    if len(asked.questions) == 1:
        return None
    has_summary = dict(_summaries(frontmatter.body(data)))
    lacking = [name for name in asked.ids if not has_summary.get(name)]
    if not lacking:
        return None
    names, expected = ", ".join(lacking), f"`## {lacking[0]}`, and text below its `### Summary`"
    text = f"{asked.file} has no summary of {names}; expected {expected}"
    return Problem(
        "text-lacks", text, asked.file, found=f"no summary of {names}", expected=expected
    )


def _summaries(body: bytes) -> Iterator[tuple[str, bool]]:
    """The questions that have a part, and whether there is a text below its summary."""
    part, inside = "", False
    for line in (one.text for one in shown(lines_of(body))):
        if match := _PART.match(line):
            part, inside = f"Q{int(match[1])}", False
        elif _ANY_HEADING.match(line):
            inside = bool(_SUMMARY.match(line))
        elif part and inside and line.strip():
            yield part, True


def with_ids(data: bytes, asked: QuestionGroup) -> bytes | Problem:
    """The numbers of those that were asked, whatever it says itself."""
    from qrspi.core.yaml import writer  # `status` only asks what is open

    if len(asked.questions) == 1:
        return writer.remove_field(data, IDS, asked.file)
    return writer.set_field(data, IDS, f"[{', '.join(asked.ids)}]", asked.file)
