"""The plain forms of what people, prompts and hosts ask for, without click.

They are asked for all the time. A bare interpreter starts in 15 ms and a whole
`status` takes some 30 ms more; importing click would double that. So the words of these commands
are read here when they stand in the table below; click reads everything else, and every mistake.
Both ways end in the same `show`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qrspi.cli.session import Session

_EVERYWHERE = {"--json": "json", "--no-color": "plain", "-q": "quiet", "--quiet": "quiet"}


class Form(NamedTuple):
    """The options of a command that are read here, each with its argument of `show`."""

    flags: Mapping[str, str] = {}
    numbers: Mapping[str, tuple[str, int]] = {}  # with the smallest value that is accepted
    words: int = 1  # the command itself interprets several
    word: str = "run"  # the argument that a single one is
    fewest: int = 0  # of these words
    apart: frozenset[str] = frozenset()  # arguments that cannot go together


_LINES = ("lines", 0)
FORMS = {
    "status": Form({"--all": "everything", "--explain": "explain", "--checklist": "checklist"}),
    "next": Form(
        {
            "--dry-run": "dry_run",
            "--no-commit": "no_commit",
            "--present": "present",
            "--anyway": "anyway",
            "--exit-code": "exit_code",
        }
    ),
    "show": Form(
        {"--dropped": "dropped", "--since-approval": "since_approval"},
        {"--round": ("number", 1)},
        words=2,
    ),
    "inbox": Form({"--commands": "commands"}, words=0),
    "brief": Form(numbers={"--chars": ("chars", 200)}),
    "explain": Form({"--files": "files"}),
    "log": Form(
        {"--all": "everything", "--files": "files"},
        {"-n": _LINES, "--lines": _LINES},
        apart=frozenset(("everything", "lines")),
    ),
    "config show": Form(),
    "route show": Form(),
    "task list": Form(),
    "round assemble": Form({"--dry-run": "dry_run"}, {"--round": ("number", 1)}, words=2, fewest=1),
    "frontmatter get": Form(words=2, fewest=2),
    "spend": Form(words=0),  # the word after it may be `add`
    "doctor": Form(words=0),
    "schema": Form(word="name"),
}
_GROUPS = frozenset(verb.partition(" ")[0] for verb in FORMS if " " in verb)


class _Read(NamedTuple):
    verb: str
    request: dict[str, Any]


def answer(session: Session, words: Sequence[str]) -> int | None:
    """Answers a plain command and gives its exit status; None when the words are not one."""
    settings: dict[str, Any] = {}
    read = _read(words, settings)
    if read is None:
        return None
    for name, value in settings.items():
        setattr(session, name, value)
    verb = import_module(f"qrspi.cli.answers.{read.verb.replace(' ', '_')}")
    return verb.show(session, **read.request) or 0


def _read(words: Sequence[str], settings: dict[str, Any]) -> _Read | None:
    """None when click must read the words."""
    verb = ""
    request: dict[str, Any] = {}
    named: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _EVERYWHERE:
            settings[_EVERYWHERE[word]] = True
        elif word == "--root":
            settings["root_option"] = next(rest, "-")
            if settings["root_option"].startswith("-"):
                return None
        elif not verb and word in FORMS:
            verb = word
        elif not verb and word in _GROUPS:
            verb = f"{word} {next(rest, '')}"
            if verb not in FORMS:
                return None
        elif verb and not word.startswith("-"):
            named.append(word)
        elif not verb or not _take(word, rest, FORMS[verb], request):
            return None
    if not _fits(verb, request, named):
        return None
    return _Read(verb, request | _words(named, FORMS[verb]))


def _take(word: str, rest: Iterator[str], form: Form, request: dict[str, Any]) -> bool:
    """An option of the verb; False when it is not in the table."""
    if word in form.flags:
        request[form.flags[word]] = True
        return True
    if word not in form.numbers:
        return False
    field, least = form.numbers[word]
    number = next(rest, "")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        return False
    request[field] = int(number)
    return request[field] >= least  # type: ignore[no-any-return]


def _fits(verb: str, request: dict[str, Any], named: list[str]) -> bool:
    if not verb or not FORMS[verb].fewest <= len(named) <= FORMS[verb].words:
        return False
    apart = FORMS[verb].apart
    return not apart or not apart <= request.keys()


def _words(named: list[str], form: Form) -> dict[str, Any]:
    if form.words > 1:
        return {"words": tuple(named)}
    return {form.word: named[0]} if named else {}
