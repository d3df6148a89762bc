"""Long lines on a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.render.terminal import cells_of, folded, one_line, visible


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("", [""]),
        ("twenty columns are it", ["twenty columns are", "  it"]),
        ("as wide as the screen", ["as wide as the", "  screen"]),
        ("just twenty columns.", ["just twenty columns."]),
        ("  because it is so and so", ["  because it is so", "    and so"]),
        ("run `qrspi next a-b` now", ["run `qrspi next a-b`", "  now"]),
        ("Then run `qrspi next a`.", ["Then run", "  `qrspi next a`."]),
        ("Run `qrspi config set a b c d`.", ["Run", "  `qrspi config set a b c d`."]),
        ("Try `a b c d e f g h i j k l`.", ["Try `a b c d e f g h", "  i j k l`."]),
        ("an-unbroken-word-longer-than-all", ["an-unbroken-word-longer-than-all"]),
        ("a lone ` backtick in a line", ["a lone ` backtick in", "  a line"]),
        ("\x1b[36mNext:\x1b[0m write the goals", ["\x1b[36mNext:\x1b[0m write the", "  goals"]),
        ("日本語の文章 日本語の文章", ["日本語の文章", "  日本語の文章"]),
    ],
)
def test_a_line_is_broken_between_words(line: str, lines: list[str]) -> None:
    assert list(folded([line], 20)) == lines


@given(st.text("ab` ", max_size=80), st.integers(10, 40))
def test_no_word_is_lost_or_broken(line: str, width: int) -> None:
    made = list(folded([line], width))
    assert " ".join(made).split() == line.split()
    assert all(cells_of(part.strip()) <= width or " " not in part.strip() for part in made)


@pytest.mark.rule("SEC-23")
@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\U000e0041", "\\U000e0041"),
        ("\u2062", "\\u2062"),
        ("\u206a", "\\u206a"),
        ("\u115f", "\\u115f"),
        ("\u3164", "\\u3164"),
        ("\u2d7f\U0001107f", "\\u2d7f\\U0001107f"),
        ("\U00013430\U00013438", "\\U00013430\\U00013438"),
        ("\U0001d159\U00016fe4", "\\U0001d159\\U00016fe4"),
        ("\uffa0", "\\uffa0"),
        ("\ufff9", "\\ufff9"),
        ("\ufe0f", "\\ufe0f"),
        ("\u034f", "\\u034f"),
        ("\u1160", "\\u1160"),
        ("\u180e", "\\u180e"),
        ("\u2065", "\\u2065"),
        ("\u2800", "\\u2800"),
        ("\u0378", "\\u0378"),
        ("\ue000", "\\ue000"),
        ("\ufdd0", "\\ufdd0"),
        ("\uffff", "\\uffff"),
        ("\U000f0000", "\\U000f0000"),
        ("\U0001d159", "\\U0001d159"),
        ("\U000e0fff", "\\U000e0fff"),
        ("\ud800", "\\ud800"),
        ("\U000e0101", "\\U000e0101"),
    ],
)
def test_what_is_drawn_as_nothing_is_spelt_out(char: str, shown: str) -> None:
    assert one_line(f"a{char}b") == visible(f"a{char}b") == f"a{shown}b"


@pytest.mark.rule("LIV-29")
def test_a_dash_does_not_stand_alone() -> None:
    path = "docs/" + "x" * 30
    assert list(folded((f"- {path} is long",), 20)) == [f"- {path}", "  is long"]
