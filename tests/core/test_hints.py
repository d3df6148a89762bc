"""Our stand-ins for typing's names do what is left of them at run time."""

from __future__ import annotations

import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core import hints, patterns

WORDS = ("read", "write")


def test_every_name_is_one_of_typings() -> None:
    assert [name for name in hints.__all__ if not hasattr(typing, name)] == []
    assert [name for name in hints.__all__ if not hasattr(hints, name)] == []


def test_the_words_of_a_literal_can_be_had_from_both() -> None:
    ours: typing.Any = hints.Literal["read", "write"]
    assert hints.get_args(ours) == typing.get_args(ours) == WORDS
    assert hints.get_args(hints.Literal["read"]) == ("read",)
    assert typing.get_args(ours | None) == (ours, type(None))


def test_what_cannot_happen_is_an_error() -> None:
    with pytest.raises(AssertionError, match="'odd'"):
        hints.assert_never("odd")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", patterns.__all__)
def test_patterns_are_those_of_re(name: str) -> None:
    import re

    assert getattr(patterns, name) is getattr(re, name)


@given(st.text("aZ09._- /é²\n"))
def test_a_run_is_called_by_letters_digits_and_three_marks(name: str) -> None:
    import re

    from qrspi.core.filenames import is_run_name

    assert is_run_name(name) == bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name))
