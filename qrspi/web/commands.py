"""The commands of qrspi, asked in this process: a page shows the document that a command prints."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from qrspi.cli import plain_status
from qrspi.cli.app import application
from qrspi.cli.boundary import guarded
from qrspi.cli.session import Session


class Answer(NamedTuple):
    status: int  # as the command exits
    text: str  # what it prints with --json
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        found = json.loads(self.text or "{}")
        assert isinstance(found, dict)
        return found


class Unanswered(Exception):
    """A command said no, or that there is no such thing."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.document.get("message", ""))
        self.answer = answer


class PageSession(Session):
    """A command's session whose answer is kept."""

    surface = "web"

    def __init__(self, like: Session) -> None:
        super().__init__()
        self.json = True
        self.root_option, self._root = like.root_option, like.root
        self.lock_timeout = like.lock_timeout
        self.written: list[str] = []
        self.notes: list[str] = []

    @property
    def progress(self) -> bool:
        return False

    def write(self, text: str) -> None:
        self.written.append(text)

    def note(self, *texts: str) -> None:
        self.notes += texts


class Commands:
    """Commands on the runs of the session that started the page."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def run(self, *words: str) -> Answer:
        session = PageSession(self.session)
        status = guarded(session, lambda: _call(session, words))
        return Answer(status, "".join(session.written), tuple(session.notes))

    def ask(self, *words: str) -> dict[str, Any]:
        """The document of a command that only reads."""
        answer = self.run(*words)
        if answer.status:
            raise Unanswered(answer)
        return answer.document

    def lines(self, *words: str) -> list[dict[str, Any]]:
        """The same, of a command that prints one document a line."""
        answer = self.run(*words)
        if answer.status:
            raise Unanswered(answer)
        return [json.loads(line) for line in answer.text.splitlines()]


def _call(session: PageSession, words: tuple[str, ...]) -> object:
    if plain_status.answers(session, words):
        return 0
    return application.main(list(words), "qrspi", standalone_mode=False, obj=session)
