"""Which tools there are, what each answers, and what allows it to be called."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, ToolAnnotations

from qrspi.cli.in_process import Commands
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.mcp import reading_tools, tool_answers, writing_tools
from qrspi.mcp.command_words import Call
from qrspi.world.files import shipped_schemas

Right = Literal["read", "write", "approve"]
_STARTED: dict[Right, str] = {
    "read": "qrspi mcp",
    "write": "qrspi mcp --write",
    "approve": "qrspi mcp --allow-approve",
}


def rights(*, write: bool, approve: bool) -> frozenset[Right]:
    asked: dict[Right, bool] = {"read": True, "write": write, "approve": approve}
    return frozenset(right for right, given in asked.items() if given)


class Offer(NamedTuple):
    make: Callable[..., Call]
    schema: str  # of what it answers; of several where that depends on what is asked
    title: str
    right: Right = "read"
    undoes: bool = False  # may take back what was approved or written

    @property
    def name(self) -> str:
        return self.make.__name__


# A menu about config.md is answered by the command that repairs it.
_ANSWERS = "resolve config-set config-migrate config-validate route-set"
OFFERS = (
    Offer(reading_tools.status, "status", "Where runs stand"),
    Offer(reading_tools.next_step, "next", "What a run needs now"),
    Offer(reading_tools.explain, "explain", "Why a run stands where it stands"),
    Offer(reading_tools.brief, "brief", "One page about a run"),
    Offer(reading_tools.show_round, "show", "Findings of a review round"),
    Offer(reading_tools.inbox, "inbox", "What waits for a person"),
    Offer(reading_tools.read_prompt, "prompt", "What an agent is to be told"),
    Offer(reading_tools.verify, "verify", "Was anything skipped"),
    Offer(reading_tools.spend, "spend", "What a run has cost"),
    Offer(writing_tools.advance, "next", "Do what can be done now", "write"),
    Offer(writing_tools.submit_artifact, "submit-artifact", "Hand in a step's text", "write"),
    Offer(writing_tools.submit_findings, "ingest", "Hand in a reviewer's findings", "write"),
    Offer(writing_tools.submit_score, "submit-score", "Hand in a finding's score", "write"),
    Offer(writing_tools.report_task, "task-report", "Report a task", "write"),
    Offer(writing_tools.add_comment, "comment-add", "Comment on lines", "write"),
    Offer(writing_tools.add_spend, "spend-add", "Enter what was spent", "write"),
    Offer(writing_tools.decide, "decide", "What becomes of a finding", "write", undoes=True),
    Offer(writing_tools.resolve, _ANSWERS, "Answer a run's menu", "write", undoes=True),
    Offer(writing_tools.approve, "approve", "Approve a step", "approve"),
)
OFFER = {offer.name: offer for offer in OFFERS}


def tool(offer: Offer, commands: Commands) -> Tool:
    reads = offer.right == "read"
    made = Tool.from_function(
        offer.make,
        title=offer.title,
        description=" ".join((inspect.getdoc(offer.make) or "").split()),
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=None if reads else offer.undoes,
            open_world_hint=False,
        ),
        structured_output=False,
    )
    made.fn_metadata.output_schema = _schema(offer.schema)
    made.parameters = _plain(made.parameters)

    def body(**arguments: Any) -> CallToolResult:
        words, text = offer.make(**arguments)
        return tool_answers.result(commands.run(*words, handed=text))

    return made.model_copy(update={"fn": body})


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that are made from the names, since a model pays for every word."""
    properties = {
        name: {key: value for key, value in about.items() if key != "title"}
        for name, about in parameters["properties"].items()
    }
    required = {"required": parameters["required"]} if "required" in parameters else {}
    known = {"type": "object", "properties": properties}
    return {**known, **required, "additionalProperties": False}


@cache
def _schema(names: str) -> dict[str, Any]:
    """The published one, or one that takes any of several."""
    found = [json.loads(shipped_schemas.text(name)) for name in names.split()]
    if len(found) == 1:
        published: dict[str, Any] = found[0]
        return published
    parts = [{key: one[key] for key in one if key[0] != "$"} for one in found]
    definitions = {name: about for one in found for name, about in one.get("$defs", {}).items()}
    return {"type": "object", "anyOf": parts, "$defs": definitions}


def not_offered(name: str) -> Problem:
    from qrspi.core.findings.near_names import meant

    if offer := OFFER.get(name):
        way = _STARTED[offer.right]
        text = f"{name} is not offered here; a server that is started as `{way}` offers it"
        return Problem("not-offered", text, found=name, hint=way)
    text = f"there is no tool {name!r}{meant(name, OFFER)}"
    return Problem("not-offered", text, found=name, expected=", ".join(OFFER))
