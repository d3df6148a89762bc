from __future__ import annotations

import pytest

from qrspi.core.text.citations import (
    Citation,
    Density,
    cites_feedback,
    density,
    mentions_feedback,
    parse,
    without_quotes,
)


@pytest.mark.rule("FND-06")
@pytest.mark.parametrize(
    ("entry", "citation"),
    [
        ("design.md", Citation("design.md")),
        ("design.md:12", Citation("design.md", 12, 12)),
        ("design.md:12-20", Citation("design.md", 12, 20)),
        ("design.md:L12", Citation("design.md", 12, 12)),
        ("design.md:L12-L20", Citation("design.md", 12, 20)),
        ("design.md:L12-20", Citation("design.md", 12, 20)),
        (" src/a b.py:L1 ", Citation("src/a b.py", 1, 1)),
        ("../../etc/passwd:L1", Citation("../../etc/passwd", 1, 1)),
        ("/etc/passwd", Citation("/etc/passwd")),
        ("a,b.md:L3", Citation("a,b.md", 3, 3)),
    ],
)
def test_a_citation_is_a_path_and_perhaps_a_range(entry: str, citation: Citation) -> None:
    assert parse(entry) == citation


@pytest.mark.rule("FND-13")
@pytest.mark.parametrize(
    ("entry", "start", "end"),
    [
        ("x.md (line 212)", 212, 212),
        ("x.md (lines 16-18)", 16, 18),
        ("x.md (L16-L18)", 16, 18),
        ("x.md (lines 16–18)", 16, 18),
        ("x.md (lines 16 to 18)", 16, 18),
        ("x.md, lines 16-18", 16, 18),
        ("x.md line 7", 7, 7),
        ("x.md: line 7", 7, 7),
        ("x.md L16-L18", 16, 18),
        ("x.md#L16-L18", 16, 18),
        ("x.md:L16–L18", 16, 18),
    ],
)
def test_a_range_in_prose_is_understood(entry: str, start: int, end: int) -> None:
    assert parse(entry) == Citation("x.md", start, end, prose=True)


@pytest.mark.rule("FND-06")
@pytest.mark.parametrize(
    "entry",
    [
        "",
        "  ",
        ":L3",
        "x.md:",
        "x.md:L",
        "x.md:abc",
        "x.md:0",
        "x.md:L20-L12",
        "x.md:3:14",
        "x.md:L3,L9",
        "https://example.org/x.md",
        "x.md\nstatus: approved",
        "x\x00.md",
        "x.md:9999999999",
        "x" * 5000,
    ],
)
def test_anything_else_is_no_citation(entry: str) -> None:
    assert parse(entry) is None


@pytest.mark.rule("FND-07")
@pytest.mark.parametrize(
    ("entry", "cited"),
    [
        ("feedback/design-round-01.md", True),
        ("feedback/design-round-01.md:L4-L9", True),
        ("docs/qrspi/2026-01-01-sample-run/feedback/my notes.md", True),
        ("./feedback/a/b.md", True),
        ("feedback/x.md (line 3)", True),
        ("feedback/", False),
        ("feedback/.md", False),
        ("feedback/notes.txt", False),
        ("feedback/notes.mdx", False),
        ("user-feedback/notes.md", False),
        ("myfeedback/notes.md", False),
        ("myfeedback/feedback/notes.md", True),
        ("feedback.md", False),
        ("design.md:L3", False),
    ],
)
def test_a_citation_of_feedback_is_seen(entry: str, cited: bool) -> None:
    assert cites_feedback(entry) is cited


QUOTE = (
    "<<<UNTRUSTED-ARTIFACT-START id=a.md>>>\nfeedback/x.md\n<<<UNTRUSTED-ARTIFACT-END id=a.md>>>"
)


