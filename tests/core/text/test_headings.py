from __future__ import annotations

import pytest

from qrspi.core.text import headings
from qrspi.core.text.headings import Span


def titles(text: str) -> list[tuple[int, str]]:
    return [(span.start, span.title) for span in headings.read(text.encode()).spans]


@pytest.mark.rule("SCP-02")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("## Approach\n", [(1, "Approach")]),
        ("# One\n### Three\n", []),
        ("##\tTab\n", [(1, "Tab")]),
        ("##   Wide   \n", [(1, "Wide")]),
        ("   ## Indented\n", [(1, "Indented")]),
        ("## Closed ##\n## Closed #####   \n", [(1, "Closed"), (2, "Closed")]),
        ("## C#\n## \\#\n## a \\##\n", [(1, "C#"), (2, "\\#"), (3, "a \\##")]),
        ("##NoSpace\n#\n", []),
        ("##\n## ##\n", [(1, ""), (2, "")]),
        ("####### Seven\n", []),
        ("text\n## Interrupts\n", [(2, "Interrupts")]),
        ("## Windows\r\ntext\r\n## Lines\r\n", [(1, "Windows"), (3, "Lines")]),
        ("Setext\n---\n", [(1, "Setext")]),
        ("Two\nlines\n   --\n", [(1, "Two lines")]),
        ("One\n===\n", []),
        ("text\n\n---\n", []),
        ("- item\n---\n", []),
        ("[a]: /url\n---\n", []),
        ("[a]: /url 'title'\nText\n---\n", [(2, "Text")]),
        ("    ## code\n\n\t## code\n", []),
        ("text\n    ## still text\n", []),
        ("```\n## fenced\n```\n## After\n", [(4, "After")]),
        ("~~~ md\n## fenced\n```\n~~~\n## After\n", [(5, "After")]),
        ("````\n```\n## fenced\n`````\n## After\n", [(5, "After")]),
        ("   ```\n## fenced\n   ```\n## After\n", [(4, "After")]),
        ("    ```\n## Code before\n", [(2, "Code before")]),
        ("```\n## fenced\n    ```\n## fenced still\n", []),
        ("```\n## never closed\n", []),
        ("``` a`b\n## Not a fence\n", [(2, "Not a fence")]),
        ("<!-- ## one line -->\n## After\n", [(2, "After")]),
        ("<!--\n## hidden\n\n## hidden\n-->\n## After\n", [(6, "After")]),
        ("<!-- never closed\n## hidden\n", []),
        ("<div>\n## html\n</div>\n## html still\n\n## After\n", [(6, "After")]),
        ("<details>\n<summary>x</summary>\n\n## Inside\n", [(4, "Inside")]),
        ("<pre>\n\n## hidden\n</pre>\n## After\n", [(5, "After")]),
        ("<x-tag>\n## html\n\n## After\n", [(4, "After")]),
        ("> ## quoted\n## After\n", [(2, "After")]),
        ("> quoted\n---\n", []),
        ("> ```\n## After\n", [(2, "After")]),
        ("- ## in a list\n## After\n", [(2, "After")]),
        ("- item\n\n  ## in a list\n\n ## After\n", [(5, "After")]),
        ("- ```\n  ## fenced\n  ```\n- x\n## After\n", [(5, "After")]),
        ("1. item\n\n   ## in a list\n", []),
        ("-\n\n  ## After\n", [(3, "After")]),
        ("---\nstatus: draft\n---\n## After\n", [(4, "After")]),
        ("---\ntitle: x\n## comment of YAML\n---\n\n## After\n", [(6, "After")]),
        ("---\nnot: [closed\n---\n## After\n", [(4, "After")]),
        ("\ufeff---\nstatus: draft\n---\n## After\n", [(4, "After")]),
        ("\ufeff## First\n", [(1, "First")]),
    ],
)
def test_only_the_documents_own_h2_headings_count(text: str, found: list[tuple[int, str]]) -> None:
    assert titles(text) == found


def test_a_span_goes_to_the_next_h2() -> None:
    read = headings.read(b"# T\n\n## A\ntext\n# H1 inside\n### B\n## C\nlast\n")
    assert read.spans == (Span("A", 3, 6), Span("C", 7, 9))
    assert [read.holding(line) for line in (0, 1, 2)] == [None, None, None]
    assert {read.holding(line) for line in range(3, 7)} == {Span("A", 3, 6)}
    assert {read.holding(line) for line in (7, 8, 9)} == {Span("C", 7, 9)}
    assert read.holding(10) is None


def test_bytes_that_are_not_text_are_no_headings() -> None:
    assert headings.read(b"## \xff\xfe\n\x00## x\n").spans == (Span("\ufffd\ufffd", 1, 3),)


@pytest.mark.parametrize(
    "text",
    [
        "- " * 50_000 + "a\n" + "\n" * 5_000,
        "> " * 50_000 + "a\n",
        "[" * 100_000 + "\n---\n",
        "[a]: x " + "'" * 100_000 + "\n---\n",
        "<a" + " b" * 50_000 + "\n",
        "## " + "# " * 50_000 + "\n",
        "## a" + " " * 100_000 + "b\n",
        "`" * 100_000 + "\n",
        "[a]: x\n" * 10_000 + "---\n",
    ],
    ids=lambda text: str(text)[:8],
)
def test_hostile_text_takes_no_more_than_its_size(text: str) -> None:
    """Each would take minutes if any of it were looked at again and again."""
    assert len(headings.read(text.encode()).spans) <= 1
