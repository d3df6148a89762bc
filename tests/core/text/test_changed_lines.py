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
        # renamed on the other side
        (diff("c.py", "+b"), ()),
        (diff("b.py", "+b") + diff("c.py", "+b"), ("c.py",)),
        (diff("c.py", "+new", head="new file mode 100644\n"), ("c.py",)),
        (diff("c.py", "-old", "+b"), ("c.py",)),
        (diff("c.py", "+new") + diff("d.py", "+new"), ("d.py",)),
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
