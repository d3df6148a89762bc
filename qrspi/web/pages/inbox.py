"""`/inbox`: all that waits for a person, several answered at once."""

from __future__ import annotations

from typing import Any, NamedTuple

from qrspi.cli.in_process import Answer, Commands
from qrspi.web import forms
from qrspi.web.templates import Page


class Waiting(NamedTuple):
    item: dict[str, Any]
    finding: str  # that is decided about; '' for what is answered on the run's page


class Given(NamedTuple):
    """An answer of a batch, and what became of it."""

    name: str
    answer: Answer

    @property
    def message(self) -> str:
        return str(self.answer.document.get("message", "")) if self.answer.status else "done"


def page(commands: Commands, query: dict[str, str]) -> Page:
    document = commands.ask("inbox")
    items = [Waiting(item, _finding(item)) for item in document["items"]]
    batch = [one for one in items if one.finding]
    return Page("inbox.html", "Inbox", {"items": items, "batch": len(batch), "given": ()})


def _finding(item: dict[str, Any]) -> str:
    """A pause is decided finding by finding; its sentence begins with the finding's name."""
    return str(item["summary"]).partition(":")[0] if item["kind"] == "pause" else ""


def answered(commands: Commands, fields: dict[str, str]) -> Page:
    """Each answer by itself: one that is refused leaves the others as they are."""
    given = []
    for name, choice in fields.items():
        run, _, finding = name.partition(" ")
        if choice not in ("apply", "skip") or not finding:
            continue
        said = forms.words(run, "decide", {"finding": finding, "choice": choice})
        if isinstance(said, tuple) and not run.startswith("-"):
            given.append(Given(f"{run} {finding} {choice}", commands.run(*said)))
    found = page(commands, {})
    refused = any(one.answer.status for one in given)
    context = {**found.context, "given": given}
    return found._replace(context=context, status=409 if refused else 200)
