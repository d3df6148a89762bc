"""A step's text in parts, as a record keeps it when a person takes the text back: a hash of each
section of the artifact and of each companion. Later they say what changed since then."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.pipeline import STEP
from qrspi.core.records import step_text
from qrspi.core.records.approvals import Part, Record
from qrspi.core.text import headings
from qrspi.core.tree import Tree
from qrspi.core.yaml import frontmatter

BEGINNING = ""  # what stands before the first section
_DIGITS = 16  # enough to tell two versions of one section apart


def of_step(tree: Tree, step: str) -> tuple[Part, ...]:
    files = step_text.texts(tree, step)
    artifact = STEP[step].artifact
    companions = (Part(file, "", _hash(data)) for file, data in files.items() if file != artifact)
    return (*(_sections(artifact, files[artifact]) if files else ()), *companions)


def _sections(file: str, text: bytes) -> tuple[Part, ...]:
    """Of several sections with one title, the second is another one than the first."""
    text = text.replace(b"\0", b"\n")  # what separates the frontmatter belongs to no heading
    lines, spans = text.split(b"\n"), headings.read(text).spans
    first = spans[0].start - 1 if spans else len(lines)
    sections = {BEGINNING: _joined(lines[:first])}
    for span in spans:
        sections[_unused(span.title, sections)] = _joined(lines[span.start - 1 : span.end])
    return tuple(Part(file, title, _hash(data)) for title, data in sections.items())


def _unused(title: str, taken: Iterable[str]) -> str:
    names = (title, *(f"{title} ({number})" for number in range(2, len(tuple(taken)) + 3)))
    return next(name for name in names if name not in taken)


def _joined(lines: list[bytes]) -> bytes:
    return b"\n".join(lines).strip()


def _hash(data: bytes) -> str:
    return frontmatter.body_hash((data,))[:_DIGITS]


def changed(before: Iterable[Part], now: Iterable[Part]) -> tuple[Part, ...]:
    """The parts that are new or different, and those that are gone."""
    then = {(part.file, part.section): part.part_hash for part in before}
    here = {(one.file, one.section): one.part_hash for one in now}
    places = (place for place in here | then if here.get(place) != then.get(place))
    return tuple(Part(*place, here.get(place, "")) for place in places)


def changed_files(tree: Tree, step: str, known: Record) -> tuple[str, ...]:
    """Of a text that is not the recorded one any more: the files that make the difference. Older
    records do not say."""
    before = about(step, known.parts)
    found = changed(before, of_step(tree, step)) if before else ()
    return tuple(dict.fromkeys(one.file for one in found)) or (STEP[step].artifact,)


def about(step: str, parts: Iterable[Part]) -> tuple[Part, ...]:
    """A record that takes several steps back has the parts of each."""
    artifact = STEP[step].artifact
    return tuple(
        part for part in parts if part.file == artifact or step_text.is_companion(step, part.file)
    )
