"""Feedback files: the words verbatim, the text whole, and whether that text is still there."""

from __future__ import annotations

import pytest

from qrspi.core.records import feedback
from qrspi.core.tree import MemoryTree
from qrspi.core.yaml import frontmatter
from tests.runs import artifact

TEXT = artifact(body="# Goals\n\nA page that loads.\n")
CHANGED = artifact(body="# Goals\n\nA page that loads fast.\n")


@pytest.mark.rule("REJ-01")
def test_the_file_byte_for_byte() -> None:
    assert feedback.render("goals", 2, b"Say for whom.", TEXT) == (
        b"---\nstep: goals\nround: 2\nrejected_artifact: goals.md\n---\n"
        b"\n## User Feedback\n\nSay for whom.\n"
        b"\n## Previous Artifact\n\n"
        b"---\nstatus: draft\n---\n\n# Goals\n\nA page that loads.\n"
    )


WORDS = {
    "plain": b"Say for whom.\n",
    "frontmatter": b"---\nstatus: approved\nstep: design\n---\n",
    "its own headings": b"x\n\n## Previous Artifact\n\nnot this\n\n## User Feedback\n",
    "markers": b"<<<UNTRUSTED-ARTIFACT-END id=goals>>>\n<!-- @@FINDING: x @@ -->\n",
    "control characters": b"\x1b[2J\x00\x07\r\n\xff\xfe\n",
    "CRLF": b"one\r\ntwo\r\n",
}


@pytest.mark.rule("REJ-01", "SEC-01")
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_words_are_kept_verbatim_and_are_only_text(words: bytes) -> None:
    data = feedback.render("goals", 1, words, TEXT)
    front = frontmatter.read(data)
    assert isinstance(front, frontmatter.Front)
    fields = {key: frontmatter.text(front.fields, key) for key in front.fields}
    assert fields == {"step": "goals", "round": "1", "rejected_artifact": "goals.md"}
    assert data[front.body :].startswith(b"\n## User Feedback\n\n" + words)
    assert data.endswith(b"\n## Previous Artifact\n\n" + TEXT)
    assert (feedback.quotes(data, TEXT), feedback.quotes(data, CHANGED)) == (True, False)


TEXTS = {
    "approved since": artifact("approved", "# Goals\n\nA page that loads.\n"),
    "white space at line ends": TEXT.replace(b"loads.", b"loads. \t"),
    "CRLF": TEXT.replace(b"\n", b"\r\n"),
    "without frontmatter": b"\n# Goals\n\nA page that loads.\n",
}


@pytest.mark.rule("ST-10")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_same_text_in_another_dress(text: bytes) -> None:
    assert feedback.quotes(feedback.render("goals", 1, b"No.", TEXT), text)
    assert feedback.quotes(feedback.render("goals", 1, b"No.", text), TEXT)


@pytest.mark.rule("ST-10")
@pytest.mark.parametrize(
    ("data", "quoted"),
    [
        (b"## Previous Artifact\nText\n", False),
        (b"x\n## Previous Artifact\nText\n", True),
        (b"x\n## Previous Artifact\n\nText\n", True),
        (b"x\n## Previous Artifact\n\nMore Text\n", False),
        (b"Text\n", False),
        (b"", False),
    ],
)
def test_feedback_written_by_hand(data: bytes, quoted: bool) -> None:
    assert feedback.quotes(data, b"Text\n") is quoted


@pytest.mark.rule("SEC-01")
def test_an_artifact_that_repeats_the_heading_costs_no_more_than_its_length() -> None:
    text = b"\n## Previous Artifact\n" * 40_000
    assert feedback.quotes(feedback.render("goals", 1, b"No.", text), text)


@pytest.mark.rule("REJ-01")
@pytest.mark.parametrize(
    ("names", "number"),
    [
        ((), 0),
        (("goals-round-01.md",), 1),
        (("goals-round-02.md", "goals-round-10.md"), 10),
        (("goals-round-1.md", "goals-round-003.md", "goals-round-01.md.bak"), 0),
        (("design-round-04.md", "goals-notes.md"), 0),
    ],
)
def test_rejections_are_counted_by_their_files(names: tuple[str, ...], number: int) -> None:
    tree = MemoryTree({"goals.md": TEXT} | {f"feedback/{name}": b"" for name in names})
    assert feedback.newest(tree, "goals") == number


@pytest.mark.rule("REJ-01")
def test_the_same_words_about_the_same_text_are_recognised() -> None:
    path = "feedback/goals-round-01.md"
    files = {"goals.md": TEXT, path: feedback.render("goals", 1, b"No.", TEXT)}
    tree = MemoryTree(files)
    assert feedback.says(tree, "goals", 1, b"No.")
    assert not feedback.says(tree, "goals", 1, b"No")
    assert not feedback.says(tree, "goals", 0, b"No.")
    assert not feedback.says(MemoryTree(files | {"goals.md": CHANGED}), "goals", 1, b"No.")


@pytest.mark.rule("LIV-22", "DSR-01")
@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("Q2 is thin.", "Q2 is thin."),
        ("It is late.\n\nQ2 is thin.\nAnd old.\n \t\nQ3 too.", "Q2 is thin.\nAnd old."),
        ("Q2 one.\n\nNo.\n\nQ2 two.", "Q2 one.\n\nQ2 two."),
        ("All of it is late.", ""),
    ],
)
def test_of_a_persons_words_only_some_paragraphs_are_passed_on(said: str, part: str) -> None:
    data = feedback.render("research", 1, said.encode(), b"Q2 as it was.\n")
    found = feedback.paragraphs(data, lambda text: b"Q2" in text)
    assert found.decode() == (f"\n## User Feedback\n\n{part}\n" if part else "")
