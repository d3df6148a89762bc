"""What counts as a reference, what as a word."""

from __future__ import annotations

import pytest

from qrspi.core.text.citation_density import Density, is_sparse, measure


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
    assert measure(text.encode()) == Density(references, words)


@pytest.mark.rule("VLD-01")
@pytest.mark.parametrize(
    ("references", "words", "floor", "sparse"),
    [
        (1, 20, 0.05, False),
        (1, 21, 0.05, True),
        (0, 1, 0.0, False),
        (0, 1, 0.01, True),
        (0, 0, 0.05, True),
    ],
)
def test_the_floor_itself_is_enough(references, words, floor, sparse):
    text = " ".join(["[1]"] * references + ["word"] * (words - references))
    assert is_sparse(text.encode(), floor) is sparse


@pytest.mark.rule("VLD-01")
@pytest.mark.parametrize(
    "piece", [b"[", b"a.b/", b"`", b"\xff", b"[](", b"```\n", b"x.y:", b"[a]:"]
)
def test_any_text_is_measured_in_little_time(piece):
    assert measure(piece * 50_000).references >= 0
