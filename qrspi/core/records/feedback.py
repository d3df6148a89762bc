"""Why a person sent an artifact back: the words as given, and the text they are about."""

from __future__ import annotations

from qrspi.core.filenames import feedback_file, round_number
from qrspi.core.pipeline import STEP
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter

LIMIT = 1024 * 1024
_PREVIOUS = b"\n## Previous Artifact\n"


def render(step: str, number: int, words: bytes, artifact: bytes) -> bytes:
    return opening(step, number, words) + artifact


def opening(step: str, number: int, words: bytes) -> bytes:
    """Everything but the artifact. The words stand below the frontmatter, so whatever they
    look like is text."""
    head = f"---\nstep: {step}\nround: {number}\nrejected_artifact: {STEP[step].artifact}\n---\n"
    line_end = b"" if words.endswith(b"\n") else b"\n"
    return head.encode() + b"\n## User Feedback\n\n" + words + line_end + _PREVIOUS + b"\n"


def newest(tree: Tree, step: str) -> int:
    """How often the step was rejected: the number of its newest feedback, 0 when there is none."""
    entries = tree.entries("feedback")
    names = () if isinstance(entries, Fault) else tuple(entry.name for entry in entries)
    return max((number for name in names if (number := _number(name, step))), default=0)


def _number(name: str, step: str) -> int | None:
    fits = name.startswith(f"{step}-round-") and name.endswith(".md")
    return round_number(name[len(step) + 1 : -len(".md")]) if fits else None


def says(tree: Tree, step: str, number: int, words: bytes) -> bool:
    """Whether that feedback has these very words about the very text that is there."""
    data = tree.read(feedback_file(step, number)) if number else Fault("absent")
    artifact = tree.read(STEP[step].artifact)
    if isinstance(data, Fault) or isinstance(artifact, Fault):
        return False
    return data.startswith(opening(step, number, words)) and quotes(data, artifact)


def quotes(data: bytes, artifact: bytes) -> bool:
    """Whether the text that this feedback rejects is the artifact's, frontmatter and white
    space at line ends aside. Looked at from the end: the words above may say anything, also
    the heading, and an artifact that repeats it must not cost more than its length."""
    body = _without_line_ends(frontmatter.body(artifact))
    whole = _without_line_ends(data)
    _, found, front = whole[: len(whole) - len(body)].rpartition(_PREVIOUS)
    return whole.endswith(body) and bool(found) and not frontmatter.body(front.removeprefix(b"\n"))


def _without_line_ends(text: bytes) -> bytes:
    return b"\n".join(line.rstrip(b" \t\r") for line in text.split(b"\n"))
