"""Files under names that nobody expected, each with the expected name that is nearest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from qrspi.core.filenames import clean_file, finding_file, sidecar_file
from qrspi.core.findings.round_files import RoundFiles
from qrspi.core.model import Problem

_UNKNOWN = "not a name that a round knows"


def note(files: RoundFiles, expected: tuple[str, ...]) -> None:
    """A file that is no review, and whose name resembles no expected one, is ignored."""
    for name in files.unknown:
        meant = nearest(name, _expected(name, expected, files.finding_files))
        if meant or name.endswith(".md"):
            text = f"{_UNKNOWN}; the file is left alone{hint(name, meant)}"
            files.page(name).warning("unknown_file", text, found=name, expected=meant)


def alone(name: str, file: str, tags: Iterable[str]) -> tuple[Problem, ...]:
    """The same of a file that is looked at by itself; `tags` may review there."""
    tags = tuple(tags)
    stems = [finding_file(tag, _number(name)).removesuffix(".md") for tag in tags]
    meant = nearest(name, _expected(name, tags, stems))
    if not (meant or name.endswith(".md")):
        return ()
    text = f"{file}: {_UNKNOWN}, so nobody reads it{hint(name, meant)}"
    return (Problem("unknown_file", text, file, found=name, expected=meant),)


def _expected(name: str, tags: Iterable[str], stems: Iterable[str]) -> Iterator[str]:
    for tag in tags:
        yield from (finding_file(tag, _number(name)), clean_file(tag))
    yield from map(sidecar_file, stems)


def _number(name: str) -> int:
    return int((re.findall(r"[0-9]{1,4}", name) or ["1"])[-1])


def nearest(word: str, known: Iterable[str], likeness: float = 0.75) -> str:
    """The name that was probably meant, at best one with two letters swapped."""
    by_lower = {one.lower(): one for one in known}
    swapped = [one for one in by_lower if sorted(one) == sorted(word.lower())]
    near = swapped or get_close_matches(word.lower(), by_lower, 1, likeness)
    return by_lower[near[0]] if near else ""


def begun(word: str, known: Iterable[str]) -> str:
    """The name that begins with these words; '' when several do."""
    names = [one for one in known if one.startswith(f"{word}-")]
    return names[0] if len(names) == 1 else ""


def meant(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word."""
    near = nearest(word, known, likeness=0.6)
    return f"; did you mean {near}?" if near else ""


def hint(name: str, meant: str) -> str:
    return f". Did you mean {meant}?" if meant and meant != name else ""
