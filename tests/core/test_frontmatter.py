"""Frontmatter: where it lies, what status it gives, and how one field of it is changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from qrspi.core.model import Problem
from qrspi.core.tree import FRONTMATTER_LIMIT, Fault, MemoryTree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front

CASES = Path(__file__).resolve().parents[2] / "fixtures" / "cases" / "frontmatter"
EXPECTED = "expected draft, approved or replan-draft; read as draft"


def cases(kind: str) -> list[str]:
    return sorted(path.stem for path in (CASES / kind).glob("*.md"))


def said(content: bytes | Fault) -> str:
    status, problem = frontmatter.status(content, "goals.md")
    return f"{status}\n{problem.message}\n" if problem else f"{status}\n"


@pytest.mark.rule("FM-01", "FM-02", "FM-03", "FM-05", "FM-08")
@pytest.mark.parametrize("name", cases("valid"))
def test_a_valid_block_gives_its_status(name: str) -> None:
    path = CASES / "valid" / f"{name}.md"
    assert said(path.read_bytes()) == path.with_suffix(".txt").read_text("utf-8")


@pytest.mark.rule("FM-04")
@pytest.mark.parametrize("name", cases("invalid"))
def test_an_invalid_block_is_never_approved(name: str) -> None:
    path = CASES / "invalid" / f"{name}.md"
    status, problem = frontmatter.status(path.read_bytes(), path.name)
    assert status == "invalid"
    assert problem is not None
    assert (problem.code, problem.file) == ("invalid-frontmatter", path.name)
    assert problem.message + "\n" == path.with_suffix(".txt").read_text("utf-8")


BLOCKS = {
    "line feeds": (b"---\na: x\n---\nbody\n", b"a: x\n", b"body\n"),
    "CRLF": (b"---\r\na: x\r\n---\r\nbody\r\n", b"a: x\r\n", b"body\r\n"),
    "a byte order mark": (b"\xef\xbb\xbf---\na: x\n---\nbody", b"a: x\n", b"body"),
    "white space behind the marks": (b"--- \t\na: x\n---  \r\nbody", b"a: x\n", b"body"),
    "no line end behind the end": (b"---\na: x\n---", b"a: x\n", b""),
    "nothing in it": (b"---\n---\nbody", b"", b"body"),
    "a longer line of dashes": (b"---\na: x\n# ----\n---\n----\n", b"a: x\n# ----\n", b"----\n"),
    "dashes that are indented": (b"---\na:\n  ---\n---\nbody", b"a:\n  ---\n", b"body"),
    "a second block": (b"---\na: x\n---\n---\nb: y\n---\n", b"a: x\n", b"---\nb: y\n---\n"),
}


@pytest.mark.rule("FM-01", "FM-05")
@pytest.mark.parametrize(("data", "text", "body"), BLOCKS.values(), ids=BLOCKS)
def test_the_block_ends_at_the_next_line_of_three_dashes(
    data: bytes, text: bytes, body: bytes
) -> None:
    front = frontmatter.read(data, "x.md")
    assert isinstance(front, Front)
    assert (data[front.start : front.end], data[front.body :]) == (text, body)
    assert frontmatter.body(data) == body


@pytest.mark.rule("FM-01", "FM-03")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# Goals\n",
        b"\n---\nstatus: approved\n---\n",
        b" ---\nstatus: approved\n---\n",
        b"----\nstatus: approved\n---\n",
        b"--- # c\nstatus: approved\n---\n",
        b"---status: approved\n---\n",
        b"---\rstatus: approved\r---\r",
        b"```\n---\nstatus: approved\n---\n```\n",
        b"\xff\xfe-\0-\0-\0\n\0",
        b"---" + b" " * (FRONTMATTER_LIMIT + 99) + b"\nstatus: approved\n---\n",
    ],
)
def test_anything_else_on_line_1_is_no_frontmatter(data: bytes) -> None:
    assert frontmatter.read(data, "goals.md") is None
    assert said(data) == f"draft\ngoals.md: no frontmatter, so no status, {EXPECTED}\n"
    assert frontmatter.body(data) == data


def test_the_body_of_a_file_without_frontmatter_has_no_byte_order_mark() -> None:
    assert frontmatter.body(b"\xef\xbb\xbf# Goals\n") == b"# Goals\n"


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"---\na: x\na: y\n---\nbody", b"body"),
        (b"---\n\xff\n---\nbody", b"body"),
        (b"---\na: x\n", b"---\na: x\n"),
    ],
)
def test_a_body_is_found_behind_a_block_that_cannot_be_read(data: bytes, body: bytes) -> None:
    assert frontmatter.body(data) == body


INVALID = {
    "no end": (
        b"---\nstatus: approved\n",
        "1:1: frontmatter without an end: no further line is '---' alone",
    ),
    "only the start": (b"---", "1:1: frontmatter without an end: no further line is '---' alone"),
    "CR only at the end": (
        b"---\nstatus: approved\r---\n",
        "1:1: frontmatter without an end: no further line is '---' alone",
    ),
    "not UTF-8": (b"---\na: x\nstatus: \xe9\n---\n", "3:9: the byte 0xE9, which is not UTF-8"),
    "UTF-8 cut short": (b"---\nstatus: \xc3\n---\n", "2:9: the byte 0xC3, which is not UTF-8"),
    "CRLF lines are counted once": (b"---\r\na: x\r\na: y\r\n---\r\n", "3:1: repeated key 'a'"),
    "a second document": (b"---\n--- {status: approved}\n---\n", "2:1: more than one document"),
    "a document end": (b"---\na: x\n...\nstatus: approved\n---\n", "4:1: more than one document"),
    "a byte order mark inside": (
        "---\n\ufeffstatus: approved\n---\n".encode(),
        "2:1: the character U+FEFF, which is not allowed here",
    ),
    "NUL": (
        b"---\nstatus: approved\0\n---\n",
        "2:17: the character U+0000, which is not allowed here",
    ),
}


@pytest.mark.rule("FM-04")
@pytest.mark.parametrize(("data", "message"), INVALID.values(), ids=INVALID)
def test_what_does_not_parse_is_invalid_with_its_place(data: bytes, message: str) -> None:
    assert said(data) == f"invalid\ngoals.md:{message}\n"


def _of_size(size: int, status: str = "approved") -> bytes:
    text = f"status: {status}\n#"
    return b"---\n" + text.encode() + b"x" * (size - len(text) - 1) + b"\n---\nbody\n"


@pytest.mark.rule("FM-04", "FM-07")
@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (_of_size(FRONTMATTER_LIMIT), "approved\n"),
        (b"\xef\xbb\xbf" + _of_size(FRONTMATTER_LIMIT), "approved\n"),
        (
            _of_size(FRONTMATTER_LIMIT + 1),
            "invalid\ngoals.md:1:1: frontmatter larger than 64 KiB\n",
        ),
        (
            _of_size(FRONTMATTER_LIMIT * 3),
            "invalid\ngoals.md:1:1: frontmatter larger than 64 KiB\n",
        ),
        (
            b"---\nstatus: approved\n" + b"x: y\n" * 20000,
            "invalid\ngoals.md:1:1: frontmatter larger than 64 KiB\n",
        ),
        (b"---\nstatus: approved\n---\n" + b"\xff\0" * FRONTMATTER_LIMIT, "approved\n"),
        (
            _of_size(FRONTMATTER_LIMIT).replace(b"---", b"---" + b" " * 40),
            "invalid\ngoals.md:1:1: frontmatter larger than 64 KiB\n",
        ),
    ],
)
def test_a_head_gives_the_same_answer_as_the_whole_file(data: bytes, answer: str) -> None:
    head = MemoryTree({"goals.md": data}).head("goals.md")
    assert isinstance(head, bytes)
    assert said(head) == said(data) == answer


@pytest.mark.rule("FM-03", "FM-04")
@pytest.mark.parametrize(
    ("fault", "answer"),
    [
        (Fault("absent"), "missing\n"),
        (
            Fault("not-a-file", "symbolic link"),
            "invalid\ngoals.md: not a regular file (symbolic link)\n",
        ),
        (
            Fault("unreadable", "Permission denied"),
            "invalid\ngoals.md: cannot be read (Permission denied)\n",
        ),
        (Fault("unreadable"), "invalid\ngoals.md: cannot be read\n"),
    ],
)
def test_absent_and_unreadable_are_not_the_same(fault: Fault, answer: str) -> None:
    assert said(fault) == answer


@pytest.mark.rule("FM-02", "FM-08")
@pytest.mark.parametrize(
    "line",
    [
        "status: approved",
        'status: "approved"',
        "status: 'approved'",
        "status:    approved   ",
        "status:\tapproved\t",
        "status: approved # by Ada",
        "status: approved\t# by Ada",
        'status: "approved"   # by Ada',
        "status : approved",
        '"status": approved',
        "'status': 'approved'",
        "{status: approved}",
        '{"a": [x], "status":"approved"}',
        "  status: approved",
    ],
)
def test_these_read_as_approved(line: str) -> None:
    assert said(f"---\n{line}\n---\n".encode()) == "approved\n"
    assert said(f"---\r\n{line}\r\n---\r\n".encode()) == "approved\n"


NOT_APPROVED = {
    "upper case": ("status: Approved", "2:9: status is 'Approved'"),
    "all upper case": ("status: APPROVED", "2:9: status is 'APPROVED'"),
    "more text": ("status: approved!", "2:9: status is 'approved!'"),
    "more words": ("status: approved by Ada", "2:9: status is 'approved by Ada'"),
    "no comment": ("status: approved#", "2:9: status is 'approved#'"),
    "yes": ("status: yes", "2:9: status is 'yes'"),
    "true": ("status: true", "2:9: status is 'true'"),
    "empty": ("status:", "2:1: status is empty"),
    "empty with a comment": ("status: # approved", "2:1: status is empty"),
    "empty quotes": ("status: ''", "2:9: status is \"''\""),
    "null": ("status: ~", "2:9: status is '~'"),
    "inner space before": ("status: ' approved'", "2:9: status is \"' approved'\""),
    "inner space behind": ('status: "approved "', "2:9: status is '\"approved \"'"),
    "an escape": ('status: "appro\\x76ed"', "2:9: status is '\"appro\\\\x76ed\"'"),
    "an escaped line end": ('status: "appro\\\n  ved"', "2:9: status is '\"appro\\\\\\n  ved\"'"),
    "a block": ("status: |\n  approved", "2:9: status is '|\\n  approved'"),
    "a block without line end": ("status: |-\n  approved", "2:9: status is '|-\\n  approved'"),
    "a folded block": ("status: >-\n  approved", "2:9: status is '>-\\n  approved'"),
    "two lines": ("status: approved\n  and more", "2:9: status is 'approved\\n  and more'"),
    "the next line": (
        "status:\n  approved",
        "3:3: status is 'approved' but not behind 'status:' on the same line",
    ),
    "a long form": (
        "? status\n: approved",
        "3:3: status is 'approved' but not behind 'status:' on the same line",
    ),
    "an escaped key": (
        '"st\\x61tus": approved',
        "2:14: status is 'approved' but not behind 'status:' on the same line",
    ),
    "Cyrillic": (
        "status: \u0430pproved",
        "2:9: status is '\u0430pproved' with the character U+0430",
    ),
    "wide letters": (
        "status: approve\uff44",
        "2:9: status is 'approve\uff44' with the character U+FF44",
    ),
    "zero width": (
        "status: approved\u200b",
        "2:9: status is 'approved\\u200b' with the character U+200B",
    ),
    "no-break space": (
        "status: approved\xa0",
        "2:9: status is 'approved\\xa0' with the character U+00A0",
    ),
    "long": (f"status: {'x' * 99}", f"2:9: status is '{'x' * 59}…'"),
}


@pytest.mark.rule("FM-02", "FM-03", "FM-08")
@pytest.mark.parametrize(("line", "what"), NOT_APPROVED.values(), ids=NOT_APPROVED)
def test_these_are_drafts_with_a_warning_that_names_the_value(line: str, what: str) -> None:
    assert said(f"---\n{line}\n---\n".encode()) == f"draft\ngoals.md:{what}, {EXPECTED}\n"


@pytest.mark.rule("FM-03", "FM-08")
@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("title: x", "no 'status' in the frontmatter"),
        ("", "no 'status' in the frontmatter"),
        ("# status: approved", "no 'status' in the frontmatter"),
        ("Status: approved", "no 'status' in the frontmatter"),
        ("nested: {status: approved}", "no 'status' in the frontmatter"),
        ("nested:\n  status: approved", "no 'status' in the frontmatter"),
        ("text: |\n  status: approved", "no 'status' in the frontmatter"),
        ("text: 'x\n\n  status: approved'", "no 'status' in the frontmatter"),
        ("status: [approved]", "status is a list"),
        ("status:\n  - approved", "status is a list"),
        ("status: {approved: approved}", "status is a mapping"),
    ],
)
def test_no_status_or_no_scalar_is_a_draft(line: str, what: str) -> None:
    assert said(f"---\n{line}\n---\n".encode()) == f"draft\ngoals.md: {what}, {EXPECTED}\n"


@pytest.mark.rule("FM-02")
@pytest.mark.parametrize("word", ["draft", "replan-draft"])
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_the_other_words_are_not_approved(word: str, quote: str) -> None:
    assert said(f"---\nstatus: {quote}{word}{quote}\n---\n".encode()) == f"{word}\n"


@pytest.mark.rule("FM-04", "FM-08")
@pytest.mark.parametrize(
    "block",
    [
        "base: &a {status: approved}\n<<: *a",
        "<<: {status: approved}",
        "status: !!str approved",
        "status: &a approved",
        "a: approved\nstatus: *a",
        "status: draft\nstatus: approved",
        "status: approved\n'status': draft",
        "- status: approved",
        "approved",
        "status: approved: yes",
    ],
)
def test_nothing_smuggles_an_approval_in(block: str) -> None:
    status, problem = frontmatter.status(f"---\n{block}\n---\n".encode(), "goals.md")
    assert status == "invalid"
    assert problem is not None


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
    changed = frontmatter.set_field(data, "status", "approved", "goals.md")
    assert changed == head + after + tail
    assert frontmatter.status(changed, "goals.md") == ("approved", None)
    assert frontmatter.set_field(changed, "status", "approved") == changed


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
    assert frontmatter.set_field(data, "status", "draft") == changed
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
    assert frontmatter.set_field(data, "b", value) == data.replace(b"y", value.encode())
    added = frontmatter.set_field(data, "d", value)
    assert added == data.replace(b"# c\n", f"# c\nd: {value}\n".encode())


def test_a_new_key_that_needs_quotes_gets_them() -> None:
    changed = frontmatter.set_field(b"---\n---\n", "a: b", "x")
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
    problem = frontmatter.set_field(b"---\na: x\n---\n", "a", value, "goals.md")
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
    problem = frontmatter.set_field(data, "status", "approved", "goals.md")
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
    assert frontmatter.remove_field(head + before + tail, "key") == head + after + tail


def test_removing_from_a_file_without_frontmatter_changes_nothing() -> None:
    assert frontmatter.remove_field(b"# Goals\n", "status") == b"# Goals\n"
    problem = frontmatter.remove_field(b"---\na: x\na: y\n---\n", "a", "goals.md")
    assert isinstance(problem, Problem)


@pytest.mark.rule("FM-06")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a: x\n", b"a: x\nroute:\n  - goals\n  - plan\n"),
        (
            b"route:\n  - goals # first\n  - design\nb: y\n",
            b"route:\n  - goals # first\n  - plan\nb: y\n",
        ),
        (
            b"route: # c\n- design\n- goals\n# d\nb: y\n",
            b"route: # c\n- goals\n- plan\n# d\nb: y\n",
        ),
        (b"route:\n    - x\nb: y\n", b"route:\n    - goals\n    - plan\nb: y\n"),
        (b"route: [goals, design] # c\nb: y\n", b"route: # c\n  - goals\n  - plan\nb: y\n"),
        (b"route:\nb: y\n", b"route:\n  - goals\n  - plan\nb: y\n"),
        (b"route: | # c\n  x\nb: y\n", b"route: # c\n  - goals\n  - plan\nb: y\n"),
        (b"a: x\r\nroute: x\r\n", b"a: x\r\nroute:\r\n  - goals\r\n  - plan\r\n"),
    ],
)
def test_a_list_is_set_on_lines_of_its_own(before: bytes, after: bytes) -> None:
    newline = b"\r\n" if b"\r" in before else b"\n"
    head, tail = b"---" + newline, b"---" + newline + b"route: x\n"
    changed = frontmatter.set_lines(head + before + tail, "route", ["- goals", "- plan"])
    assert changed == head + after + tail
    assert frontmatter.set_lines(changed, "route", ["- goals", "- plan"]) == changed


def test_a_mapping_is_set_on_lines_of_its_own() -> None:
    lines = ["low: none", "high:", "  vendor: x", "  model: y"]
    changed = frontmatter.set_lines(b"---\n---\n", "model_routing", lines)
    below = b"".join(b"  " + line.encode() + b"\n" for line in lines)
    assert changed == b"---\nmodel_routing:\n" + below + b"---\n"


@pytest.mark.parametrize("lines", [[], ["x"], ["- a", "b: c"], ["- a\n- b"], ["- &a b"], ["# c"]])
def test_lines_that_are_not_one_list_or_mapping_are_not_written(lines: list[str]) -> None:
    problem = frontmatter.set_lines(b"---\na: x\n---\n", "a", lines, "config.md")
    assert isinstance(problem, Problem)
    found = "\n".join(lines)
    assert problem.message == (
        f"config.md: cannot set 'a' to {found!r}, expected the lines of one YAML list or mapping"
    )


@pytest.mark.rule("MAN-01")
@pytest.mark.parametrize(
    ("bodies", "hashed"),
    [
        ([], b""),
        ([b""], b""),
        ([b"a\nb\n"], b"a\nb\n"),
        ([b"a \t\r\nb\t"], b"a\nb"),
        ([b"a\r\n\r\n"], b"a\n\n"),
        ([b"  a\tb\n"], b"  a\tb\n"),
        ([b"a", b"b "], b"a\0b"),
        ([b"a\rb\n"], b"a\rb\n"),
        ([b"a\xc2\xa0\n\xff"], b"a\xc2\xa0\n\xff"),
    ],
)
def test_the_body_hash_ignores_white_space_at_line_ends(bodies: list[bytes], hashed: bytes) -> None:
    assert frontmatter.body_hash(bodies) == hashlib.sha256(hashed).hexdigest()


@pytest.mark.rule("MAN-01")
def test_the_body_hash_ignores_the_frontmatter() -> None:
    drafts = (
        b"---\nstatus: draft\n---\n# Goals\n",
        b"---\r\nstatus: approved\r\n---\r\n# Goals\r\n",
    )
    one, other = (frontmatter.body_hash([frontmatter.body(data)]) for data in drafts)
    assert one == other


def test_text_is_the_content_of_a_scalar() -> None:
    front = frontmatter.read(b"---\na: 'x'\nb: [y]\nc:\n---\n")
    assert isinstance(front, Front)
    assert [frontmatter.text(front.fields, key) for key in "abcd"] == ["x", None, "", None]


@pytest.mark.rule("FM-04", "FM-08")
@pytest.mark.parametrize(
    ("value", "status"),
    [("approved", "approved"), ("'approved'", "approved"), ("!x approved", "invalid")],
)
def test_a_large_block_reads_as_a_small_one(value: str, status: str) -> None:
    data = f"---\nnote: {'x' * 60_000}\nstatus: {value}\n---\n".encode()
    assert frontmatter.status(data, "goals.md")[0] == status


def test_a_large_block_has_its_status_beside_the_key_too() -> None:
    data = f"---\nnote: {'x' * 60_000}\nstatus:\n  approved\n---\n".encode()
    assert frontmatter.status(data, "goals.md")[0] == "draft"
