"""The `qrspi` command."""

from __future__ import annotations

import gc
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
    # A usage error is found before --json is parsed, and must be answered as JSON too.
    session.json = "--json" in words
    status = guarded(session, lambda: _run(session, words))
    if argv is None:
        gc.freeze()  # the process ends here: a last search for garbage is a tenth of a `status`
    sys.exit(status)


def _run(session: Session, words: list[str]) -> object:
    from qrspi.cli import plain_status

    if plain_status.answers(session, words):
        return 0
    from qrspi.cli.app import application

    return application.main(words, "qrspi", standalone_mode=False, obj=session)
