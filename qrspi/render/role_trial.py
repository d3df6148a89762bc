"""What came of a trial of role texts, as a table and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qrspi.core.agents.trial_score import Outcome
from qrspi.core.model import counted
from qrspi.handlers.agents.role_trial import Result
from qrspi.render.terminal import one_line, table

SCHEMA = "qrspi/roles-trial/v1"
_HEAD = ("ROLE", "ANSWERED", "FOUND", "MISSED", "FALSE", "ELSEWHERE")


def laid_out_document(folder: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {**_blank(), "folder": folder, "prompts": list(names)}


def laid_out_lines(folder: str, names: tuple[str, ...]) -> list[str]:
    return [
        f"Wrote {counted(len(names), 'prompt')} to {one_line(folder)}, and beside them the files "
        "that they are about.",
        "Give each to an agent that sees nothing else; put its answer into another folder, under "
        "the prompt's name. Then:",
        "  qrspi roles trial --answers DIR --model MODEL",
    ]


def document(result: Result, folder: str, model: str, day: str) -> dict[str, Any]:
    return {
        **_blank(),
        "folder": folder,
        "model": model or None,
        "date": day,
        "roles": [tally._asdict() for tally in result.tallies],
        "outcomes": [_outcome(outcome) for outcome in result.outcomes if outcome.state != "absent"],
    }


def _blank() -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "folder": None,
        "prompts": [],
        "model": None,
        "date": None,
        "roles": [],
        "outcomes": [],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    elsewhere = [{"cited": list(at.cited), "message": at.message} for at in outcome.elsewhere]
    return {**outcome._asdict(), "elsewhere": elsewhere, "problem": outcome.problem or None}


def lines(result: Result, folder: str, width: int) -> list[str]:
    if all(one.state == "absent" for one in result.outcomes):
        first = result.outcomes[0].name
        return [f"{one_line(folder)} has no answer yet; expected files such as {first}.md."]
    rows = [row(tally._asdict()) for tally in result.tallies]
    remarks = [line for outcome in result.outcomes for line in _remark(outcome)]
    return [*table(_HEAD, rows, width), *([""] if remarks else []), *remarks]


def row(tally: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        tally["role"],
        f"{tally['answered']} of {tally['asked']}",
        f"{tally['found']} of {tally['faults']}",
        str(tally["missed"]),
        f"{tally['false']} of {tally['harmless']}",
        str(tally["elsewhere"]),
    )


def _remark(outcome: Outcome) -> Iterator[str]:
    # A claim's own name says nothing of the text that it is about.
    name = outcome.name if outcome.name == outcome.case else f"{outcome.name}, about {outcome.case}"
    if outcome.problem:
        yield f"{name}: cannot be used: {one_line(outcome.problem)}"
    if outcome.missed and not outcome.problem:
        yield f"{name}: missed {', '.join(outcome.missed)}"
    if outcome.false:
        yield f"{name}: false {', '.join(outcome.false)}"
