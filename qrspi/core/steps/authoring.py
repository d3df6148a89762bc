"""When a step's text must be written, and by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qrspi.core.filenames import feedback_file
from qrspi.core.model import Next
from qrspi.core.pipeline import STEP, prerequisites, subject
from qrspi.core.records import approvals, feedback
from qrspi.core.records import step_text as bodies
from qrspi.core.steps import skeleton
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.artifacts.open_questions import Inquiry


def needed(facts: Facts) -> tuple[str, ...]:
    """Why somebody must write the artifact; empty when the text can be reviewed."""
    artifact = STEP[facts.step].artifact
    if facts.statuses.get(facts.step) == "missing":
        return (f"{artifact} does not exist",)
    data = facts.tree.read(artifact)
    if isinstance(data, Fault):
        return ()
    if facts.step == "goals" and _same_text(data, skeleton.GOALS.encode()):
        return (f"{artifact} is still the empty draft that init wrote",)
    if path := _rejected_as_is(facts, data):
        return (f"{artifact} is still the text that {path} rejects",)
    entry = approvals.newest(facts.records, facts.step)
    returned = entry is not None and entry.event in ("rewind", "phase")
    if entry and returned and entry.body_hash == _hash(facts):
        return (f"{artifact} was returned to draft and has not changed since",)
    return ()


def _hash(facts: Facts) -> str:
    about = subject(facts.step)
    assert about is not None
    return bodies.body_hash(facts.tree, about)


def _same_text(one: bytes, other: bytes) -> bool:
    return frontmatter.text_of(one) == frontmatter.text_of(other)


def newest_feedback(tree: Tree, step: str) -> str:
    """The path of the step's newest feedback; '' when there is none."""
    number = feedback.newest(tree, step)
    return feedback_file(step, number) if number else ""


def _rejected_as_is(facts: Facts, artifact: bytes) -> str:
    """The newest feedback, when the artifact is the very text it quotes as rejected."""
    if "feedback" not in facts.names:
        return ""
    path = newest_feedback(facts.tree, facts.step)
    data = facts.tree.read(path) if path else Fault("absent")
    return path if not isinstance(data, Fault) and feedback.quotes(data, artifact) else ""


def asked(facts: Facts, why: tuple[str, ...]) -> Next:
    if facts.step == "research":
        # Only a run at its research pays for reading questions.
        from qrspi.core.artifacts.open_questions import inquiry

        found = inquiry(facts.tree, facts.config)
        if found.open:
            return _answers(facts, why, found)
        why += found.not_dispatched
    artifact = STEP[facts.step].artifact
    inputs = [STEP[need].artifact for need in prerequisites(facts.step, facts.route)]
    if "feedback" in facts.names and (path := newest_feedback(facts.tree, facts.step)):
        inputs.append(path)
    return Next(
        "author",
        "human" if facts.step == "goals" else "agent",
        f"Write {artifact}, then run `qrspi next {facts.run}`.",
        why,
        step=facts.step,
        inputs=tuple(inputs),
        prompts=(f".qrspi/dispatch/{facts.step}/author.md",),
        command=f"qrspi next {facts.run}",
        kind="author",
    )


def _answers(facts: Facts, why: tuple[str, ...], found: Inquiry) -> Next:
    """One author for each question; the summary is written when all have answered."""
    files = tuple(question.file for question in found.open)
    count = f"{len(files)} question{'s' if len(files) > 1 else ''}"
    return Next(
        "author",
        "agent",
        f"Answer {count} of questions.md, each in a file of its own ({', '.join(files)}), "
        f"then run `qrspi next {facts.run}`.",
        (*why, f"{count} have no answer yet", *found.not_dispatched),
        step=facts.step,
        missing=files,
        inputs=("questions.md",),
        prompts=tuple(f".qrspi/dispatch/research/{question.name}.md" for question in found.open),
        command=f"qrspi next {facts.run}",
        kind="author",
    )
