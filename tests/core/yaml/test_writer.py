from __future__ import annotations

import pytest

from qrspi.core.model import Problem
from qrspi.core.tree import FRONTMATTER_LIMIT
from qrspi.core.yaml import frontmatter, reader, writer


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("approved", "approved"),
        ("qrspi/2026-01-01-run_x.md", "qrspi/2026-01-01-run_x.md"),
        ("two words", "two words"),
        ("true", '"true"'),
        ("No", '"No"'),
        ("null", '"null"'),
        ("5", '"5"'),
        ("", '""'),
        (" x", '" x"'),
        ("x ", '"x "'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("- a", '"- a"'),
        ('say "x\\y"', '"say \\"x\\\\y\\""'),
        ("a\nb", '"a\\u000ab"'),
        ("é", '"é"'),
        ("\u2028", '"\\u2028"'),
        ("\U000e0001", '"\\U000e0001"'),
    ],
)
def test_quote_writes_a_string_that_reads_back(text: str, quoted: str) -> None:
    assert writer.quote(text) == quoted
    fields = reader.parse(f"a: {quoted}\n")
    assert isinstance(fields, dict)
    assert {key: frontmatter.text(fields, key) for key in fields} == {"a": text}


CHANGES = {
    "plain": (b"status: draft\n", b"status: approved\n"),
    "quoted": (b"status: 'draft'\n", b"status: approved\n"),
    "in the middle": (b"a: x\nstatus: draft\nb: y\n", b"a: x\nstatus: approved\nb: y\n"),
    "a comment behind": (b"status: draft   # why\n", b"status: approved   # why\n"),
    "spaces before and behind": (b"status:   draft  \n", b"status:   approved  \n"),
    "a tab": (b"status:\tdraft\n", b"status:\tapproved\n"),
    "a quoted key": (b'"status": draft\n', b'"status": approved\n'),
    "a key with a space": (b"status : draft\n", b"status : approved\n"),
    "CRLF": (b"a: x\r\nstatus: draft\r\n", b"a: x\r\nstatus: approved\r\n"),
    "the same word elsewhere": (
        b"title: status: draft\n".replace(b": draft", b"#draft") + b"status: draft\n",
        b"title: status#draft\nstatus: approved\n",
    ),
    "the same key inside": (
        b"a:\n  status: draft\nb: {status: draft}\nstatus: draft\n",
        b"a:\n  status: draft\nb: {status: draft}\nstatus: approved\n",
    ),
    "the same key inside, first": (
        b"a:\n  status: draft\n",
        b"a:\n  status: draft\nstatus: approved\n",
    ),
    "a comment of the same kind": (
        b"# status: draft\nstatus: draft\n# status: draft\n",
        b"# status: draft\nstatus: approved\n# status: draft\n",
    ),
    "nothing": (b"status:\n", b"status: approved\n"),
    "nothing and a comment": (b"status:  # why\na: x\n", b"status: approved  # why\na: x\n"),
    "absent": (b"a: x\n", b"a: x\nstatus: approved\n"),
    "absent, indented": (b"  a: x\n", b"  a: x\n  status: approved\n"),
    "absent, CRLF": (b"a: x\r\n", b"a: x\r\nstatus: approved\r\n"),
    "absent, behind a block": (b"a: |\n  x\n", b"a: |\n  x\nstatus: approved\n"),
    "absent, behind a comment": (b"a: x\n# end\n", b"a: x\n# end\nstatus: approved\n"),
    "absent, nothing there": (b"", b"status: approved\n"),
    "on the next line": (b"status:\n  draft\na: x\n", b"status: approved\na: x\n"),
    "on the next line, comments": (
        b"status: # one\n  # two\n  draft # three\na: x\n",
        b"status: approved # one\n  # two\n  # three\na: x\n",
    ),
    "a list below": (
        b"status: # one\n  - a\n  - b\n# two\nc: x\n",
        b"status: approved # one\n# two\nc: x\n",
    ),
    "a list below, not indented": (
        b"status:\n- a\n- b\n\nc: x\n",
        b"status: approved\n\nc: x\n",
    ),
    "a mapping below": (b"status:\n  a: x\n  b:\n    - y\nc: z\n", b"status: approved\nc: z\n"),
    "a list in brackets": (b"status: [a,\n  b] # c\nd: x\n", b"status: approved # c\nd: x\n"),
    "a block": (b"status: |\n  a\n\n  b\n\nc: x\n", b"status: approved\n\nc: x\n"),
    "a block with a comment": (b"status: >- # c\n  a\nb: x\n", b"status: approved # c\nb: x\n"),
    "two lines": (b"status: one\n  two # c\nb: x\n", b"status: approved # c\nb: x\n"),
    "quotes over two lines": (b"status: 'one\n\n  two' # c\n", b"status: approved # c\n"),
    "odd characters around": (
        "a: é😀 # ü\nstatus: draft # ö\n".encode(),
        "a: é😀 # ü\nstatus: approved # ö\n".encode(),
    ),
}


@pytest.mark.rule("FM-06")
@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (b"---\n", b"---\n# Body\n\nstatus: draft\n"),
        (b"\xef\xbb\xbf---\n", b"---"),
        (b"--- \n", b"---\t\n\xff\0\r\n---\nstatus: draft\n---\n"),
    ],
)
def test_a_field_is_set_and_every_other_byte_stays(
    before: bytes, after: bytes, head: bytes, tail: bytes
) -> None:
    if b"\r" in before:
        head = head.replace(b"\n", b"\r\n")
    data = head + before + tail
    changed = writer.set_field(data, "status", "approved", "goals.md")
    assert changed == head + after + tail
    assert frontmatter.status(changed, "goals.md") == ("approved", None)
    assert writer.set_field(changed, "status", "approved") == changed


