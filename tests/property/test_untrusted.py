"""Laws of the wrapper: a byte-exact round trip, and no way out of it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.model import Problem
from qrspi.core.text.untrusted_markers import unwrap, wrap, wrap_inline

IDS = st.text("abcXYZ019._/-", min_size=1, max_size=20)
HOSTILE = st.lists(
    st.sampled_from(
        [
            "<",
            "<<<",
            "＜",
            "﹤",
            ">>>",
            "UNTRUSTED-",
            "untrusted",
            "ＵＮＴＲＵＳＴＥＤ",
            "UNTRU",
            "STED",
            "-",
            "\u2011",
            "ARTIFACT",
            "-END",
            "-START",
            " id=x",
            " encoding=base64",
            "\n",
            "\r\n",
            "\r",
            "\x00",
            "\ufeff",
            "\u200b",
            "\u200d",
            "\u00ad",
            "\u0338",
            "\u2028",
            "prose",
        ]
    ),
    max_size=30,
).map(lambda pieces: "".join(pieces).encode())
ANY = st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode), HOSTILE)


@pytest.mark.rule("PRM-03", "PRM-02")
@given(ANY, IDS)
def test_any_bytes_come_back(data: bytes, id: str) -> None:
    assert unwrap(wrap(data, id)) == data


@pytest.mark.rule("PRM-03")
@given(ANY, IDS)
def test_between_the_markers_nothing_reads_as_a_marker(data: bytes, id: str) -> None:
    lines = wrap(data, id).decode().removesuffix("\n").split("\n")
    content = unicodedata.normalize("NFKC", "\n".join(lines[1:-1]))
    bare = "".join(content.split()).replace("\u200b", "").replace("\u200d", "")
    assert "<<<untrusted-" not in bare.replace("\u00ad", "").replace("\ufeff", "").lower()


@pytest.mark.rule("PRM-03")
@given(ANY)
def test_unwrapping_any_bytes_gives_bytes_or_a_problem(data: bytes) -> None:
    assert isinstance(unwrap(data), Problem)


@pytest.mark.rule("PRM-03")
@given(ANY, st.integers(0, 400), st.binary(min_size=1, max_size=3))
def test_a_changed_wrapper_never_yields_a_marker(data: bytes, at: int, noise: bytes) -> None:
    wrapped = wrap(data, "x")
    place = at % len(wrapped)
    answer = unwrap(wrapped[:place] + noise + wrapped[place:])
    if isinstance(answer, bytes) and b" encoding=base64" not in wrapped[: place + 40]:
        assert b"<<<UNTRUSTED-" not in answer


@pytest.mark.rule("PRM-10")
@given(st.text(max_size=60))
def test_the_inline_form_stays_in_its_line(text: str) -> None:
    wrapped = wrap_inline(text, "scope_hint", "UNTRUSTED-SCOPE-HINT")
    assert len(wrapped.splitlines()) == 1
    assert wrapped.count("<<<UNTRUSTED-") == 2
