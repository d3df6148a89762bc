from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.gates.checkpoints import checkpoint_knowledge
from qrspi.core.gates.checkpoints.checkpoint_knowledge import Overlap

HEAD = b"---\ntype: rag-addition\n---\n"
ENTRY = b"# Links\n\nA link is used once.\nIt ends after an hour, or when another is sent.\n"

CASES = [
    (b"a LINK is used   once", "duplicate"),
    (b"It ends after an hour or when another is sent.\n\n- a link, is used once!", "duplicate"),
    (b"A link is used twice.", "partial"),
    (b"It ends after seven days and never another", "partial"),
    (b"Mails leave through a queue of their own.", "unique"),
    (b"A b c", "unique"),
]


@pytest.mark.rule("CK-08", "GTD-21")
@pytest.mark.parametrize(("body", "kind"), CASES)
def test_how_much_is_there_already(body: bytes, kind: str) -> None:
    found = checkpoint_knowledge.overlap(HEAD + body, {"knowledge/links.md": ENTRY})
    assert found == Overlap(kind, "knowledge/links.md" if kind != "unique" else "")  # type: ignore[arg-type]


@pytest.mark.rule("GTD-21")
def test_lines_of_two_entries_make_no_duplicate() -> None:
    entries = {"knowledge/a.md": b"one thing\n", "knowledge/b.md": b"other thing\n"}
    assert checkpoint_knowledge.overlap(b"one thing\nother thing", entries).kind == "partial"


@pytest.mark.rule("GTD-21")
@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (HEAD + b"x", True),
        (b"---\ntype: proposal\n---\nx", False),
        (b"---\nstatus: draft\n---\nx", False),
        (b"x", False),
        (b"---\n: [\n---\nx", False),
    ],
)
def test_other_types_are_left_alone(text: bytes, is_one: bool) -> None:
    assert checkpoint_knowledge.is_proposal(text) is is_one


@pytest.mark.rule("GTD-21")
@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ((), "links.md"),
        (("links.md",), "links-2.md"),
        (("LINKS.md", "links-2.md"), "links-3.md"),
    ],
)
def test_names_never_collide(taken: tuple[str, ...], name: str) -> None:
    assert checkpoint_knowledge.free_name("links.md", frozenset(taken)) == name


@pytest.mark.rule("CK-08")
@given(
    st.text(st.sampled_from("abcd e.\n-"), min_size=1),
    st.text(st.sampled_from("ab-\n"), max_size=20),
)
def test_what_was_taken_in_is_a_duplicate_ever_after(text: str, entry: str) -> None:
    """So a kill between the entry and the end of its proposal loses and doubles nothing."""
    proposal = HEAD + b"\n" + text.encode()
    for there in (proposal, checkpoint_knowledge.merged(entry.encode(), proposal)):
        found = checkpoint_knowledge.overlap(proposal, {"knowledge/x.md": there})
        assert found.kind == "duplicate"
