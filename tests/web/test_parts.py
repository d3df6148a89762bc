"""The pure parts of the page, in tables."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("nh3")

from qrspi.core.model import Problem
from qrspi.web import addresses, diff_table, forms, markdown, review_rounds
from qrspi.web.addresses import Address
from qrspi.web.diff_table import Row
from qrspi.web.review_rounds import RoundFigures
from qrspi.web.templates import environment


@pytest.mark.rule("WEB-19")
@pytest.mark.parametrize(
    "path, expected",
    [
        ("/", Address("board")),
        ("/.json", Address("board", twin=True)),
        ("/inbox.json", Address("inbox", twin=True)),
        ("/runs/r", Address("run", "r")),
        ("/runs/r/task-03", Address("step", "r", "task-03")),
        ("/runs/r/implement-gate", Address("step", "r", "implement-gate")),
        ("/runs/r/replan.json", Address("step", "r", "replan", twin=True)),
        ("/runs/r/goals/rounds/12", Address("round", "r", "goals", 12)),
        ("/runs/r/files/a/b.json", Address("file", "r", path="a/b.json")),
        ("/runs/r/files/../x", None),
        ("/runs/r/files/", None),
        ("/runs/-r", None),
        ("/runs/../x", None),
        ("/runs/r/goals/rounds/x", None),
        ("/runs/r/goals/rounds/99999", None),
        ("/runs/r/goals/", None),
        ("//", None),
    ],
)
def test_addresses(path: str, expected: Address | None) -> None:
    assert addresses.parse(path) == expected


HOSTILE = """\
<script>alert(1)</script>
<img src=x onerror=alert(1)>

[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>) [d](vbscript:x)

![p](https://evil.example/p.png "t") ![q](javascript:alert(1))

<a href="https://x" onclick="y">z</a> <style>*{}</style> <iframe src=x></iframe> <svg onload=x>

| <b onmouseover=x>t</b> |
|---|
| ![r](//evil.example/r.png) |

```html
<script>alert(1)</script>
```
"""
ALLOWED = re.compile(r"</?(a|p|ul|ol|li|pre|code|em|strong|table|thead|tbody|tr|th|td|h[1-6]|br)\b")


@pytest.mark.rule("WEB-12")
def test_markdown_can_do_nothing() -> None:
    html = markdown.fragment(HOSTILE, "r")
    tags = re.findall(r"<[^>]*>", html)
    assert all(ALLOWED.match(tag) for tag in tags)
    assert [tag for tag in tags if re.search(r"\son\w+=|style=|src=", tag)] == []
    for target in re.findall(r'href="([^"]*)"', "".join(tags)):
        assert target.startswith(("https://evil.example/", "//evil.example/"))
    assert all('rel="noopener noreferrer"' in tag for tag in tags if tag.startswith("<a "))


@pytest.mark.rule("WEB-12")
def test_every_other_text_is_escaped() -> None:
    made = environment()
    assert made.from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"
    said = made.from_string("{{ x|sentence }}").render(x="<b> `<i>` and `qrspi <u>`")
    assert said == (
        '&lt;b&gt; <code>&lt;i&gt;</code> and <span class="cmd"><code>qrspi &lt;u&gt;</code></span>'
    )


@pytest.mark.rule("WEB-04")
def test_blocks_know_their_lines_behind_the_frontmatter() -> None:
    text = "---\nstatus: draft\n---\n\n# Title\n\nTwo\nlines.\n"
    found = markdown.blocks(text, "r", "goals.md")
    assert [(one.first, one.last, one.html.strip()) for one in found] == [
        (5, 5, "<h1>Title</h1>"),
        (7, 8, "<p>Two\nlines.</p>"),
    ]
    inside = markdown.blocks("[x](other.md)", "r", "tasks/task-01.md")
    assert 'href="/runs/r/files/tasks/other.md"' in inside[0].html


@pytest.mark.rule("WEB-04")
def test_a_difference_stands_side_by_side() -> None:
    assert diff_table.between("a\nb\nc\n", "a\nB\nB2\nc\n") == (
        Row("head", ""),
        Row("head", "@@ -1,3 +1,4 @@"),
        Row("same", "a", "a", 1, 1),
        Row("changed", "b", "B", 2, 2),
        Row("changed", None, "B2", None, 3),
        Row("same", "c", "c", 3, 4),
    )
    removed = "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- not a head\n kept\n"
    assert diff_table.rows(removed)[2] == Row("changed", "-- not a head", None, 1, None)


@pytest.mark.rule("WEB-05", "WEB-22")
def test_the_plot_begins_with_two_rounds() -> None:
    first = RoundFigures(1, "closed", 4, 1, None, "")
    assert review_rounds.plot((first,)) is None
    drawn = review_rounds.plot((first, RoundFigures(2, "closed", 0, 0, 2, "narrow")))
    assert drawn is not None
    assert (drawn.kept_line, drawn.scope_line) == ("28,28 612,152", "612,90")
    assert drawn.words == "Kept findings by round: round 1: 4 kept, round 2: 0 kept."


@pytest.mark.rule("WEB-17")
def test_a_form_is_a_command() -> None:
    found = forms.words(
        "r", "decide", {"finding": "a.R1-F01", "choice": "loop-back", "to": "goals"}
    )
    assert found == ("decide", "r", "a.R1-F01", "loop-back", "--to", "goals", "--yes")
    assert isinstance(forms.words("r", "resolve", {"key": "a b"}), Problem)
