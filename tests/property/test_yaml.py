"""Laws of the YAML door: its two readers never disagree, and no text breaks it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode, SequenceNode

from qrspi.core.model import Problem
from qrspi.core.yaml import reader, writer
from qrspi.core.yaml.nodes import Document, Node, Scalar
from tests.fuzz.yaml_mill import KEYS, WORDS, Mill

MORE = settings(max_examples=5 * settings().max_examples)

USUAL, ODD, VERY_ODD = (Mill(odd).pieces() for odd in (0, 1, 4))
usual, odd = st.sampled_from(USUAL), st.sampled_from(ODD + VERY_ODD)
near_flat = st.builds(
    lambda above, piece, below, end, last: "\n".join([*above, piece, *below, *last]).replace(
        "\n", end
    ),
    st.lists(usual, max_size=2),
    odd,
    st.lists(st.one_of(usual, usual, odd), max_size=2),
    st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]),
    st.sampled_from([[], [""]]),
)


def told(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, dict):
        return [(key, told(value)) for key, value in node.items()]
    return [told(item) for item in node]


def told_by_ruamel(text: str) -> object:
    """What ruamel.yaml says by itself, as it comes."""

    def of(node: object) -> object:
        if isinstance(node, ScalarNode):
            return node.value
        if isinstance(node, SequenceNode):
            return [of(item) for item in node.value]
        return [(of(key), of(value)) for key, value in node.value]  # type: ignore[attr-defined]

    root = YAML(typ="safe", pure=True).compose(text)
    return of(root) if root else []


def agrees(text: str) -> bool:
    """The flat reader answered, and ruamel.yaml answers the same."""
    fields = reader.read_flat(text)
    if fields is None:
        return False
    document = reader.compose(text)
    assert isinstance(document, Document), (text, document)
    assert document.fields == fields, text
    assert told_by_ruamel(text) == told(fields), text
    return True


@pytest.mark.rule("SPE-02")
@MORE
@given(near_flat)
def test_where_the_flat_reader_answers_ruamel_answers_the_same(text: str) -> None:
    agrees(text)


@pytest.mark.rule("SPE-02")
def test_the_readers_agree_on_every_piece_by_itself() -> None:
    answered = [agrees(piece) for piece in sorted({*USUAL[:500], *ODD, *VERY_ODD[:500]})]
    assert sum(answered) > 500


plain_lines = st.builds("{}: {}".format, st.sampled_from(KEYS), st.sampled_from(WORDS[:6]))


@pytest.mark.rule("SPE-02")
@given(st.lists(plain_lines, unique_by=lambda line: line.partition(":")[0]))
def test_the_flat_reader_answers_for_plain_fields(parts: list[str]) -> None:
    text = "\n".join(parts)
    fields = reader.read_flat(text)
    assert fields is not None
    assert told(fields) == [tuple(line.split(": ", 1)) for line in parts]


@pytest.mark.rule("SEC-03")
@MORE
@given(st.one_of(near_flat, st.text(), st.text("ab: \n-[]{},'\"\\#&*!|>%@`?\t\r<~x0Uu")))
@example("a: " + "[" * 2000)
@example("\ud800")
def test_any_text_is_a_mapping_or_a_problem_of_one_line(text: str) -> None:
    answer = reader.parse(text, "x.md")
    if isinstance(answer, Problem):
        place, line, column = answer.message.split(":")[:3]
        assert (place, answer.message.count("\n")) == ("x.md", 0)
        assert int(line) <= text.count("\n") + text.count("\r") + 1
        assert int(column) > 0
    else:
        assert isinstance(reader.compose(text.removeprefix("\ufeff")), Document)


@given(near_flat)
def test_raw_is_the_source_at_its_position(text: str) -> None:
    fields = reader.parse(text)
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def check(node: Node) -> None:
        if isinstance(node, Scalar):
            row = rows[node.line - 1][node.column - 1 :]
            assert row.startswith(node.raw.replace("\r", "\n").split("\n")[0])
        else:
            for item in node.values() if isinstance(node, dict) else node:
                check(item)

    if not isinstance(fields, Problem):
        check(fields)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
@example("\ufeff\x85\u2028\x1b\U0001f600\U000e0001")
def test_whatever_is_quoted_reads_back(text: str) -> None:
    source = writer.quote(text)
    fields = reader.parse(f"a: {source}\n")
    assert isinstance(fields, dict)
    assert told(fields) == [("a", text)]
    assert writer.parse_value(source) is not None
