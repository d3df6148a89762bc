"""The commands of qrspi, called in this process: another surface shows what a command answers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from qrspi.cli import call
from qrspi.cli.boundary import guarded
from qrspi.cli.session import Session
from qrspi.core.named_tuple import NamedTuple


class Answer(NamedTuple):
    status: int  # as the command exits
    text: str  # what it prints with --json
    lines: tuple[str, ...] = ()  # what it prints without
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        document = json.loads(self.text or "{}")
        assert isinstance(document, dict)
        return document


class Unanswered(Exception):
    """A command refused, or the thing does not exist."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.document.get("message", ""))
        self.answer = answer


class KeptSession(Session):
    def __init__(self, like: Session, surface: str, handed: bytes) -> None:
        super().__init__()
        self.surface, self.handed = surface, handed
        self.json = True
        self.root_option, self._root = like.root_option, like._root
        self.lock_timeout = like.lock_timeout
        self.written: list[str] = []
        self.lines: list[str] = []
        self.notes: list[str] = []

    @property
    def progress(self) -> bool:
        return False

    def answer(self, document: dict[str, Any], lines: Iterable[str]) -> None:
        self.lines += map(self.reachable, lines)
        self.emit(document)

    def write(self, text: str) -> None:
        self.written.append(text)

    def note(self, *texts: str) -> None:
        self.notes += texts


class Commands:
    def __init__(self, session: Session, surface: str, *, may_approve: bool = True) -> None:
        self.session = session
        self.surface = surface
        self.may_approve = may_approve

    def run(self, *words: str, handed: bytes = b"") -> Answer:
        """`handed` is what the command gets as its standard input."""
        session = self.session_for(handed)
        status = guarded(session, lambda: call(session, list(words)))
        return Answer(status, "".join(session.written), tuple(session.lines), tuple(session.notes))

    def session_for(self, handed: bytes = b"") -> KeptSession:
        session = KeptSession(self.session, self.surface, handed)
        session.may_approve = self.may_approve
        return session

    def ask(self, *words: str) -> dict[str, Any]:
        return self._answered(words).document

    def lines(self, *words: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._answered(words).text.splitlines()]

    def _answered(self, words: tuple[str, ...]) -> Answer:
        answer = self.run(*words)
        if answer.status:
            raise Unanswered(answer)
        return answer
