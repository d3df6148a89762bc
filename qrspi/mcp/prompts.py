"""The texts that wait for an agent, as prompts that a person can choose in a host."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from qrspi.cli.in_process import Commands, Unanswered
from qrspi.mcp.tool_answers import encodable

Run = Annotated[str, Field(description="The run; may be left out where there is only one.")]
Tag = Annotated[str, Field(description="Which reviewer, such as quality-claude.")]
Name = Annotated[str, Field(description="Which question of research, such as q01-codebase.")]


class WaitingPrompts:
    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def register(self, server: MCPServer[Any]) -> None:
        for prompt in (self.author, self.review, self.fix):
            server.prompt()(prompt)

    def author(self, run: Run = "", name: Name = "") -> str:
        """Write the text that a run waits for."""
        return self._text(run, "author-", name)

    def review(self, run: Run = "", tag: Tag = "") -> str:
        """Review the text that a run waits for a review of."""
        return self._text(run, "reviewer-", tag)

    def fix(self, run: Run = "") -> str:
        """Apply the findings that a run waits to have applied."""
        return self._text(run, "fixer", "")

    def _text(self, run: str, role: str, name: str) -> str:
        try:
            text = self._chosen(run, role, name)
        except Unanswered as unanswered:
            document = unanswered.answer.document
            text = f"{document['code']}: {document['message']}"
        return str(encodable(text))

    def _named(self, run: str) -> tuple[str, ...]:
        """`prompt` takes a word that is not a run for an agent."""
        found = self._commands.ask("status", "--", run)["runs"] if run else ()
        return ("--", *(one["run"] for one in found))

    def _chosen(self, run: str, role: str, name: str) -> str:
        found = self._commands.ask("prompt", *self._named(run))
        names = [one["name"] for one in found["waiting"] if one["role"].startswith(role)]
        names = [name] if name else names
        if len(names) == 1:
            return str(self._commands.ask("prompt", "--", found["run"], names[0])["prompt"])
        if names:
            wait = f"{len(names)} wait: {', '.join(names)}."
            return f"{wait} Give each to a fresh agent: the tool read_prompt has its text."
        following = self._commands.ask("status", "--", found["run"])["runs"][0]["next"]
        return f"Nobody is waited for here. What the run needs: {following['summary']}"
