"""A new run's slug: two to four key words, in lower case, joined by hyphens."""

from __future__ import annotations

import re
import unicodedata

from qrspi.core.filenames import SLUG
from qrspi.core.model import Problem
from qrspi.core.text import shell_words

FEWEST, MOST = 2, 4
LONGEST = 60
_INIT, _QUICK = ("qrspi", "init"), ("--pipeline", "quick")
EXPECTED = "2 to 4 lower-case words joined by hyphens, such as user-auth"

# Words that say nothing about the subject, and verbs that begin nearly every request.
_FILLING = frozenset(
    """a also an and are as at be been being but by can could do does for from
    had has have having he her his how i if in into is it its just let lets may me might must my
    need needs of on onto or our out over please she should so some than that the their them then
    there these they this those to too up us via want wants was we were what when where which while
    who why will with without would you your""".split()
)
_STARTING = frozenset(
    """add allow build change create do enable fix give implement improve introduce make new
    provide show support write""".split()
)


def is_free_text(word: str) -> bool:
    return any(char.isspace() for char in word)


def from_text(text: str) -> str | None:
    """The slug of what somebody wants; None when too few words are left to name it."""
    words = _words(text)
    key_words = [word for word in words if word not in _FILLING]
    subject = [word for word in key_words if word not in _STARTING]
    chosen = next((some for some in (subject, key_words, words) if len(some) >= FEWEST), None)
    return _joined(chosen) if chosen else None


def _words(text: str) -> list[str]:
    # A single word may consist of several, as userAuth does; in a sentence it is a name: GitHub.
    apart = text if is_free_text(text) else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    plain = unicodedata.normalize("NFKD", apart.casefold()).encode("ascii", "ignore").decode()
    # e-mail is one word.
    whole = re.sub(r"['`]|(?<=\b[a-z])-(?=[a-z]{2})", "", plain)
    parts = re.findall(r"[a-z0-9]+", whole)
    return list(dict.fromkeys(word for word in parts if len(word) < LONGEST // FEWEST))


def _joined(words: list[str]) -> str:
    slug = "-".join(words[:FEWEST])
    for word in words[FEWEST:MOST]:
        if len(slug) + 1 + len(word) > LONGEST:
            break
        slug += f"-{word}"
    return slug


def problem(slug: str) -> Problem | None:
    if len(slug) <= LONGEST and re.fullmatch(SLUG, slug):
        return None
    long = f"{len(slug)} characters, at most {LONGEST}: " if len(slug) > LONGEST else ""
    near = from_text(slug)
    return Problem(
        "bad-slug",
        f"{slug[: LONGEST + 1]!r} is not a slug: {long}expected {EXPECTED}",
        field="SLUG",
        found=slug,
        expected=EXPECTED,
        hint=shell_words.command(*_INIT, near, *_QUICK) if near else _with_name(slug),
    )


def nameless(text: str) -> Problem:
    return Problem(
        "bad-slug",
        f"no slug can be made from {text[:LONGEST]!r}: expected two words of a to z or 0 to 9 "
        "in it; give the run a name beside it",
        field="SLUG",
        found=text,
        expected=EXPECTED,
        hint=_with_name(text),
    )


def bad_name(text: str, name: str) -> Problem | None:
    """What is wrong with a name that is given beside the text."""
    refused = problem(name)
    near = from_text(name) if refused else None
    return refused and refused._replace(field="--name", hint=_with_name(text, near or ""))


def _with_name(text: str, name: str = "SLUG") -> str:
    """The command that keeps the text as the request; '' where there is no name to propose."""
    if not text.strip():
        return 'qrspi init "TEXT" --pipeline quick'
    said = text if len(text) <= LONGEST and text.isprintable() else "…"
    return shell_words.command(*_INIT, said, "--name", name, *_QUICK) if name else ""
