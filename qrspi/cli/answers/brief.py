"""What `brief` says: one page that puts somebody in the picture."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.derivation import brief
from qrspi.core.derivation.derive import survey
from qrspi.render.terminal import visible
from qrspi.world.runs import machine_signs
from qrspi.world.runs.committed_tree import CommittedTree

CHARS = 4000


def show(session: Session, run: str | None = None, chars: int = CHARS) -> None:
    found = session.run(run)
    looked = survey(CommittedTree(found.path), session.run_path(found), thorough=True)
    looked = looked._replace(state=machine_signs.told(looked.state, found.path))
    page = brief.page(looked, chars)
    document = {
        "schema": "qrspi/brief/v1",
        "run": found.name,
        "text": page.text,
        "left_out": list(page.left_out),
    }
    session.answer(document, visible(page.text).rstrip("\n").split("\n"))
