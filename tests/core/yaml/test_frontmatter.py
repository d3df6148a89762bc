"""Frontmatter: where it lies, what status it gives, and how one field of it is changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from qrspi.core.tree import FRONTMATTER_LIMIT, Fault, MemoryTree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front

CASES = Path(__file__).resolve().parents[3] / "fixtures" / "cases" / "frontmatter"
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
        (Fault("unreadable"), "invalid\ngoals.md: cannot be read (nobody knows why)\n"),
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
