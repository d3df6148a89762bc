"""A diff in which a reviewer sees every byte."""

from __future__ import annotations

import hashlib

import pytest

from qrspi.core.model import Unseen
from qrspi.core.text import plain_diff
from qrspi.core.text.plain_diff import LONGEST, Plain

HEAD = b"diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n"
PNG = bytes(range(256)) * 40


def rewrite(diff: bytes, data: bytes | None = b"") -> Plain:
    known = ("a.py", "lo go\x01.png")
    return plain_diff.rewrite(diff, lambda path: data if path in known else None)


@pytest.mark.rule("SEC-17")
def test_a_plain_diff_stays_as_it_is() -> None:
    diff = HEAD + b"@@ -1 +1 @@\n-one\n+two \x1b[31m\xff\r\n\\ No newline at end of file\n"
    assert rewrite(diff + diff) == Plain(diff + diff)
    assert rewrite(b"") == Plain(b"")


@pytest.mark.rule("SEC-17")
def test_a_nul_is_shown_and_said() -> None:
    said = b"qrspi: below there are 1 NUL bytes, each shown as \\x00\n"
    assert rewrite(HEAD + b"@@ -0,0 +1 @@\n+# \0 import os\n") == Plain(
        HEAD + said + b"@@ -0,0 +1 @@\n+# \\x00 import os\n"
    )


@pytest.mark.rule("SEC-17")
def test_a_line_without_end_is_broken_up_between_letters() -> None:
    line = b"a" * (LONGEST - 1) + "é".encode() + b"b" * LONGEST
    found = rewrite(HEAD + b"@@ -0,0 +1 @@\n+" + line + b"\n").text.removeprefix(HEAD)
    said = (
        f"qrspi: below there are 1 lines of more than {LONGEST} bytes, broken up with a '\\' at "
        "each end"
    )
    assert found.split(b"\n") == [
        said.encode(),
        b"@@ -0,0 +1 @@",
        b"+" + b"a" * (LONGEST - 1) + b"\\",
        b"+" + "é".encode() + b"b" * (LONGEST - 2) + b"\\",
        b"+bb",
        b"",
    ]


@pytest.mark.rule("SEC-17")
@pytest.mark.parametrize(
    ("head", "path"),
    [
        (HEAD, "a.py"),
        (HEAD.replace(b"b/a.py\n", b'"b/lo go\\001.png"\n'), "lo go\x01.png"),
    ],
    ids=["a plain name", "a name in quotes"],
)
def test_what_is_no_text_is_listed_with_its_size_and_hash(head: bytes, path: str) -> None:
    digest = hashlib.sha256(PNG).hexdigest()
    body = b"@@ -0,0 +1 @@\n+" + PNG.replace(b"\n", b"\n+") + b"\n"
    assert rewrite(head + body, PNG) == Plain(
        head + f"qrspi: binary, not shown: {len(PNG)} bytes, sha256 {digest}\n".encode(),
        (Unseen(path, len(PNG), digest),),
    )


@pytest.mark.rule("SEC-17")
def test_a_deleted_binary_is_named_too() -> None:
    head = HEAD.replace(b"+++ b/a.py", b"+++ /dev/null")
    found = rewrite(head + b"@@ -1 +0,0 @@\n-" + PNG + b"\n", None)
    assert found == Plain(
        head + b"qrspi: binary, not shown: it is deleted\n", (Unseen("a.py", 0, ""),)
    )
