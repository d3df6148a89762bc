from __future__ import annotations

import pytest

from qrspi.core.text.shortened import at_words


@pytest.mark.rule("LIV-29")
@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("A flag for shelf/cli", 20, "A flag for shelf/cli"),
        ("A flag for shelf/cli. It lists books", 23, "A flag for shelf/cli…"),
        ("A flag for shelf/cli. It lists books", 18, "A flag for…"),
        ("A flag for shelf/cli, then", 21, "A flag for shelf/cli…"),
        ("qrspi/render/history/simulation.py", 10, "qrspi/rend…"),
        ("a qrspi/render/history/simulation.py", 10, "a qrspi/re…"),
        ("One two", 3, "One…"),
        ("", 3, ""),
    ],
)
def test_a_long_text_is_cut_between_words(text: str, most: int, short: str) -> None:
    assert at_words(text, most) == short
