"""What a prompt says about the code under review."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt
from qrspi.core.tree import MemoryTree
from qrspi.handlers.agents import material, prompt_parameters
from qrspi.handlers.agents.material import Material, files_in
from qrspi.handlers.agents.prompt_parameters import Agent
from qrspi.world.files.run_tree import DiskTree

HEADER = "diff --git a/{0} b/{0}\nindex 000..111 100644\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n"


@pytest.mark.parametrize(
    ("diff", "names"),
    [
        ("", ()),
        (HEADER.format("app/users.py") + "-a\n+b\n", ("app/users.py",)),
        (HEADER.format("a") + "+x\n" + HEADER.format("b"), ("a", "b")),
        (HEADER.format("a") + "+++ b/.env\n+diff --git a/x b/.env\n", ("a",)),
        ("diff --git a/x b/x\ndeleted file\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n", ()),
        ("diff --git a/new b/new\nnew file\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n", ("new",)),
        ("diff --git a/b c b/b c\n--- a/b c\t\n+++ b/b c\t\n@@ -1 +1 @@\n", ("b c",)),
        ('diff --git "a/\\303" "b/\\303"\n--- "a/\\303"\n+++ "b/\\303"\n@@ -1 +1 @@\n', ()),
        ("diff --git a/p b/p\nBinary files a/p and b/p differ\n", ()),
    ],
)
def test_only_headings_name_files(diff: str, names: tuple[str, ...]) -> None:
    assert files_in(diff.encode()) == names


def test_of_a_long_text_what_matters_stays_and_the_rest_is_counted() -> None:
    text = b"".join(b"%07d\n" % number for number in range(40_000))  # 320,000 bytes
    assert material._beginning("a.diff", text).data.endswith(
        b"\n0032767\n[the other 57856 bytes are not shown]\n"
    )
    assert material._end("a.log", text).data.startswith(
        b"[the first 57856 bytes are not shown]\n0007232\n"
    )
    assert material._beginning("a.diff", b"x").data == material._end("a.log", b"x").data == b"x"


@pytest.mark.rule("PRM-07")
def test_code_is_shown_in_full_as_far_as_there_is_room() -> None:
    names = [f"part{number}.py" for number in range(6)]
    tree = MemoryTree(dict.fromkeys(names, b"x" * (material.CODE_LIMIT // 5)))
    shown = material._in_full(material._File(name, tree, name) for name in (*names, "gone.py"))
    assert [one.name for one in shown] == [*names[:5], "files-not-shown"]
    assert shown[-1].data == b"part5.py\ngone.py"


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
