"""The `qrspi` command."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as type checkers know it; importing typing is a fifth of a hook's time
if TYPE_CHECKING:
    from typing import NoReturn

    from qrspi.cli.session import Session


def main(argv: list[str] | None = None) -> None:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        _hook(words[1:])
    if argv is not None:
        sys.exit(_status(words))
    from qrspi.cli import short_life

    short_life.begin()
    short_life.end(_status(words))


def _hook(words: list[str]) -> NoReturn:
    """Hosts ask before every edit, so this is answered before anything else is imported."""
    from qrspi.cli import plain_hook

    plain_hook.reply(words)
    sys.exit(0)


def _status(words: list[str]) -> int:
    from qrspi.cli.boundary import guarded
    from qrspi.cli.session import Session

    session = Session()
    # A usage error is found before --json is parsed, and must be answered as JSON too.
    session.json = "--json" in words
    return guarded(session, lambda: call(session, words))


def call(session: Session, words: list[str]) -> object:
    from qrspi.cli import plain_forms

    session.words = tuple(words)
    status = plain_forms.answer(session, words)
    if status is not None:
        return status
    from qrspi.cli.app import application

    return application.main(words, "qrspi", standalone_mode=False, obj=session)