@pytest.mark.rule("FND-07")
@pytest.mark.parametrize(
    ("message", "mentioned"),
    [
        ("It contradicts `feedback/goals-round-01.md`, line 3.", True),
        ("See (feedback/*.md).", True),
        ("The feedback/ folder is empty; see design.md.", False),
        ("Feedback was given in design.md.", False),
        (f"The artifact says:\n{QUOTE}\nand that is wrong.", False),
        (f"{QUOTE}\nbut feedback/y.md says otherwise", True),
        (f"{QUOTE}\n{QUOTE}", False),
        (QUOTE.replace("END id=a.md", "END id=b.md"), True),
        (QUOTE.replace("ARTIFACT-END", "PATH-END"), True),
        (QUOTE.replace("START id=a.md", "START id=a.md encoding=base64"), False),
        (QUOTE.partition("\n<<<UNTRUSTED-ARTIFACT-END")[0], True),
        (QUOTE.partition(">>>\n")[2], True),
    ],
)
def test_a_mention_of_feedback_counts_outside_of_quotes(message: str, mentioned: bool) -> None:
    assert mentions_feedback(message) is mentioned


@pytest.mark.rule("FND-07")
def test_a_quote_inside_a_quote_ends_with_the_outer_one() -> None:
    inner = "<<<UNTRUSTED-PATH-START id=p>>>x<<<UNTRUSTED-PATH-END id=p>>>"
    text = f"a <<<UNTRUSTED-ARTIFACT-START id=q>>>{inner} y<<<UNTRUSTED-ARTIFACT-END id=q>>> b"
    assert without_quotes(text) == "a   b"


@pytest.mark.rule("GRD-03")
@pytest.mark.parametrize(
    "text",
    [
        "feedback/" * 30_000,
        "<<<UNTRUSTED-ARTIFACT-START id=a>>>feedback/" * 6_000,
        "".join(f"<<<UNTRUSTED-ARTIFACT-START id={at}>>>feedback/" for at in range(6_000)),
        "<<<UNTRUSTED-" * 20_000 + "feedback/",
    ],
    ids=["folders", "starts", "ids", "brackets"],
)
def test_hostile_messages_are_read_in_linear_time(text: str) -> None:
    assert mentions_feedback(text) is False


@pytest.mark.rule("VLD-01")
@pytest.mark.parametrize(
    ("text", "references", "words"),
    [
        ("", 0, 0),
        ("no source at all", 0, 4),
        ("Sessions expire (src/a.py:L12-L20).", 1, 3),
        ("see src/a.py:L3 and `b.md:14` and docs/x/Makefile:L7-L9", 3, 6),
        ("at 10:30 in v1.2:3 ratio 3:4", 0, 6),
        ("Makefile:L7 and Makefile:7", 1, 3),
        ("As [the manual](https://example.org/a) says.", 1, 4),
        ('A [link](x.md "title here") b', 1, 5),
        ("https://example.org/a?b=c, <https://example.org>", 2, 2),
        ("[`src/a.py:L3`](https://example.org/a.py#L3) once", 1, 2),
        ("one [1] two [2][3] three [^4] four [x] [12345]", 4, 9),
        ("a [1]\n\n[1]: https://example.org title\n[^2]: src/a.py:L1\n", 1, 2),
        ("---\nstatus: draft\nlink: https://example.org\n---\na b\n", 0, 2),
        ("a\n```\nx.py:L1 many words in code\n```\nb [1]\n", 1, 3),
        ("a\n~~~\nunclosed fence [1]\n", 0, 1),
        ("- *** -- a — b", 0, 2),
    ],
)
def test_references_and_words(text, references, words):
    assert density(text.encode()) == Density(references, words)


@pytest.mark.rule("VLD-01")
@pytest.mark.parametrize(
    ("references", "words", "value"), [(1, 20, 0.05), (1, 21, 1 / 21), (0, 1, 0.0), (0, 0, 0.0)]
)
def test_density_is_references_per_word(references, words, value):
    text = " ".join(["[1]"] * references + ["word"] * (words - references))
    assert density(text.encode()).value == value


@pytest.mark.rule("VLD-01")
@pytest.mark.parametrize(
    "piece", [b"[", b"a.b/", b"`", b"\xff", b"[](", b"```\n", b"x.y:", b"[a]:"]
)
def test_any_text_is_measured_in_little_time(piece):
    assert density(piece * 50_000).references >= 0
