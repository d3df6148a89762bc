"""The pure parts of the page, in tables."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("nh3")

from qrspi.core.model import Problem
from qrspi.web.answers import forms, gates
from qrspi.web.html import environment
from qrspi.web.parts import diff_table, markdown, navigation, review_rounds
from qrspi.web.parts.diff_table import Piece, Row, Table
from qrspi.web.parts.markdown import TextPlace
from qrspi.web.parts.review_rounds import RoundFigures
from qrspi.web.server import addresses
from qrspi.web.server.addresses import Address


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

```html" onmouseover="x
<script>alert(1)</script>
```

# <h1 id=L1>
"""
TAG = r"a|p|ul|ol|li|pre|code|em|strong|table|thead|tbody|tr|th|td|h[3-6]|br|span"
ATTRIBUTE = r' (?:href="(?:https:)?//evil\.example/[^"]*"|rel="noopener noreferrer"|title="t"'
SCROLL = '<div class="scroll" tabindex="0" role="region" aria-label="Table">'
PLAIN = rf'</?(?:{TAG})(?:{ATTRIBUTE}|id="g:L[0-9]+"|data-line="[0-9]+"))*>'
ALLOWED = re.compile(f"{PLAIN}|{SCROLL}|</div>")


@pytest.mark.rule("WEB-02", "WEB-12", "SEC-06")
def test_markdown_can_do_nothing() -> None:
    html = "".join(one.html for one in markdown.blocks(HOSTILE, TextPlace("r", "x.md", "g:")))
    tags = re.findall(r"<[^>]*>", html)
    assert [tag for tag in tags if not ALLOWED.fullmatch(tag)] == []
    links = [tag for tag in tags if tag.startswith("<a ")]
    assert [tag for tag in links if "rel=" not in tag] == []
    assert sum("href" in tag for tag in links) == 2  # the two pictures, as links


@pytest.mark.rule("WEB-09", "WEB-18")
def test_a_table_scrolls_and_a_remark_is_shown() -> None:
    table, remark = markdown.blocks("|a|\n|-|\n|b|\n\n<!-- counted -->\n", TextPlace("r", "x.md"))
    assert (table.html.startswith(f"{SCROLL}<table>"), table.is_remark) == (True, False)
    assert (remark.html, remark.is_remark) == ("<p>&lt;!-- counted --&gt;</p>\n", True)


@pytest.mark.rule("WEB-12")
def test_every_other_text_is_escaped() -> None:
    made = environment()
    assert made.from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"
    said = made.from_string("{{ x|sentence }}").render(x="<b> `<i>` and `qrspi <u>`")
    assert said == (
        '&lt;b&gt; <code>&lt;i&gt;</code> and <span class="cmd"><code>qrspi &lt;u&gt;</code></span>'
    )


@pytest.mark.rule("WEB-12")
def test_words_of_agents_are_not_offered_as_commands() -> None:
    words = "run `qrspi approve`,\n<b>\n\n- one\n- two"
    said = environment().from_string("{{ x|prose }}").render(x=words)
    assert said == "run <code>qrspi approve</code>, &lt;b&gt;\n\n- one\n- two"


@pytest.mark.rule("WEB-10", "WEB-21")
@pytest.mark.parametrize(
    "wanted, shown, before, after",
    [
        ("", [0, 49], "", "/inbox?page=2"),
        ("2", [50, 99], "/inbox?page=1", "/inbox?page=3"),
        ("3", [100, 119], "/inbox?page=2", ""),
        ("99", [100, 119], "/inbox?page=2", ""),
        ("-1", [0, 49], "", "/inbox?page=2"),
    ],
)
def test_long_lists_are_cut(wanted: str, shown: list[int], before: str, after: str) -> None:
    found, pages = navigation.page(range(120), wanted, "/inbox", q="")
    assert ([found[0], found[-1]], pages.before, pages.after) == (shown, before, after)


@pytest.mark.rule("WEB-22")
def test_a_reason_is_given_once() -> None:
    following = {
        "summary": "Reviews passed clean in round 3. Read goals.md.",
        "because": ["Reviews passed clean in round 3", "undecided: a.R1-F01"],
        "waits_for": ["a.R1-F01", "b.clean.md"],
    }
    assert gates.why({"next": following}) == ["undecided: a.R1-F01", "waits for `b.clean.md`"]


TEXT = """\
---
status: draft
---

# Title

Two
lines.

- one
  more
- two

| a |
|---|
| b |

```sh
x
y
```
"""


@pytest.mark.rule("WEB-04")
def test_every_line_of_a_text_has_an_address() -> None:
    found = markdown.blocks(TEXT, TextPlace("r", "goals.md"))
    assert [(one.first, one.last) for one in found] == [
        (5, 5),
        (7, 8),
        (10, 13),
        (14, 16),
        (18, 21),
    ]
    assert found[0].html == "<h3>Title</h3>\n"
    assert found[1].html == '<p>Two\n<span id="L8" data-line="8"></span>lines.</p>\n'
    lines = [re.findall('id="L([0-9]+)" data-line="([0-9]+)"', one.html) for one in found]
    assert lines[2:] == [[("11", "11"), ("12", "12")], [("16", "16")], [("19", "19"), ("20", "20")]]


