"""What a host hands to agents who look for facts: over MCP, and as commands print it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.types import TextContent

from qrspi import engine
from qrspi.core.filenames import prompt_file
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.cli.conftest import Call
from tests.mcp.host import Host, serving
from tests.property.test_research_apart import PLACES, STAGES, files_of

CANARY = "zeppelinzz"
RUN = f"2026-05-17-{CANARY}"
MCP_PROMPTS = {"research-question": "author", "author": "author", "review": "review", "fix": "fix"}


def handed_out(host: Host, process: Call, at: Path, name: str, kind: str) -> Iterator[str]:
    """What is meant for the agent, by every way in which it can be fetched."""
    yield host.document("read_prompt", run=RUN, tag=name)["prompt"]
    yield process("prompt", RUN, name, cwd=at).out
    if kind in MCP_PROMPTS:
        word = {"author": "name", "review": "tag"}.get(MCP_PROMPTS[kind], "")
        words = {word: name} if word else {}
        found = host.portal.call(host.client.get_prompt, MCP_PROMPTS[kind], {"run": RUN, **words})
        (message,) = found.messages
        assert isinstance(message.content, TextContent)
        yield message.content.text


@pytest.mark.rule("DSR-01", "PRM-07", "HST-03")
def test_whatever_way_a_prompt_is_fetched_it_does_not_tell_what_is_wanted(
    tmp_path: Path, process: Call
) -> None:
    project = tmp_path / "shop"
    run = project / "docs" / "qrspi" / RUN
    seen = []

    def waiting(host: Host) -> None:
        for ask in engine.advance(Workspace(run), Options()).state.next.asks:
            written = (run / prompt_file(ask)).read_text()
            told = list(handed_out(host, process, project, ask.name, ask.kind))
            assert {one.rstrip("\n") for one in told} == {written.rstrip("\n")}
            assert CANARY not in written.lower() and str(project) not in written
            seen.append((ask.kind, len(told)))

    runs.on_disk(project, files_of(set(PLACES), CANARY), RUN)
    with serving(project) as host:
        for files in STAGES:
            runs.on_disk(project, files, RUN)
            waiting(host)
    answers = [("research-question", 3), ("research-question", 3), ("author", 3)]
    reviews = [("review", 3), ("verify", 2), ("fix", 3), ("fix", 3), ("review", 3)]
    assert seen == answers + reviews
