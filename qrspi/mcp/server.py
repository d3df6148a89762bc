"""`qrspi mcp`: runs, for a model that works in a host. Every tool is a command, with its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult
from pydantic import ValidationError

from qrspi import __version__
from qrspi.cli.in_process import Commands
from qrspi.mcp import offered_tools, tool_answers
from qrspi.mcp.offered_tools import Right
from qrspi.mcp.prompts import WaitingPrompts
from qrspi.mcp.resources import RunResources
from qrspi.mcp.run_changes import RunChanges

INSTRUCTIONS = """\
qrspi keeps plans that agents write and people approve, as runs: folders of Markdown below \
docs/qrspi. Each run has steps (goals, questions, research, …, test); each step has a text, which \
is reviewed in rounds until it is clean and then approved. The engine alone decides what is next.
Begin with `status`. Then, again and again, ask `next_step` and do what it says: `who` is engine \
(call `advance` where it is offered), agent (you, or agents you start: `read_prompt` gives the \
text for each) or human (show the person what is asked, and stop). Never approve for a person, \
and never edit what the engine keeps. Answers name commands such as `qrspi next RUN`: a person \
types them, and the tools here do the same. A refusal says its code, why, and the way out."""


def server(commands: Commands, rights: frozenset[Right], *, verbose: bool) -> MCPServer[Any]:
    offers = [offer for offer in offered_tools.OFFERS if offer.right in rights]
    tools = {offer.name: offered_tools.tool(offer, commands) for offer in offers}
    resources = RunResources(commands)

    async def list_resources(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if ctx.method != "resources/list":
            return await call_next(ctx)
        return await anyio.to_thread.run_sync(resources.listed)

    made = MCPServer(
        "qrspi",
        title="qrspi: plans that agents write and review",
        instructions=INSTRUCTIONS,
        version=__version__,
        tools=list(tools.values()),
        middleware=[_CheckedCalls(tools), list_resources],
        subscriptions=RunChanges(commands.session),
        log_level="INFO" if verbose else "CRITICAL",
    )
    resources.register(made)
    WaitingPrompts(commands).register(made)
    return made


class _CheckedCalls:
    """Says in qrspi's words what is wrong with a call, before the SDK does."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if ctx.method == "tools/call" and (refused := self._refusal(ctx.params or {})):
            return refused
        return await call_next(ctx)

    def _refusal(self, asked: Mapping[str, Any]) -> CallToolResult | None:
        name, arguments = asked.get("name"), asked.get("arguments") or {}
        if not (isinstance(name, str) and isinstance(arguments, dict)):
            return None  # no call at all
        tool = self._tools.get(name)
        if tool is None:
            return tool_answers.refusal(offered_tools.not_offered(name))
        expected = tool.parameters["properties"]
        if unknown := arguments.keys() - expected.keys():
            return tool_answers.misuse(name, f"it takes no {', '.join(sorted(unknown))}", expected)
        try:
            tool.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            return tool_answers.misuse(name, "; ".join(wrong), expected)
        return None


def serve(commands: Commands, rights: frozenset[Right], *, verbose: bool) -> None:
    """Until the client closes our standard input, whether or not it still reads our answers."""
    try:
        anyio.run(server(commands, rights, verbose=verbose).run_stdio_async)
    except* BrokenPipeError:
        pass
