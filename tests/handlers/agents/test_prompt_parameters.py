"""What a prompt says about the code under review."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt
from qrspi.handlers.agents import material, prompt_parameters
from qrspi.handlers.agents.material import Material
from qrspi.handlers.agents.prompt_parameters import Agent
from qrspi.world.files.run_tree import DiskTree


def test_of_a_long_log_the_end_stays_and_the_rest_is_counted() -> None:
    text = b"".join(b"%07d\n" % number for number in range(40_000))  # 320,000 bytes
    assert material._end("a.log", text).data.startswith(
        b"[the first 57856 bytes are not shown]\n0007232\n"
    )
    assert material._end("a.log", b"x").data == b"x"


def test_what_is_there_and_cannot_be_read_stops_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "design.md").mkdir()
    assert material.sources(DiskTree(str(tmp_path)), ("goals.md",)) == ()
    with pytest.raises(Halt, match=r"design\.md cannot be read: "):
        material.sources(DiskTree(str(tmp_path)), ("goals.md", "design.md"))


ELSEWHERE = Agent(Role("verifier", "low", None, "", ""), "", True, Material(code_path="/code"))


@pytest.mark.rule("LIV-20", "PRM-07")
@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        (ELSEWHERE, "/code"),
        (ELSEWHERE._replace(travels=True), ""),
        (ELSEWHERE._replace(material=Material(code_path="/code", worktree="/w")), ""),
        (ELSEWHERE._replace(material=Material(code_path="/code", worktrees=("/w",))), ""),
    ],
)
def test_where_the_code_is_is_said_once_and_only_where_it_is(agent: Agent, shown: str) -> None:
    assert prompt_parameters._code_path(agent) == shown
