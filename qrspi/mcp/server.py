"""`qrspi mcp`: runs, for a model that works in a host. Every tool is a command, with its answer."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

from qrspi import __version__
from qrspi.cli.in_process import Commands
from qrspi.mcp import offered_tools, tool_answers
from qrspi.mcp.offered_tools import Right

INSTRUCTIONS = """\
qrspi keeps plans that agents write and people approve, as runs: folders of Markdown below \
docs/qrspi. Each run has steps (goals, questions, research, …, test); each step has a text, which \
is reviewed in rounds until it is clean and then approved. The engine alone decides what is next.
Begin with `status`. Then, again and again, ask `next_step` and do what it says: `who` is engine \
(call `advance` where it is offered), agent (you, or agents you start: `read_prompt` gives the \
text for each) or human (show the person what is asked, and stop). Never approve for a person, \
and never edit what the engine keeps. Answers name commands such as `qrspi next RUN`: a person \
types them, and the tools here do the same. A refusal says its code, why, and the way out."""


class RunsServer(MCPServer[None]):
    """Says in the words of qrspi what is wrong about a call."""

    def __init__(self, commands: Commands, rights: frozenset[Right], *, verbose: bool) -> None:
        offers = [offer for offer in offered_tools.OFFERS if offer.right in rights]
        self._tools = {offer.name: offered_tools.tool(offer, commands) for offer in offers}
        super().__init__(
            "qrspi",
            title="qrspi: plans that agents write and review",
            instructions=INSTRUCTIONS,
            version=__version__,
            tools=list(self._tools.values()),
            log_level="INFO" if verbose else "CRITICAL",
        )

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        tool = self._tools.get(name)
        if tool is None:
            return tool_answers.refusal(offered_tools.not_offered(name))
        expected = tool.parameters["properties"]
        if unknown := arguments.keys() - expected.keys():
            return tool_answers.unknown_arguments(name, unknown, expected)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                return tool_answers.wrong_arguments(name, error.__cause__, expected)
            raise


def serve(commands: Commands, rights: frozenset[Right], *, verbose: bool) -> None:
    """Until the client closes our standard input."""
    anyio.run(RunsServer(commands, rights, verbose=verbose).run_stdio_async)
