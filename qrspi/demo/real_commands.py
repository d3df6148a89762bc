"""The real commands, called in this process: starting Python for each would be half the time."""

from __future__ import annotations

import json
from typing import Any

from qrspi.cli.session import Session
from qrspi.core.errors import Refusal


class _Listener(Session):
    """Asks for JSON, and keeps what a command says instead of printing it."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root_option = root
        self.json = True
        self.said = ""

    def write(self, text: str) -> None:
        self.said += text

    def note(self, text: str) -> None:
        return


def call(root: str, *words: str) -> dict[str, Any]:
    """What `qrspi WORDS --json` answers. In a demonstration no command is refused."""
    from qrspi.cli.app import application

    session = _Listener(root)
    try:
        application.main(list(words), standalone_mode=False, obj=session)
    except Refusal as refusal:
        raise RuntimeError(f"`{shown(words)}` was refused: {refusal.problem.message}") from refusal
    answer: dict[str, Any] = json.loads(session.said)
    return answer


def shown(words: tuple[str, ...]) -> str:
    """As somebody would type it."""
    import shlex

    return shlex.join(("qrspi", *words))
