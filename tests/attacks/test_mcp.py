"""To have a tool of a host's session do more than it is for, by the arguments that it is given."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests import runs
from tests.attacks.arena import SECRET, Arena
from tests.attacks.trial import attack
from tests.mcp.host import Host, serving, text

pytestmark = pytest.mark.rule("SEC-23", "SEC-20")
RUN = {"run": runs.RUN}
GOALS = {**RUN, "step": "goals"}
QUALITY = {**GOALS, "round": 1, "tag": "quality-claude"}


def tried(host: Host, tool: str, arguments: Mapping[str, object]) -> str:
    """It is refused in words, and the server goes on."""
    result = host.call(tool, **arguments)
    said = text(result)
    assert result.is_error, said
    assert "Traceback" not in said and SECRET not in said
    assert len(said) < 5000
    assert not set(said) & set(map(chr, (*range(9), *range(11, 32), 127, 0x9B, 0x202E))), said
    assert host.document("status", **RUN)["schema"] == "qrspi/status/v1"
    return said


@attack(
    "an agent",
    "an argument of a tool is taken for an option, a path or a command",
    {
        "an option for a run": ("advance", {"run": "--dispatch"}),
        "an option for a step": ("approve", {**RUN, "step": "--unreviewed"}),
        "an option for a tag": ("submit_findings", {**QUALITY, "tag": "--yes", "text": "x"}),
        "an option for a name": ("decide", {**RUN, "finding": "--all", "choice": "skip"}),
        "an option for an answer": ("resolve", {**RUN, "option": "--yes"}),
        "upwards for a run": ("advance", {"run": "../../../outside"}),
        "absolute for a run": ("advance", {"run": "/etc"}),
        "upwards for a step": ("submit_artifact", {**RUN, "step": "../x", "text": "x"}),
        "upwards for a tag": ("submit_findings", {**QUALITY, "tag": "../../x", "text": "x"}),
        "upwards for a file": (
            "add_comment",
            {**RUN, "file": "../../../../outside/private.md", "lines": "L1", "text": "x"},
        ),
        "upwards for a finding": (
            "submit_score",
            {**GOALS, "round": 1, "finding": "../../x.R1-F01", "text": "score: 90\n"},
        ),
        "upwards in a text": (
            "submit_artifact",
            {**GOALS, "text": "---\nstatus: draft\n---\n# x\n<<<FILE ../../x.md>>>\nx\n"},
        ),
        "a command": ("advance", {"run": "x; touch it-ran"}),
    },
)
def test_an_argument(arena: Arena, way: tuple[str, Mapping[str, object]]) -> None:
    run = arena.clone()
    arena.qrspi("next")
    before = runs.contents(run)
    with serving(arena.project, "--write", "--allow-approve") as host:
        tried(host, *way)
    assert runs.contents(run) == before


@attack(
    "an agent",
    "an argument of a tool cannot be shown, kept or read",
    {
        "an escape": "\x1b[2J\x1b]0;x\x07",
        "a NUL": "a\0b",
        "right to left": "a\u202eb",
        "a new line": "a\nqrspi: approved\n",
        "a million characters": "x" * 1_000_000,
        "deep": "[" * 100_000,
    },
)
def test_a_text(arena: Arena, way: str) -> None:
    run = arena.clone()
    arena.qrspi("next")
    before = runs.contents(run)
    with serving(arena.project, "--write", "--allow-approve") as host:
        for tool, arguments in (
            ("advance", {"run": way}),
            ("approve", {**RUN, "step": way}),
            ("submit_findings", {**QUALITY, "tag": way, "text": "NO_FINDINGS"}),
            ("decide", {**RUN, "finding": way, "choice": "skip"}),
            ("resolve", {**RUN, "option": way}),
            ("submit_artifact", {**GOALS, "text": way}),
        ):
            tried(host, tool, arguments)
    assert runs.contents(run) == before
