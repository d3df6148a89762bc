"""To have a tool of a host's session do more than it is for, by the arguments that it is given."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import runs, scenes
from tests.attacks.arena import SECRET, Arena
from tests.attacks.conftest import allow_nothing
from tests.attacks.trial import attack
from tests.mcp.host import Host, serving, text

from mcp.shared.exceptions import MCPError  # isort: skip

pytestmark = pytest.mark.rule("SEC-23", "SEC-20")
RUN = {"run": runs.RUN}
GOALS = {**RUN, "step": "goals"}
UNSEEN = (0x202E, 0x2066, 0x2069, 0xE0041)
QUALITY = {**GOALS, "round": 1, "tag": "quality-claude"}


class Session(NamedTuple):
    """After each attack the server answers as before, and the run is what it was: so one serves
    for all of them."""

    arena: Arena
    run: Path
    host: Host


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, store: Path) -> Iterator[Session]:
    top = tmp_path_factory.mktemp("session").resolve()
    with pytest.MonkeyPatch.context() as world:
        allow_nothing(world, top)
        arena = Arena(top, store)
        run = arena.scene(scenes.prepared)
        with serving(arena.project, "--write", "--allow-approve") as host:
            yield Session(arena, run, host)


def tried(host: Host, tool: str, arguments: Mapping[str, object]) -> str:
    """It is refused in words, and the server goes on."""
    result = host.call(tool, **arguments)
    said = text(result)
    assert result.is_error, said
    assert "Traceback" not in said and SECRET not in said
    assert len(said) < 5000
    assert not set(said) & set(map(chr, (*range(9), *range(11, 32), 127, 0x9B, *UNSEEN))), said
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
def test_an_argument(session: Session, way: tuple[str, Mapping[str, object]]) -> None:
    before = runs.contents(session.run)
    tried(session.host, *way)
    assert runs.contents(session.run) == before
    session.arena.held()


@attack(
    "an agent",
    "an argument of a tool cannot be shown, kept or read",
    {
        "an escape": "\x1b[2J\x1b]0;x\x07",
        "a NUL": "a\0b",
        "right to left": "a\u202eb",
        "right to left, spelt in full": "\u2066a\u2069",
        "a tag": "a\U000e0041",
        "a new line": "a\nqrspi: approved\n",
        "a million characters": "x" * 1_000_000,
        "deep": "[" * 100_000,
    },
)
def test_a_text(session: Session, way: str) -> None:
    before = runs.contents(session.run)
    for tool, arguments in (
        ("advance", {"run": way}),
        ("approve", {**RUN, "step": way}),
        ("submit_findings", {**QUALITY, "tag": way, "text": "NO_FINDINGS"}),
        ("decide", {**RUN, "finding": way, "choice": "skip"}),
        ("add_comment", {**RUN, "file": way, "lines": "L1", "text": "x"}),
        ("add_comment", {**RUN, "file": "goals.md", "lines": way, "text": "x"}),
        ("submit_score", {**GOALS, "round": 1, "finding": way, "text": "score: 1\n"}),
        ("report_task", {**RUN, "task": way, "status": "DONE"}),
        ("add_spend", {**RUN, "step": way, "role": "verifier", "model": "m"}),
        ("read_prompt", {**RUN, "tag": way}),
        ("show_round", {**RUN, "step": way}),
        ("resolve", {**RUN, "option": way}),
        ("submit_artifact", {**GOALS, "text": way}),
    ):
        tried(session.host, tool, arguments)
    assert runs.contents(session.run) == before
    session.arena.held()


@attack(
    "an agent",
    "an address leads out of the run, or to what is no file of it",
    {
        "upwards": "files/../../../../outside/private.md",
        "upwards, encoded": "files/%2e%2e/%2e%2e/%2e%2e/%2e%2e/outside/private.md",
        "upwards, with encoded strokes": "files/..%2f..%2f..%2f..%2foutside%2fprivate.md",
        "absolute": "files//etc/passwd",
        "absolute, encoded": "files/%2fetc%2fpasswd",
        "a link": "files/link.md",
        "behind a link": "files/outside/private.md",
        "a pipe": "files/pipe.md",
        "a folder": "files/reviews",
        "a NUL": "files/goals.md%00",
        "too large": "files/large.md",
        "too long": f"files/{'x' * 5000}",
        "an option for a round": "goals/rounds/--yes",
        "an option for a step": "--yes/rounds/1",
        "a great round": f"goals/rounds/{'9' * 30}",
    },
)
def test_an_address(session: Session, way: str) -> None:
    run, host = session.run, session.host
    made = [run / "link.md", run / "outside", run / "pipe.md", run / "large.md"]
    made[0].symlink_to(session.arena.outside / "private.md")
    made[1].symlink_to(session.arena.outside)
    os.mkfifo(made[2])
    made[3].touch()
    os.truncate(made[3], 2**34)
    try:
        with pytest.raises(MCPError) as refused:
            host.portal.call(host.client.read_resource, f"qrspi://runs/{runs.RUN}/{way}")
        assert SECRET not in str(refused.value) and "Traceback" not in str(refused.value)
        assert host.document("status", **RUN)["schema"] == "qrspi/status/v1"
    finally:
        for path in made:
            path.unlink()
    session.arena.held()
