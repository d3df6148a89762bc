"""Show a person what a repository names, and ask whether that is allowed."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.trust import ConsentNeeded, NamedThing
from qrspi.handlers.runs import consent
from qrspi.render import consent_page


def ask(session: Session, needed: Refusal) -> None:
    """Remembers a yes; a no is refused."""
    assert isinstance(needed, ConsentNeeded)
    session.tell(["Nobody has allowed this here yet:", "", *consent_page.lines(needed.named)])
    must_allow(session, needed.project, needed.named)
    consent.allow(needed.project, needed.named, "answer")


def must_allow(session: Session, project: str, named: tuple[NamedThing, ...]) -> None:
    what = "exactly this" if len(named) == 1 else f"exactly these {len(named)}"
    if not session.confirm(f"Allow {what} in {project}? (y/n)"):
        raise Refusal(Problem("declined", "not allowed: you said no, and nothing was run"))
