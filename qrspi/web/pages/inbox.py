"""`/inbox`: all that waits for a person, several answered at once."""

from __future__ import annotations

from typing import Any

from qrspi.cli.answers import inbox
from qrspi.cli.in_process import Answer, Commands
from qrspi.core.named_tuple import NamedTuple
from qrspi.render.run_page import run_document
from qrspi.web.answers import forms, gates
from qrspi.web.html import Page
from qrspi.web.parts import navigation


class Waiting(NamedTuple):
    item: dict[str, Any]
    held: dict[str, Any] | None  # the finding that is decided about
    answer: str  # the address where everything else is answered

    @property
    def name(self) -> str:
        """Of its answer in the form."""
        return f"{self.item['run']} {self.item['finding']}"

    @property
    def key(self) -> str:
        """Tells it from the others of the page."""
        return f"{self.item['run']} {self.item['kind']} {self.item['finding'] or ''}"


class GivenAnswer(NamedTuple):
    name: str
    answer: Answer

    @property
    def message(self) -> str:
        return str(self.answer.document.get("message", "")) if self.answer.status else "done"


def page(commands: Commands, query: dict[str, str]) -> Page:
    looked = inbox.look(commands.session_for())
    shown, pages = navigation.page(looked.items, query.get("page", ""), "/inbox")
    states = {state.run: state for state in looked.runs}
    items = [_waiting(inbox.document(item), run_document(states[item.run])) for item in shown]
    batch = sum(one.held is not None for one in items)
    context = {"items": items, "batch": batch, "given": (), "paging": pages}
    return Page("inbox.html", "Inbox", context)


def _waiting(item: dict[str, Any], run: dict[str, Any]) -> Waiting:
    held = run["next"]["held"] if item["finding"] else ()
    finding = next((one for one in held if one["name"] == item["finding"]), None)
    return Waiting(item, finding, gates.answered_at(run))


def answered(commands: Commands, fields: dict[str, str]) -> Page:
    """Each answer by itself: one that is refused leaves the others as they are."""
    given = []
    for name, choice in fields.items():
        run, _, finding = name.partition(" ")
        if choice not in ("apply", "skip") or not finding:
            continue
        typed = forms.words(run, "decide", {"finding": finding, "choice": choice})
        if isinstance(typed, tuple) and not run.startswith("-"):
            given.append(GivenAnswer(f"{run} {finding} {choice}", commands.run(*typed)))
    shown = page(commands, {})
    refused = any(one.answer.status for one in given)
    context = {**shown.context, "given": given}
    return shown._replace(context=context, status=409 if refused else 200, answer=True)
