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
    known = ("a.py", "lo go\x01.png", "p\udcff.png")
    return plain_diff.rewrite(diff, lambda path: data if path in known else None)


@pytest.mark.rule("SEC-17")
def test_a_plain_diff_stays_as_it_is() -> None:
    diff = HEAD + b"@@ -1 +1 @@\n-one\n+two \x1b[31m\xc3\xa9\r\n\\ No newline at end of file\n"
    assert rewrite(diff + diff) == Plain(diff + diff)
    assert rewrite(b"") == Plain(b"")


@pytest.mark.rule("SEC-17")
def test_a_nul_is_shown_and_said() -> None:
    said = b"qrspi: below there are 1 NUL bytes, each shown as \\x00\n"
    assert rewrite(HEAD + b"@@ -0,0 +1 @@\n+# \0 import os\n") == Plain(
        HEAD + said + b"@@ -0,0 +1 @@\n+# \\x00 import os\n"
    )


@pytest.mark.rule("SEC-17")
def test_bytes_that_are_no_text_are_shown_one_by_one_and_said() -> None:
    said = b"qrspi: below there are 2 bytes that are not UTF-8, each shown like \\xe9\n"
    assert rewrite(HEAD + b"@@ -0,0 +1 @@\n+# caf\xe9\xff \xc3\xa9\n") == Plain(
        HEAD + said + b"@@ -0,0 +1 @@\n+# caf\\xe9\\xff \xc3\xa9\n"
    )


@pytest.mark.rule("SEC-17")
@pytest.mark.parametrize(
    ("head", "lines", "commit"),
    [
        ("new file mode 160000\nindex 000..222\n", "+Subproject commit 2222\n", "2222"),
        ("index 111..222 160000\n", "-Subproject commit 1111\n+Subproject commit 2222\n", "2222"),
        ("deleted file mode 160000\nindex 111..000\n", "-Subproject commit 1111\n", ""),
    ],
)
def test_a_submodule_is_named_with_its_commit(head: str, lines: str, commit: str) -> None:
    section = f"diff --git a/v b/v\n{head}--- a/v\n+++ b/v\n@@ -1 +1 @@\n{lines}".encode()
    assert rewrite(section) == Plain(section, (Unseen("v", 0, "", commit),))


SMALL, GREAT = (
    f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n".encode() + text
    for name, text in (("s.py", b"+small\n"), ("g.csv", b"+1234567\n" * 100))
)


@pytest.mark.rule("SEC-17")
def test_of_a_long_diff_small_changes_are_shown_and_the_rest_is_named() -> None:
    whole = GREAT + SMALL
    assert plain_diff.shown(whole, len(whole)) == plain_diff.Shown(whole)
    text, left = plain_diff.shown(whole, len(whole) - 100)
    assert text.endswith(
        b"+1234567\nqrspi: the other 108 bytes of this change are not shown\n" + SMALL
    )
    assert left == (Unseen("g.csv", 0, "", cut=108),)


@pytest.mark.rule("SEC-17")
def test_what_has_no_room_at_all_still_has_its_name() -> None:
    text, left = plain_diff.shown(SMALL + GREAT, 1)
    assert text.count(b"diff --git ") == text.count(b"bytes of this change are not shown") == 2
    assert [one.path for one in left] == ["s.py", "g.csv"]


@pytest.mark.rule("SEC-17")
def test_very_many_are_counted() -> None:
    many = [Unseen(f"{at}.png", 1, "") for at in range(plain_diff.MOST_NAMED + 7)]
    assert plain_diff.named(many[:3]) == tuple(many[:3])
    assert plain_diff.named(many)[plain_diff.MOST_NAMED - 1 :] == (
        many[plain_diff.MOST_NAMED - 1],
        Unseen("", 7, ""),
    )


@pytest.mark.rule("SEC-17")
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a = 1\n", b"a = 1\n"),
        (PNG, None),
        (
            b"# \xe9\n",
            b"qrspi: below there are 1 bytes that are not UTF-8, each shown like \\xe9\n# \\xe9\n",
        ),
    ],
)
def test_a_file_as_text(data: bytes, text: bytes | None) -> None:
    assert plain_diff.whole_file(data) == text


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
        (HEAD.replace(b"b/a.py\n", b'"b/lo go\\001.png"\n'), "lo go\\x01.png"),
        (HEAD.replace(b"b/a.py\n", b'"b/p\\377.png"\n'), "p\\xff.png"),
    ],
    ids=["a plain name", "a name in quotes", "a name that is no text"],
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