@pytest.mark.rule("WEB-04")
def test_links_lead_to_neighbours() -> None:
    inside = markdown.blocks("[x](other.md)", TextPlace("r", "tasks/task-01.md"))
    assert 'href="/runs/r/files/tasks/other.md"' in inside[0].html


def same(text: str, old: int, new: int) -> Row:
    return Row("same", (Piece(text),), (Piece(text),), old, new)


@pytest.mark.rule("WEB-04")
def test_a_difference_stands_side_by_side() -> None:
    assert diff_table.between("a\nb\nc\n", "a\nB\nB2\nc\n", "x.md").rows == (
        Row("head", after=(Piece("x.md"),)),
        Row("place", new=1),
        same("a", 1, 1),
        Row("changed", (Piece("b"),), (Piece("B"),), 2, 2),
        Row("changed", None, (Piece("B2"),), None, 3),
        same("c", 3, 4),
    )
    removed = "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- not a head\n kept\n"
    assert diff_table.table(removed).rows[2] == Row("changed", (Piece("-- not a head"),), old=1)


@pytest.mark.rule("WEB-04")
def test_words_that_differ_are_marked_and_what_is_new_needs_one_column() -> None:
    found = diff_table.between("A page that loads.\n", "A page that sells.\n")
    assert found.rows[-1] == Row(
        "changed",
        (Piece("A page that "), Piece("loads", changed=True), Piece(".")),
        (Piece("A page that "), Piece("sells", changed=True), Piece(".")),
        1,
        1,
    )
    assert (found.is_new, diff_table.between("", "a\n").is_new) == (False, True)


def test_a_long_difference_is_cut() -> None:
    found = diff_table.between("", "x\n" * 5000)
    assert (len(found.rows), found.cut) == (4000, True)
    assert diff_table.between("", "x\n" * 3998) == Table(found.rows)


@pytest.mark.rule("WEB-05", "WEB-22")
def test_the_plot_begins_with_two_rounds() -> None:
    first = RoundFigures(1, "closed", 4, 1, None, "")
    assert review_rounds.plot((first,)) is None
    drawn = review_rounds.plot((first, RoundFigures(2, "closed", 1, 0, 2, "narrow")))
    assert drawn is not None
    assert [(one.x, one.top, one.height, one.label) for one in drawn.marks] == [
        (98.0, 10.0, 118.0, "1"),
        (246.0, 98.5, 29.5, "2 ▸◂ narrow"),
    ]
    assert (drawn.scope_line, drawn.bar) == ("246,69", 28.0)
    assert drawn.words == (
        "Round 1: 4 kept, the whole text. Round 2: 1 kept, 2 parts in scope, only the last fixes."
    )


def test_a_plot_of_many_rounds_has_room_for_some_labels() -> None:
    rounds = tuple(RoundFigures(at, "closed", 1, 0, None, "") for at in range(1, 61))
    drawn = review_rounds.plot(rounds)
    assert drawn is not None
    assert [one.label for one in drawn.marks if one.label][:3] == ["1", "7", "13"]


@pytest.mark.rule("WEB-17")
def test_a_form_is_a_command() -> None:
    found = forms.words(
        "r", "decide", {"finding": "a.R1-F01", "choice": "loop-back", "to": "goals"}
    )
    assert found == ("decide", "r", "a.R1-F01", "loop-back", "--to", "goals", "--yes")
    said = {"finding": "a.R1-F01", "choice": "skip", "note": " --yes "}
    assert forms.words("r", "decide", said) == (
        "decide",
        "r",
        "a.R1-F01",
        "skip",
        "--message=--yes",
    )
    assert isinstance(forms.words("r", "resolve", {"key": "a b"}), Problem)


@pytest.mark.rule("FLR-01", "WEB-07")
@pytest.mark.parametrize(
    ("kind", "options", "primary"),
    [
        ("failure", {"skip": "go on", "retry": "send again", "stop": "leave it"}, []),
        ("loop", {"present": "Present", "loop": "Loop until clean (recommended)"}, ["loop"]),
        ("batch", {"continue": "approve", "fix": "send back"}, ["continue"]),
        ("test", {"fix": "go back", "ship": "all the same, with --failing -m REASON"}, []),
    ],
)
def test_at_most_one_answer_stands_out(
    kind: str, options: dict[str, str], primary: list[str]
) -> None:
    listed = [{"key": key, "label": label} for key, label in options.items()]
    following = {"who": "human", "kind": kind, "step": "test", "options": listed}
    run = {"run": "r", "next": following, "route": ["goals"], "closed": None}
    forms_shown = gates._options(run)
    assert [one.label for one in forms_shown if one.primary] == primary
