"""Whether research was kept apart from what is wanted: no words of the goals in a question or in
its answer, and no quotation in the summary that no answer has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count

from qrspi.core.artifacts import questions
from qrspi.core.model import Problem
from qrspi.core.pipeline import REQUEST, STEP, Subject
from qrspi.core.records import step_text
from qrspi.core.text.tables import Line, shown
from qrspi.core.tree import Tree, content
from qrspi.core.yaml import frontmatter

RUN = 8  # this many words in the same order are no accident
_WHOLE = 5  # nor are as many, where they are a whole sentence or title
_QUOTED = 4  # fewer words between quotation marks are a name or a term
_SUMMARY = STEP["research"].artifact


def breaches(tree: Tree, subject: Subject) -> tuple[Problem, ...]:
    match subject.key:
        case "questions":
            return tuple(_in_questions(tree))
        case "research":
            return (*_in_answers(tree), *_in_summary(tree))
        case _:
            return ()


def _in_questions(tree: Tree) -> Iterator[Problem]:
    wanted = _wanted_whole(tree)
    for question in questions.parse(content(tree, questions.ARTIFACT))[0]:
        if shared := _named(tree.name, question.text) or _shared(question.text, wanted):
            yield _told(questions.ARTIFACT, f"question {question.number} repeats", *shared)


def _in_answers(tree: Tree) -> Iterator[Problem]:
    """An answer begins with its question, so words of approved questions are allowed."""
    asked = _runs(_words(_text(tree, questions.ARTIFACT)))
    wanted = {run: file for run, file in _wanted(tree).items() if run not in asked}
    for path in step_text.companions(tree, "research") if wanted else ():
        if shared := _shared(_text(tree, path), wanted):
            yield _told(path, "repeats", *shared)


def _told(file: str, what: str, words: str, source: str) -> Problem:
    text = (
        f'{file}: {what} {source} ("{words}"), and whoever looks for facts must not know '
        "what is wanted; say it in other words"
    )
    return Problem("goal-in-research", text, file=file, found=words, expected="facts alone")


def told_by(tree: Tree, run: str, words: str) -> Problem | None:
    """Of a person, to somebody who looks for facts: neither what is wanted, nor what the run is
    called."""
    told = _named(run, words) or _shared(words, _wanted_whole(tree))
    if told is None:
        return None
    text = (
        f'the message repeats {told[1]} ("{told[0]}"), and goes to agents who look for facts and '
        "must not know what is wanted; say it in other words"
    )
    return Problem("goal-in-research", text, field="-m", found=told[0], expected="facts alone")


def _named(run: str, words: str) -> tuple[str, str] | None:
    return (run, "the name of the run") if run in words else None


_WANTED = (REQUEST, STEP["goals"].artifact)


def _wanted(tree: Tree) -> dict[str, str]:
    """Every run of words that reveals what is wanted, with what it is of."""
    return {
        run: f"words of {file}"
        for file in _WANTED
        for run in _runs(_words(" ".join(_telling(_text(tree, file)))))
    }


_NUMBERED = re.compile(r" {0,3}#{1,6}[ \t]+G\d+\b")  # a goal's number is not in its title
_ENDS = re.compile(r"[.:;!?]")


def _wanted_whole(tree: Tree) -> dict[str, str]:
    """Of an answer this would ask too much: a short sentence may be found elsewhere, too."""
    short = {
        " ".join(words): f"words of {file}"
        for file in _WANTED
        for line in _telling(_text(tree, file))
        for words in map(_words, _ENDS.split(_NUMBERED.sub("", line)))
        if _WHOLE <= len(words) < RUN
    }
    return short | _wanted(tree)


_LABEL = re.compile(r" {0,3}(?:#{1,6}[ \t]+|[-*+][ \t]+)?(?:\*\*)?([A-Za-z][^*:.]*)")
_STARTS = re.compile(r" {0,3}(?:#{1,6}[ \t]|(?:[-*+][ \t]+)?\*\*)")
_FACTS = ("what we know", "limits", "constraints", "open points")


def _telling(text: str) -> Iterator[str]:
    """Facts and limits are left out: researchers may come upon them by themselves."""
    facts = False
    for line in text.splitlines():
        label = _LABEL.match(line) if _STARTS.match(line) else None
        if label:
            facts = label[1].strip().lower().startswith(_FACTS)
        if not facts:
            yield line


def _shared(text: str, wanted: dict[str, str]) -> tuple[str, str] | None:
    words = _words(text)
    runs = (run for size in range(RUN, _WHOLE - 1, -1) for run in _runs(words, size))
    return next(((run, wanted[run]) for run in runs if run in wanted), None)


def _runs(words: list[str], size: int = RUN) -> dict[str, None]:
    return dict.fromkeys(" ".join(words[at : at + size]) for at in range(len(words) - size + 1))


def _words(text: str) -> list[str]:
    """As somebody reads them: `_` is a mark of emphasis, and what cannot be seen is not there."""
    if not text.isascii():
        seen = unicodedata.normalize("NFKC", text)
        text = "".join(one for one in seen if unicodedata.category(one) != "Cf")
    return re.findall(r"[^\W_]+", text.lower())


_MARKS = re.compile(r'"([^"\n]+)"|“([^”\n]+)”')
_BLOCK = re.compile(r" {0,3}>[ \t]?(.*)")
_GAP = re.compile(r"…|\.\.\.|\[[^\]]*\]")


def _in_summary(tree: Tree) -> Iterator[Problem]:
    quoted = list(_quotations(content(tree, _SUMMARY).decode(errors="replace")))
    files = (questions.ARTIFACT, *step_text.companions(tree, "research")) if quoted else ()
    whole = f" {' '.join(word for file in files for word in _words(_text(tree, file)))} "
    for number, words in quoted:
        parts = (" ".join(_words(part)) for part in _GAP.split(words))
        if not all(f" {part} " in whole for part in parts if part):
            text = (
                f'{_SUMMARY}:{number}: no answer in research/ has the words "{words}"; quote an '
                "answer word for word"
            )
            expected = "words of an answer"
            yield Problem("quote-unfounded", text, _SUMMARY, found=words, expected=expected)


def _quotations(text: str) -> Iterator[tuple[int, str]]:
    for number, line in shown(map(Line, count(1), text.splitlines())):
        block = _BLOCK.match(line)
        phrases: Iterable[str] = (
            (block[1],) if block else (match[1] or match[2] for match in _MARKS.finditer(line))
        )
        yield from ((number, words) for words in phrases if len(_words(words)) >= _QUOTED)


def _text(tree: Tree, path: str) -> str:
    return frontmatter.text_of(content(tree, path)).decode(errors="replace")
