"""Why a person sent an artifact back: their words, and the text that the words are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qrspi.core import patterns
from qrspi.core.filenames import feedback_file, feedback_number, research_file
from qrspi.core.pipeline import STEP
from qrspi.core.tree import Fault, Tree, entries
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Scalar

LIMIT = 1024 * 1024
_WORDS = b"\n## User Feedback\n"
_PREVIOUS = b"\n## Previous Artifact\n"


Answers = Mapping[str, str]  # of research: the name of each that is asked for again, its hash


def render(
    step: str, number: int, words: bytes, artifact: bytes, answers: Answers | None = None
) -> bytes:
    return opening(step, number, words, answers) + artifact


def opening(step: str, number: int, words: bytes, answers: Answers | None = None) -> bytes:
    """All but the artifact. Below the frontmatter, words are text whatever they look like."""
    lines = ["asks_again:\n"] if answers else []
    lines += [f"  {name}: {known}\n" for name, known in (answers or {}).items()]
    fields = f"step: {step}\nround: {number}\nrejected_artifact: {STEP[step].artifact}\n"
    head = f"---\n{fields}{''.join(lines)}---\n"
    line_end = b"" if words.endswith(b"\n") else b"\n"
    return head.encode() + _WORDS + b"\n" + words + line_end + _PREVIOUS + b"\n"


def newest(tree: Tree, step: str) -> int:
    numbers = (feedback_number(entry.name, step) for entry in entries(tree, "feedback"))
    return max((number for number in numbers if number), default=0)


def following(tree: Tree, step: str, reviewed: int) -> int:
    """The next number: that of the round it answers, unless that is taken."""
    return max(newest(tree, step) + 1, reviewed)


def asked_again(tree: Tree) -> frozenset[str]:
    number = newest(tree, "research")
    data = tree.read(feedback_file("research", number), LIMIT) if number else Fault("absent")
    named = frontmatter.fields(data).get("asks_again")
    if not isinstance(named, dict):
        return frozenset()
    known = {name: node.text for name, node in named.items() if isinstance(node, Scalar)}
    return frozenset(name for name, value in known.items() if answer_hash(tree, name) == value)


def answer_hash(tree: Tree, name: str) -> str:
    data = tree.read(research_file(name))
    from qrspi.core.digest import sha256  # only research that was sent back needs it

    return "" if isinstance(data, Fault) else sha256(data).hexdigest()


def says(tree: Tree, step: str, number: int, words: bytes, answers: Answers | None = None) -> bool:
    data = tree.read(feedback_file(step, number)) if number else Fault("absent")
    artifact = tree.read(STEP[step].artifact)
    if isinstance(data, Fault) or isinstance(artifact, Fault):
        return False
    return data.startswith(opening(step, number, words, answers)) and quotes(data, artifact)


def quotes(data: bytes, artifact: bytes) -> bool:
    """Whether the artifact is the text that this feedback rejects; frontmatter and white space at
    line ends do not count. It is compared from the end: the words above may contain anything, even
    the heading, and an artifact that repeats the heading must not take quadratic time."""
    body = _without_line_ends(frontmatter.body(artifact))
    whole = _without_line_ends(data)
    _, found, front = whole[: len(whole) - len(body)].rpartition(_PREVIOUS)
    return whole.endswith(body) and bool(found) and not frontmatter.body(front.removeprefix(b"\n"))


def previous(data: bytes | Fault) -> bytes | Fault:
    return data if isinstance(data, Fault) else data.rpartition(_PREVIOUS)[2].lstrip(b"\n")


def words(data: bytes) -> bytes:
    text = data.partition(_PREVIOUS)[0]
    return text[text.find(_WORDS) + 1 :] if _WORDS in text else text


def paragraphs(data: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """Those of a person's words that are about something; nothing when none is."""
    text = words(data).removeprefix(_WORDS.lstrip(b"\n"))
    fitting = [part for part in patterns.split(rb"\n[ \t\r]*\n", text.strip()) if fits(part)]
    return _WORDS + b"\n" + b"\n\n".join(fitting) + b"\n" if fitting else b""


def _without_line_ends(text: bytes) -> bytes:
    return b"\n".join(line.rstrip(b" \t\r") for line in text.split(b"\n"))
