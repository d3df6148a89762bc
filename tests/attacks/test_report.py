"""To have a report say something else than it was made from, to whoever it is sent to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests import runs, scenes
from tests.attacks.arena import Arena
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-04", "SEC-23")
TEXTS = {
    "a heading": "# Proof\nProof\n===\nDecisions\n---\n",
    "a list": "- [x] approved\n+ approved\n1. approved\n2) approved\n",
    "a table": "| a | b |\n|---|---|\n| approved | x |\n",
    "a rule": "---\n***\n___\n",
    "a fence": "```\nx\n~~~\n<b>x</b>\n",
    "markup": "<script>x</script><img src=x onerror=x></style><b>approved</b>\n",
    "a comment": "<!-- x -->\nx <!-- \n",
    "a link": "[a](javascript:x) <http://x.example> ![a](http://x.example/a.png)\n[a]: http://x\n",
    "a data address": "[a](data:text/html;base64,PHNjcmlwdD4=) <data:text/html,x>\n",
    "a struck word": "~~not~~ ~not~ **kept** __kept__ *kept*\n",
    "letters by their number": "&#x202e;x &#8203;x &rlm;x &shy;x &ZeroWidthSpace;x &lt;b&gt;\n",
    "letters that nobody sees": "a\u202eb\u200bc\U000e0041d\n",
    "an escape": "\x1b[2J\x9b1m\x07\n",
    "a template": "{{ 7 * 7 }} {% for a in b %} ${x}\n",
}
# What an engine's page has, and no words of others.
TAGS = re.compile(r"<(?!/?(?:p|blockquote|code|strong|br)\b)[^>]*>")


def reported(arena: Arena, text: str) -> Path:
    """In a finding, in the reason of a score, in a decision, and by a name that somebody gave."""
    run = arena.scene(scenes.prepared)
    scenes.review(run)
    (run / scenes.ROUND / scenes.FINDING).write_bytes(runs.finding(message=text))
    reason = text.partition("\n")[0].replace('"', "")
    (run / scenes.ROUND / scenes.SCORE).write_bytes(runs.score(90, f"'{reason}'"))
    arena.qrspi("next")
    assert arena.qrspi("reject", "-m", text, "--as", reason).code == 0
    return run


@attack("an agent", "words become something else than words in a report as Markdown", TEXTS)
def test_markdown(arena: Arena, way: str) -> None:
    reported(arena, way)
    drawn = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    plainly = drawn.render(arena.qrspi("report").out)
    quotes = re.findall(r"<blockquote>.*?</blockquote>", plainly, re.DOTALL)
    assert quotes
    assert not [tag for quote in quotes for tag in TAGS.findall(quote)]
    headings = re.findall(r"<h\d>(.*?)</h\d>", plainly)
    assert headings == ["2026-05-17-user-auth", "goals", "Decisions", "Spend", "Proof"]
    assert not set(plainly) & set("\x1b\x9b\x07\u202e\u200b\u200f\u00ad\U000e0041")


@attack("an agent", "words become something else than words in a report as HTML", TEXTS)
def test_html(arena: Arena, way: str) -> None:
    reported(arena, way)
    file = arena.top / "report.html"
    assert arena.qrspi("report", "--html", str(file)).code == 0
    text = file.read_text()
    body = text.partition("</style>")[2]
    known = set(re.findall(r"<(/?[a-z0-9]+)", body))
    assert not known & {"script", "img", "b", "a", "iframe", "form", "link", "style", "base"}
    assert not re.search(r"<[^>]*\s(?:on[a-z]+|href|src|style)=", body)
    assert "default-src 'none'" in text
    assert not set(text) & set("\x1b\x9b\x07\u202e\u200b\U000e0041")
    assert "49" not in re.findall(r"7 \* 7|\b49\b", body)


@attack(
    "a clone",
    "a report is written where a link leads",
    {"a file": "report.html", "a file that is not there": "new.html"},
    no_more="a link leads to something or to nothing",
)
def test_a_link(arena: Arena, way: str) -> None:
    arena.scene(scenes.prepared)
    private = arena.outside / ("private.md" if way == "report.html" else way)
    (arena.project / way).symlink_to(private)
    arena.qrspi("report", "--html", way)
    assert not (arena.project / way).is_symlink()
