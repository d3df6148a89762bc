"""The server as a real process, and a host's side of it: the official client over stdio."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pytest
from jsonschema import Draft202012Validator

from tests.forked_command import qrspi

pytest.importorskip("mcp")

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, Tool

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"


class Host(NamedTuple):
    portal: BlockingPortal
    client: Client

    def tools(self) -> dict[str, Tool]:
        listed = self.portal.call(self.client.list_tools)
        return {tool.name: tool for tool in listed.tools}

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.portal.call(self.client.call_tool, tool, arguments)

    def document(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers, held against the schema that is published for it."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text(result)
        document = result.structured_content
        assert document
        name = document["schema"].split("/")[1]
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
        Draft202012Validator(schema).validate(document)
        return document

    def refusal(self, tool: str, **arguments: Any) -> str:
        """What a tool says that does not do it."""
        result = self.call(tool, **arguments)
        assert result.is_error, text(result)
        assert result.structured_content is None
        return text(result)


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def parameters(project: Path, *options: str) -> StdioServerParameters:
    """The environment is the tests' own: the client would pass on very little of it."""
    words = ["mcp", *options]
    return StdioServerParameters(
        command=str(qrspi()), args=words, cwd=project, env=dict(os.environ)
    )


@contextmanager
def serving(
    project: Path, *options: str, errors: TextIO = sys.stderr, **settings: Any
) -> Iterator[Host]:
    transport = stdio_client(parameters(project, *options), errlog=errors)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(transport, **settings)) as client,
    ):
        yield Host(portal, client)
