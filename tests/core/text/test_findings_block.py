from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.text import findings_block
from qrspi.core.text.findings_block import LIMIT, Block
from tests.task_texts import NOW, task

BLOCK = Block("1a2b3c4d", NOW, ("a gap", "another"), ("a fix",))
TEXT = f"""\
--- Quality Review Findings hash=1a2b3c4d @{NOW} ---
Gaps:
- a gap
- another
Suggested fixes:
- a fix
--- End Quality Review Findings ---"""


@pytest.mark.rule("QV-09")
def test_a_block_is_written_and_read_back() -> None:
    assert findings_block.render(BLOCK) == TEXT
    assert findings_block.read(findings_block.put(task(), TEXT)) == BLOCK


@pytest.mark.rule("QV-09")
def test_a_block_stands_at_the_end_of_the_context() -> None:
    data = task() + b"\n## Notes\n\nMore.\n"
    before, behind = data.split(b"another task.\n")
    assert findings_block.put(data, TEXT) == before + b"another task.\n" + TEXT.encode() + (
        b"\n" + behind
    )


BODIES = st.lists(
    st.sampled_from(
        [
            "## Context", "## Context:", "## CONTEXT", "## Notes", "Words.", "", "- a point", "```",
            "~~~", "--- End Quality Review Findings ---", "Gaps:", "Context", "-------", "> quoted",
            "\tindented", "é \x00", f"--- Quality Review Findings hash=1a2b3c4d @{NOW} --- x",
        ]
    ),
    max_size=12,
)  # fmt: skip


@pytest.mark.rule("QV-09")
@given(BODIES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_putting_a_block_in_and_taking_it_out_changes_no_other_byte(
    lines: list[str], newline: str, ends: bool
) -> None:
    data = (newline.join(lines) + (newline if ends else "")).encode()
    with_block = findings_block.put(data, TEXT)
    assert findings_block.without(with_block) == data
    assert findings_block.put(with_block, TEXT) == with_block
    if findings_block.section(data) is None:
        assert with_block == data
    else:
        assert findings_block.read(with_block) == BLOCK
        assert with_block.count(b"- another") == 1


@pytest.mark.rule("QV-09")
def test_a_block_is_replaced_where_it_stands_and_there_is_only_one() -> None:
    twice = f"One.\n{TEXT}\nTwo.\n{TEXT}\nThree."
    new = findings_block.render(BLOCK._replace(gaps=("new",), fixes=()))
    found = findings_block.put(task(context=twice), new)
    assert found == task(context=f"One.\n{new}\nTwo.\nThree.")


HEAD, _, _ = TEXT.partition("\n")
TORN, _, _ = TEXT.rpartition("\n")


@pytest.mark.rule("QV-09", "GTD-12")
@pytest.mark.parametrize(
    ("context", "left"),
    [
        (f"Mine.\n{TORN}", "Mine."),
        (f"Mine.\n{TORN}\n\nMine too.", "Mine.\n\nMine too."),
        (f"Mine.\n{TORN}\nMine too.\n- a point", "Mine.\nMine too.\n- a point"),
        (f"Mine.\n{HEAD}\nMine too.", "Mine.\nMine too."),
        (f"Mine.\n{HEAD}\nGaps:\n- a\na note\n- b", "Mine.\na note\n- b"),
    ],
    ids=["nothing behind it", "a paragraph", "lines", "only a head", "edited by hand"],
)
def test_nothing_behind_a_torn_block_is_lost(context: str, left: str) -> None:
    assert findings_block.without(task(context=context)) == task(context=left)


@pytest.mark.rule("QV-09")
def test_an_example_in_a_fence_is_no_block() -> None:
    data = task(context=f"An example:\n\n```\n{TEXT}\n```")
    assert findings_block.read(data) is None
    assert findings_block.without(findings_block.put(data, TEXT)) == data


@pytest.mark.rule("QV-09", "GTD-12")
@pytest.mark.parametrize(
    ("gaps", "fixes", "kept"),
    [
        (["g" * 700], ["f" * 700, "f" * 700], (1, 0)),
        (["g" * 300], ["f" * 300, "f" * 900], (1, 1)),
        (["g" * 600] * 3, ["f" * 10], (2, 0)),
        (["g" * 5000], [], (1, 0)),
    ],
)
def test_what_does_not_fit_goes(gaps: list[str], fixes: list[str], kept: tuple[int, int]) -> None:
    text = findings_block.render(Block("1a2b3c4d", NOW, tuple(gaps), tuple(fixes)))
    found = findings_block.read(findings_block.put(task(), text))
    assert len(text) <= LIMIT
    assert found and (len(found.gaps), len(found.fixes)) == kept
    assert found.gaps[0] == gaps[0] or found.gaps[0].endswith("g…")


@pytest.mark.rule("GTD-12")
@given(st.lists(st.text(max_size=2000), min_size=1, max_size=4), st.lists(st.text(), max_size=4))
def test_whatever_a_reviewer_says_is_a_line_each(gaps: list[str], fixes: list[str]) -> None:
    text = findings_block.render(Block("1a2b3c4d", NOW, tuple(gaps), tuple(fixes)))
    assert len(text) <= LIMIT
    assert findings_block.without(findings_block.put(task(), text)) == task()