@pytest.mark.rule("FM-06")
@pytest.mark.parametrize(
    ("data", "changed"),
    [
        (b"", b"---\nstatus: draft\n---\n"),
        (b"# Goals", b"---\nstatus: draft\n---\n# Goals"),
        (b"# Goals\r\n\n", b"---\r\nstatus: draft\r\n---\r\n# Goals\r\n\n"),
        (b"\xef\xbb\xbf# Goals\n", b"\xef\xbb\xbf---\nstatus: draft\n---\n# Goals\n"),
        (b"\n---\na: x\n---\n", b"---\nstatus: draft\n---\n\n---\na: x\n---\n"),
    ],
)
def test_a_file_without_frontmatter_gets_a_block(data: bytes, changed: bytes) -> None:
    assert writer.set_field(data, "status", "draft") == changed
    assert frontmatter.body_hash([frontmatter.body(changed)]) == frontmatter.body_hash(
        [frontmatter.body(data)]
    )


@pytest.mark.rule("FM-06")
@pytest.mark.parametrize(
    "value",
    [
        "5",
        "true",
        '"a: b"',
        "'it''s'",
        "[a, 'b, c']",
        "{vendor: x, model: y}",
        "[]",
        "a#b",
        '"\\n"',
    ],
)
def test_a_value_is_written_as_given(value: str) -> None:
    data = b"---\na: x\nb: y # c\n---\n# Goals"
    assert writer.set_field(data, "b", value) == data.replace(b"y", value.encode())
    added = writer.set_field(data, "d", value)
    assert added == data.replace(b"# c\n", f"# c\nd: {value}\n".encode())


def test_a_new_key_that_needs_quotes_gets_them() -> None:
    changed = writer.set_field(b"---\n---\n", "a: b", "x")
    assert changed == b'---\n"a: b": x\n---\n'


@pytest.mark.rule("FM-06")
@pytest.mark.parametrize(
    "value",
    [
        "",
        " x",
        "x ",
        "x # c",
        "a: b",
        "x\ny: z",
        "x\rz",
        "|",
        "> x",
        "&a x",
        "*a",
        "!t x",
        "[a",
        "- a",
        "'x",
        "x\0",
        "`x",
        "#x",
    ],
)
def test_what_is_not_one_value_on_one_line_is_not_written(value: str) -> None:
    problem = writer.set_field(b"---\na: x\n---\n", "a", value, "goals.md")
    assert isinstance(problem, Problem)
    assert problem.code == "invalid-value"
    assert problem.message == (
        f"goals.md: cannot set 'a' to {value!r}, expected one YAML value on one line"
    )


@pytest.mark.rule("FM-06")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"---\na: x\na: y\n---\n", "goals.md:3:1: repeated key 'a'"),
        (
            b"---\na: x\n",
            "goals.md:1:1: frontmatter without an end: no further line is '---' alone",
        ),
        (b"---\n- a\n---\n", "goals.md:2:1: not a mapping of keys to values"),
        (b"---\n\xff\n---\n", "goals.md:2:1: the byte 0xFF, which is not UTF-8"),
        (
            b"---\n{status: draft}\n---\n",
            "goals.md: cannot change 'status' and keep the rest as it is written",
        ),
        (
            b"---\n? status\n: draft\n---\n",
            "goals.md: cannot change 'status' and keep the rest as it is written",
        ),
        (
            b"---\na: x\n...\n---\n",
            "goals.md: cannot change 'status' and keep the rest as it is written",
        ),
        (
            b"---\na: " + b"x" * (FRONTMATTER_LIMIT - 5) + b"\n---\n",
            "goals.md: cannot change 'status' and keep the rest as it is written",
        ),
    ],
)
def test_a_block_that_cannot_be_changed_surely_is_refused(data: bytes, message: str) -> None:
    problem = writer.set_field(data, "status", "approved", "goals.md")
    assert isinstance(problem, Problem)
    assert problem.message == message


@pytest.mark.rule("FM-06")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a: x\nkey: y # c\nb: z\n", b"a: x\nb: z\n"),
        (b"key: y\n", b""),
        (b"key:\n  - a\n\n  - b # c\n# d\nb: z\n", b"# d\nb: z\n"),
        (b"key: |\n  a\n\nb: z\n", b"\nb: z\n"),
        (b"a:\n  key: x\n", b"a:\n  key: x\n"),
        (b"a: x\r\nkey: y\r\n", b"a: x\r\n"),
        (b"", b""),
    ],
)
def test_a_field_is_removed_with_its_lines(before: bytes, after: bytes) -> None:
    head, tail = b"---\n", b"---\nkey: y\n"
    assert writer.remove_field(head + before + tail, "key") == head + after + tail


def test_removing_from_a_file_without_frontmatter_changes_nothing() -> None:
    assert writer.remove_field(b"# Goals\n", "status") == b"# Goals\n"
    problem = writer.remove_field(b"---\na: x\na: y\n---\n", "a", "goals.md")
    assert isinstance(problem, Problem)
