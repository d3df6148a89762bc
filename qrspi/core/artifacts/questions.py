"""The questions of questions.md: which researchers are sent to answer, and which are open."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from qrspi.core.config.reader import Config
from qrspi.core.filenames import research_file
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.tables import lines_of, shown
from qrspi.core.tree import Fault, Tree, entries
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Scalar

ARTIFACT = "questions.md"
UNTAGGED = "hybrid"  # look in the code and on the web: nothing is ruled out


class Question(NamedTuple):
    number: int
    kind: str  # codebase, web, hybrid, or whatever the tag says
    text: str

    @property
    def name(self) -> str:
        return f"q{self.number:02d}-{self.kind}"

    @property
    def file(self) -> str:
        return research_file(self.name)


class Research(NamedTuple):
    sent: tuple[Question, ...]
    left: tuple[Question, ...] = ()


def research(questions: tuple[Question, ...], config: Config) -> Research:
    if config.pipeline != "quick" or config.question_budget is None:
        return Research(questions)
    return Research(questions[: config.question_budget], questions[config.question_budget :])


class _Item(NamedTuple):
    number: int
    lines: list[str]


_HEADING = re.compile(r" {0,3}#{2,6}[ \t]+Q(?:uestion )?[ \t]*(\d{1,4})\b[ \t]*[.:)—–-]*[ \t]*(.*)")
_LISTED = re.compile(r" {0,3}(?:[-*+][ \t]+)?(?:\*\*)?Q?(\d{1,4})[.:)](?:\*\*)?(?:[ \t]+(.*)|$)")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(\[[A-Za-z].*)")
_ANY_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_KIND = re.compile(r"(?:\*\*)?\[([A-Za-z][A-Za-z0-9-]{0,30})\](?:\*\*)?[:.]?[ \t]*(.*)", re.DOTALL)


def parse(data: bytes) -> tuple[tuple[Question, ...], tuple[Problem, ...]]:
    lines = [line.text for line in shown(lines_of(frontmatter.body(data)))]
    in_headings = any(_HEADING.match(line) for line in lines)
    questions = tuple(map(_question, _items(lines, in_headings)))
    asked = tuple(question for question, _ in questions if question.text)
    return asked, tuple(warning for _, warning in questions if warning)


def _items(lines: list[str], in_headings: bool) -> list[_Item]:
    items: list[_Item] = []
    inside = False
    for line in lines:
        if begun := _begun(line, in_headings):
            # As in Markdown itself, a list may be numbered `1.` throughout.
            last = items[-1].number if items else 0
            items.append(_Item(max(begun.number, last + 1), begun.lines))
            inside = True
        elif _ANY_HEADING.match(line):
            inside = False
        elif inside:
            items[-1].lines.append(line)
    return items


def _begun(line: str, in_headings: bool) -> _Item | None:
    match = (_HEADING if in_headings else _LISTED).match(line)
    if match:
        return _Item(int(match[1]), [match[2] or ""])
    bullet = None if in_headings else _BULLET.match(line)
    return _Item(0, [bullet[1]]) if bullet else None


def _question(item: _Item) -> tuple[Question, Problem | None]:
    text = "\n".join(line.strip() for line in item.lines).strip()
    if tagged := _KIND.match(text):
        return Question(item.number, tagged[1].lower(), tagged[2].strip()), None
    question = Question(item.number, UNTAGGED, text)
    return question, _untagged(question) if text else None


def _untagged(question: Question) -> Problem:
    field, expected = f"question {question.number}", "[codebase], [web] or [hybrid]"
    text = (
        f"{ARTIFACT}: {field} has no kind; expected {expected} before its text; taken as {UNTAGGED}"
    )
    return Problem("untagged-question", text, ARTIFACT, field, expected=expected)


class Inquiry(NamedTuple):
    open: tuple[Question, ...] = ()
    left: tuple[Question, ...] = ()  # beyond the budget: nobody is sent
    warnings: tuple[Problem, ...] = ()

    @property
    def not_dispatched(self) -> tuple[str, ...]:
        if not self.left:
            return ()
        names = ", ".join(question.name for question in self.left)
        return (f"not dispatched, as question_budget in config.md is used up: {names}",)


_NAMED = re.compile(rb"\b[Qq](?:uestion)?[ -]?0{0,3}([1-9][0-9]{0,3})\b")


def named(tree: Tree, config: Config, words: bytes) -> tuple[Question, ...]:
    data = tree.read(ARTIFACT)
    if isinstance(data, Fault):
        return ()
    numbers = {int(found) for found in _NAMED.findall(words)}
    return tuple(one for one in research(parse(data)[0], config).sent if one.number in numbers)


def inquiry(tree: Tree, config: Config, again: Container[str] = ()) -> Inquiry:
    """The questions to be answered. `again` are names of answers that were sent back."""
    data = tree.read(ARTIFACT)
    if isinstance(data, Fault):
        return Inquiry()
    asked, warnings = parse(data)
    planned = research(asked, config)
    unanswered = tuple(question for question in planned.sent if _is_open(tree, question))
    together = _answered_together(tree) if unanswered else frozenset()
    still = tuple(question for question in unanswered if question.number not in together)
    returned = {question for question in planned.sent if question.name in again}
    due = tuple(question for question in planned.sent if question in {*still, *returned})
    return Inquiry(due, planned.left, warnings)


_SEVERAL = re.compile(r"q(\d{1,4})-q(\d{1,4})(?:-.*)?\.md")


def _answered_together(tree: Tree) -> frozenset[int]:
    """Questions that share an answer: `q01-q26-codebase.md`, or a list in the file."""
    found: set[int] = set()
    for entry in entries(tree, "research"):
        if match := _SEVERAL.fullmatch(entry.name):
            found.update(range(int(match[1]), int(match[2]) + 1))
        elif entry.kind == "file" and entry.name.startswith("q"):
            found.update(_listed(tree.head(f"research/{entry.name}")))
    return frozenset(found)


def _listed(head: bytes | Fault) -> Iterator[int]:
    ids = frontmatter.fields(head).get("question_ids", ())
    for one in () if isinstance(ids, (Scalar, dict)) else ids:
        digits = one.text.lstrip("Qq") if isinstance(one, Scalar) else ""
        if digits.isdecimal() and len(digits) < 5:
            yield int(digits)


def _is_open(tree: Tree, question: Question) -> bool:
    found = tree.head(question.file)
    if isinstance(found, Fault):
        return found.kind == "absent"
    return not frontmatter.body(found).strip()
