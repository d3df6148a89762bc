"""What an agent says, as it comes."""

from __future__ import annotations

import pytest

from qrspi.world.agents.request import USUAL, ReplyBuffer


@pytest.mark.parametrize(
    ("blocks", "is_long"),
    [
        ([], False),
        ([b"one ", b"two"], False),
        ([b"x" * USUAL], False),
        ([b"x" * USUAL, b"y"], True),
        ([b"\x00\xff"] * USUAL, True),
    ],
    ids=["nothing", "short", "usual", "longer", "much longer"],
)
def test_all_of_it_comes_back(blocks: list[bytes], is_long: bool) -> None:
    heard = ReplyBuffer()
    for block in blocks:
        heard.add(block)
    assert (heard.is_long, heard.size) == (is_long, len(b"".join(blocks)))
    assert heard.whole() == b"".join(blocks)
