"""What was done to a run and where it stands now, as a document and as lines."""

from __future__ import annotations

from typing import Any

from qrspi.engine import Outcome
from qrspi.handlers.jobs.job import Performed
from qrspi.render import run_page as states
from qrspi.render.safe_text import one_line


def document(outcome: Outcome) -> dict[str, Any]:
    return {
        "schema": "qrspi/next/v1",
        **states.run_document(outcome.state),
        "performed": [performed(done) for done in outcome.performed],
    }


def performed(done: Performed) -> dict[str, Any]:
    return {
        "handler": done.handler,
        "step": done.step,
        "round": done.round or None,
        "files": list(done.files),
        "notes": list(done.notes),
    }


def lines(outcome: Outcome, dry_run: bool = False) -> list[str]:
    done = [line for one in outcome.performed for line in _did(one, dry_run)]
    return [*done, *states.notes(outcome.state), *states.next_lines(outcome.state.next)]


def _did(done: Performed, dry_run: bool) -> list[str]:
    verb = "would do" if dry_run else "done"
    return [f"{verb}: {title(done)}", *(f"  {one_line(name)}" for name in done.files)]


def title(done: Performed) -> str:
    number = f" round {done.round}" if done.round else ""
    return one_line(f"{done.handler} {done.step}{number}")
