"""A plain `status` and a plain `log` without click.

People, prompts and hooks ask for them all day. A bare interpreter starts in 15 ms and the whole
answer takes some 30 ms more; importing click would double that. So the words of these two
commands are read here when they are in the tables below; click reads anything else, and every
mistake. Both ways end in the same `show`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from qrspi.cli.session import Session

_EVERYWHERE = {"--json": "json", "--no-color": "plain", "-q": "quiet", "--quiet": "quiet"}
_FLAGS = {
    "status": {"--all": "everything", "--explain": "explain", "--checklist": "checklist"},
    "log": {"--all": "everything", "--files": "files"},
}
_NUMBERS: dict[str, dict[str, str]] = {"status": {}, "log": {"-n": "lines", "--lines": "lines"}}


class _Read(NamedTuple):
    verb: str
    request: dict[str, Any]


def answers(session: Session, words: Sequence[str]) -> bool:
    """Answers a plain command; False when the words are not one."""
    settings: dict[str, Any] = {}
    read = _read(words, settings)
    if read is None:
        return False
    for name, value in settings.items():
        setattr(session, name, value)
    _show(session, read)
    return True


def _show(session: Session, read: _Read) -> None:
    if read.verb == "log":
        from qrspi.cli import log_answer

        log_answer.show(session, log_answer.Request(**read.request))
    else:
        from qrspi.cli import status_answer

        status_answer.show(session, status_answer.Request(**read.request))


def _read(words: Sequence[str], settings: dict[str, Any]) -> _Read | None:
    """None when click must read the words."""
    verb = ""
    request: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        if word in _EVERYWHERE:
            settings[_EVERYWHERE[word]] = True
        elif word == "--root":
            settings["root_option"] = next(rest, "-")
            if settings["root_option"].startswith("-"):
                return None
        elif not verb and word in _FLAGS:
            verb = word
        elif not verb or not _take(word, rest, verb, request):
            return None
    contradictory = verb == "log" and "everything" in request and "lines" in request
    return _Read(verb, request) if verb and not contradictory else None


def _take(word: str, rest: Iterator[str], verb: str, request: dict[str, Any]) -> bool:
    """A word after the verb; False when it is not in the tables."""
    if word in _FLAGS[verb]:
        request[_FLAGS[verb][word]] = True
    elif word in _NUMBERS[verb]:
        number = next(rest, "")
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            return False
        request[_NUMBERS[verb][word]] = int(number)
    elif "run" in request or word.startswith("-"):
        return False
    else:
        request["run"] = word
    return True
