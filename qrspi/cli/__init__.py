"""The `qrspi` command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qrspi.cli.session import Session


def main(argv: list[str] | None = None) -> None:
    """Parses, calls, renders, exits."""
    from qrspi.cli.boundary import guarded
    from qrspi.cli.session import Session

    words = sys.argv[1:] if argv is None else argv
    session = Session()
    # A usage error is found before the option is parsed, and must be answered in kind.
    session.json = "--json" in words
    sys.exit(guarded(session, lambda: _run(session, words)))


def _run(session: Session, words: list[str]) -> object:
    from qrspi.cli import shortcut

    if shortcut.answers(session, words):
        return 0
    from qrspi.cli.app import application

    return application.main(words, "qrspi", standalone_mode=False, obj=session)
