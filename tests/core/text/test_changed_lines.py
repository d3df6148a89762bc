from __future__ import annotations

import pytest

from qrspi.core.text import changed_lines


def diff(name: str, *lines: str, head: str = "") -> bytes:
    begin = f"diff --git a/{name} b/{name}\n{head}index 1..2 100644\n--- a/{name}\n+++ b/{name}\n"
    return (begin + "@@ -1 +1 @@ def a\n" + "\n".join((*lines, ""))).encode()


SEEN = diff("a.py", "-old", "+new", "+new") + diff("b.py", "+b")


@pytest.mark.rule("SEC-17")
@pytest.mark.parametrize(
    ("change", "files"),
    [
        (b"", ()),
        (diff("a.py", "+new"), ()),
        (diff("a.py", "+new", "-old") + diff("b.py", "+b"), ()),
        (diff("a.py", "+new", "+new", "+new"), ("a.py",)),
        (diff("a.py", "-new"), ("a.py",)),
        (diff("a.py", "+b"), ("a.py",)),
        (diff("a.py", "+new", head="old mode 100644\nnew mode 100755\n"), ("a.py",)),
        # a line of text that looks like one of the head
        (diff("a.py", "+new", "--- a/x"), ("a.py",)),
        # another file with the same line
        (diff("c.py", "+b"), ("c.py",)),
        # a file that turns into a link is there twice
        (diff("a.py", "-evil") + diff("a.py", "+new"), ("a.py",)),
        (b'diff --git "a/\\303.py" "b/\\303.py"\nnew file mode 100644\n', ("\\303.py",)),
    ],
)
def test_lines_that_no_other_diff_has(change: bytes, files: tuple[str, ...]) -> None:
    assert changed_lines.unseen(changed_lines.read(change), [changed_lines.read(SEEN)]) == files


def test_what_several_show_is_put_together() -> None:
    both = [changed_lines.read(diff("a.py", "+x")), changed_lines.read(diff("a.py", "+x", "+y"))]
    assert changed_lines.unseen(changed_lines.read(diff("a.py", "+x", "+y", "+x")), both) == ()


def renamed(old: str, new: str, *lines: str) -> bytes:
    head = f"diff --git a/{old} b/{new}\nsimilarity index 90%\nrename from {old}\nrename to {new}\n"
    return (head + "@@ -1 +1 @@\n" + "".join(f"{line}\n" for line in lines)).encode()


SPACED = diff("a b.py", "+b").replace(b"a/a b.py b/a b.py", b'"a/a\\001.py" "b/a\\001.py"')


@pytest.mark.rule("SEC-17")
@pytest.mark.parametrize(
    ("seen", "between", "change", "files"),
    [
        (SEEN, renamed("b.py", "c.py"), diff("c.py", "+b"), ()),
        (SEEN, renamed("b.py", "c.py"), diff("d.py", "+b"), ("d.py",)),
        (SEEN, renamed("b.py", "c.py"), diff("c.py", "+b", "-c"), ("c.py",)),
        (SEEN, diff("b.py", "+rename from b.py", "+rename to c.py"), diff("c.py", "+b"), ("c.py",)),
        (SPACED, renamed('"a\\001.py"', "c.py"), diff("c.py", "+b"), ()),
        # within what was seen
        (renamed("b.py", "c.py", "+b"), b"", diff("b.py", "+b") + diff("c.py", "+b"), ()),
        (renamed("b.py", "c.py", "+b"), renamed("c.py", "d.py"), diff("d.py", "+b"), ()),
        (renamed("b.py", "c.py", "+b"), b"", renamed("b.py", "c.py", "+b"), ()),
    ],
)
def test_another_name_counts_where_git_says_so(
    seen: bytes, between: bytes, change: bytes, files: tuple[str, ...]
) -> None:
    known = changed_lines.as_renamed(changed_lines.read(seen), changed_lines.read(between))
    assert changed_lines.unseen(changed_lines.read(change), [known]) == files
