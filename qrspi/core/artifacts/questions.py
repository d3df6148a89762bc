"""The questions of questions.md, and which of them researchers are sent to answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qrspi.core.config.reader import Config
from qrspi.core.filenames import research_file
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.tables import lines_of, shown
from qrspi.core.yaml import frontmatter

ARTIFACT = "questions.md"
UNTAGGED = "hybrid"  # look in the code and on the web: nothing is ruled out


class Question(NamedTuple):
    number: int
    kind: str  # codebase, web, hybrid, or whatever the tag says
    text: str
    joins: int = 0  # the number of the question in whose answer it is answered too

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


def listing(questions: tuple[Question, ...]) -> str:
    """The questions and nothing that stands around them, for agents who look for facts."""
    return "".join(f"{one.number}. [{one.kind}{_with(one)}] {one.text}\n" for one in questions)


def _with(question: Question) -> str:
    return f", with Q{question.joins}" if question.joins else ""


class _Item(NamedTuple):
    number: int
    lines: list[str]
    is_followed: bool = False  # by a paragraph that belongs to no question


_HEADING = re.compile(r" {0,3}#{2,6}[ \t]+Q(?:uestion )?[ \t]*(\d{1,4})\b[ \t]*[.:)—–-]*[ \t]*(.*)")
_LISTED = re.compile(r" {0,3}(?:[-*+][ \t]+)?(?:\*\*)?Q?(\d{1,4})[.:)](?:\*\*)?(?:[ \t]+(.*)|$)")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(\[[A-Za-z].*)")
_PARAGRAPH = re.compile(r"\w|[*_`\"'(]+\w")
_ANY_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_WITH = r"(?:(?:[ \t]*,[ \t]*|[ \t]+)with[ \t]+[Qq]?0{0,3}([1-9]\d{0,3}))?"
_KIND = re.compile(
    rf"(?:\*\*)?\[([A-Za-z][A-Za-z0-9-]{{0,30}}){_WITH}\](?:\*\*)?[:.]?[ \t]*(.*)", re.DOTALL
)


def parse(data: bytes) -> tuple[tuple[Question, ...], tuple[Problem, ...]]:
    lines = [line.text for line in shown(lines_of(frontmatter.body(data)))]
    in_headings = any(_HEADING.match(line) for line in lines)
    items = _items(lines, in_headings)
    questions = tuple(map(_question, items))
    beside = tuple(map(_beside, (item for item in items if item.is_followed)))
    untagged = tuple(warning for _, warning in questions if warning)
    asked, unjoined = _joined(question for question, _ in questions if question.text)
    return asked, (*untagged, *unjoined, *beside)


def _joined(asked: Iterable[Question]) -> tuple[tuple[Question, ...], tuple[Problem, ...]]:
    """Each with the first of those that are answered together; alone where that cannot be."""
    known: dict[int, Question] = {}
    problems: list[Problem] = []
    for one in asked:
        first = known.get(one.joins)
        if one.joins and (first is None or first.kind != one.kind):
            problems.append(_unjoined(one, first))
            first = None
        known[one.number] = one._replace(joins=first.joins or first.number if first else 0)
    return tuple(known.values()), tuple(problems)


def _unjoined(one: Question, first: Question | None) -> Problem:
    field, found = f"question {one.number}", f"with Q{one.joins}"
    why = (
        f"Q{one.joins} is for [{first.kind}]" if first else "no question before it has that number"
    )
    expected = f"the number of an earlier question for [{one.kind}]"
    text = f"{ARTIFACT}: {field} is to be answered {found}, but {why}; expected {expected}; "
    return Problem("unjoined-question", f"{text}asked alone", ARTIFACT, field, found, expected)


def _items(lines: list[str], in_headings: bool) -> list[_Item]:
    items: list[_Item] = []
    inside = False
    above = ""
    for line in lines:
        if begun := _begun(line, in_headings):
            # As in Markdown itself, a list may be numbered `1.` throughout.
            last = items[-1].number if items else 0
            items.append(_Item(max(begun.number, last + 1), begun.lines))
            inside = True
        elif _ANY_HEADING.match(line):
            inside = False
        elif inside and not (above or in_headings) and _follows(items[-1], line):
            items[-1] = items[-1]._replace(is_followed=True)
            inside = False
        elif inside:
            items[-1].lines.append(line)
        above = line.strip()
    return items


def _follows(item: _Item, line: str) -> bool:
    """As in Markdown itself: below an empty line, only what is indented belongs to an item."""
    return _PARAGRAPH.match(line) is not None and _question(item)[0].text != ""


def _beside(item: _Item) -> Problem:
    field, expected = f"question {item.number}", "more of a question indented, or nothing"
    why = "belongs to no question, and no researcher sees it"
    text = f"{ARTIFACT}: the paragraph below {field} {why}; expected {expected}"
    return Problem("text-beside-questions", text, ARTIFACT, field, expected=expected)


def _begun(line: str, in_headings: bool) -> _Item | None:
    match = (_HEADING if in_headings else _LISTED).match(line)
    if match:
        return _Item(int(match[1]), [match[2] or ""])
    bullet = None if in_headings else _BULLET.match(line)
    return _Item(0, [bullet[1]]) if bullet else None


def _question(item: _Item) -> tuple[Question, Problem | None]:
    text = "\n".join(line.strip() for line in item.lines).strip()
    if tagged := _KIND.match(text):
        joins = int(tagged[2] or 0)
        return Question(item.number, tagged[1].lower(), tagged[3].strip(), joins), None
    question = Question(item.number, UNTAGGED, text)
    return question, _untagged(question) if text else None


def _untagged(question: Question) -> Problem:
    field, expected = f"question {question.number}", "[codebase], [web] or [hybrid]"
    text = (
        f"{ARTIFACT}: {field} has no kind; expected {expected} before its text; taken as {UNTAGGED}"
    )
    return Problem("untagged-question", text, ARTIFACT, field, expected=expected)
