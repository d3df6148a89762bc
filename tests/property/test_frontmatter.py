"""Laws of frontmatter: no bytes break it, no approval by accident, an edit touches one field."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qrspi.core.model import Problem
from qrspi.core.yaml import frontmatter, writer
from qrspi.core.yaml.frontmatter import Front
from tests.property.test_yaml import near_flat

MORE = settings(max_examples=3 * settings().max_examples)

APPROVED = re.compile(
    rb"""^(?:|.*[ \t{,])(?:status|"status"|'status')[ \t]*:[ \t]*"""
    rb"""(?:approved|"approved"|'approved')[ \t]*(?:[,}].*|[ \t]\#.*)?$""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    newline = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    text = draw(near_flat).replace("\r\n", "\n").encode(errors="replace")
    if draw(st.booleans()):
        text += draw(
            st.sampled_from([b"\nstatus: draft", b"\nstatus: approved # c", b"status:\n  x"])
        )
    bom = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    body = draw(st.one_of(st.binary(), st.just(b"---\nstatus: approved\n---\n")))
    return bom + b"---\n" + text.replace(b"\n", newline) + newline + b"---" + newline + body


@pytest.mark.rule("FM-04", "FM-08")
@MORE
@given(st.one_of(st.binary(), files(), st.builds(b"---\n".__add__, st.binary())))
@example(b"---\nstatus:\r  approved\n---\n")
@example(b"---\na: x\rstatus: approved\n---\n")
def test_any_bytes_have_a_status_and_only_a_plain_approval_counts(data: bytes) -> None:
    status, problem = frontmatter.status(data, "goals.md")
    assert status in ("draft", "approved", "replan-draft", "invalid")
    assert problem is None or "\n" not in problem.message
    if status == "approved":
        front = frontmatter.read(data)
        assert isinstance(front, Front)
        assert APPROVED.search(data[front.start : front.end].replace(b"\r", b"\n"))


@pytest.mark.rule("FM-05")
@given(files(), st.binary())
def test_the_body_never_changes_the_status(data: bytes, body: bytes) -> None:
    front = frontmatter.read(data, "x.md")
    if not isinstance(front, Front):
        return
    other = data[: front.body] + body
    assert frontmatter.status(other, "x.md") == frontmatter.status(data, "x.md")
    assert frontmatter.body(other) == body


@pytest.mark.rule("FM-06")
@MORE
@given(
    files(),
    st.sampled_from(["status", "a", "b", "new"]),
    st.sampled_from(["approved", "'x y'", "[a, b]", "{c: d}", '"a: b"']),
)
def test_setting_a_field_changes_this_field_alone(data: bytes, key: str, value: str) -> None:
    before = frontmatter.read(data, "x.md")
    changed = writer.set_field(data, key, value, "x.md")
    assert isinstance(before, Front | Problem)
    if isinstance(before, Problem):
        assert changed == before
        return
    if isinstance(changed, Problem):
        assert changed.code == "not-editable"
        return
    after = frontmatter.read(changed)
    assert isinstance(after, Front)
    assert changed[after.body :] == data[before.body :]
    assert changed[: after.start] == data[: before.start]
    node = writer.parse_value(value)
    assert node is not None
    assert writer._written(after.fields) == writer._written({**before.fields, key: node})
    assert writer.set_field(changed, key, value) == changed
    if key not in before.fields:
        assert writer.remove_field(changed, key) == data


fields = st.dictionaries(
    st.sampled_from(["status", "a", "b", "c"]),
    st.sampled_from(["draft", "approved", "x", "two words", "5", "a#b"]),
    min_size=1,
)


@pytest.mark.rule("FM-06")
@given(
    fields,
    st.sampled_from(["", " ", " # why", "   # status: x"]),
    st.sampled_from([b"\n", b"\r\n"]),
    st.binary(),
)
def test_setting_a_plain_scalar_back_restores_every_byte(
    values: dict[str, str], tail: str, newline: bytes, body: bytes
) -> None:
    lines = [f"{key}: {value}{tail}".encode() for key, value in values.items()]
    data = newline.join([b"---", *lines, b"---", body])
    for key, value in values.items():
        changed = writer.set_field(data, key, "other")
        assert isinstance(changed, bytes)
        assert changed != data
        assert writer.set_field(changed, key, value) == data


@pytest.mark.rule("FM-06", "MAN-01")
@given(st.binary(), st.sampled_from(["status", "new"]))
def test_setting_a_field_never_changes_the_body_hash(data: bytes, key: str) -> None:
    changed = writer.set_field(data, key, "approved")
    if isinstance(changed, Problem):
        return
    hashes = [frontmatter.body_hash([frontmatter.body(content)]) for content in (data, changed)]
    assert hashes[0] == hashes[1]


@pytest.mark.rule("MAN-01")
@given(
    st.lists(st.binary().filter(lambda line: b"\n" not in line)),
    st.lists(st.sampled_from([b"", b" ", b"\t", b"\r", b" \t\r"]), min_size=1),
)
def test_white_space_at_line_ends_does_not_change_the_hash(
    lines: list[bytes], ends: list[bytes]
) -> None:
    spaced = [line + ends[index % len(ends)] for index, line in enumerate(lines)]
    bodies = [b"\n".join(lines)], [b"\n".join(spaced)]
    assert frontmatter.body_hash(bodies[0]) == frontmatter.body_hash(bodies[1])


@pytest.mark.rule("MAN-01")
@given(st.lists(st.sampled_from([b"word", b" ", b"\t", b"\r", b"\n", b"\x0b", b"\xff"])))
def test_the_hash_is_that_of_the_lines_without_their_ends(parts: list[bytes]) -> None:
    text = b"".join(parts)
    lines = b"\n".join(line.rstrip(b" \t\r") for line in text.split(b"\n"))
    assert frontmatter.body_hash([text]) == hashlib.sha256(lines).hexdigest()


@pytest.mark.rule("FM-08")
@given(st.one_of(files(), st.builds(b"---\n".__add__, st.binary())))
@example(b"---\n---\n---\n")
@example(b"---\n--- \nstatus: approved\n---\n")
@example(b"---\n---x\nstatus: approved\n---")
def test_white_space_behind_a_marker_changes_nothing(data: bytes) -> None:
    bare = data.removeprefix(b"\xef\xbb\xbf")
    spaced = b"--- \n" + bare[4:]
    assert frontmatter.body(bare) == (
        frontmatter.body(spaced) if frontmatter.body(spaced) != spaced else bare
    )
    assert frontmatter.status(bare, "a.md") == frontmatter.status(spaced, "a.md")


@pytest.mark.rule("SEC-16")
@MORE
@example(b"---\nstatus: draft\n---", [b"", b"x\n---\n", b"\nbody"])
@example(b"\xef\xbb\xbfbody", [b"", b"---\nstatus: draft\n---\n"])
@given(files(), st.lists(st.binary(max_size=20), max_size=4))
def test_texts_that_begin_alike_are_taken_apart_as_each_alone(
    data: bytes, ends: list[bytes]
) -> None:
    texts = [data, *(data + end for end in ends), data[: len(data) // 2], data]
    keys = ("status", "owner")
    alone = [next(frontmatter.each_without((text,), keys)) for text in texts]
    assert list(frontmatter.each_without(texts, keys)) == alone
