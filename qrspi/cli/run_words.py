"""Positional words: RUN comes first and may be left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qrspi.core.errors import Misuse
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEPS, Subject, subject, task_key


def is_subject(word: str) -> bool:
    """A step, `implement-gate` or a task; never taken for a run when it stands first."""
    return subject(word) is not None


def run_and_step(words: Sequence[str], usage: str) -> tuple[str | None, str | None]:
    """`[RUN] [STEP]`."""
    return _two(words, is_subject, usage)


def run_and_task(words: Sequence[str], usage: str) -> tuple[str | None, str | None]:
    """`[RUN] [NN]`."""
    run, task = _two(words, lambda word: task_key(word) is not None, usage)
    return run, task_key(task) if task else None


def run_and(
    words: Sequence[str], known: Sequence[str], usage: str
) -> tuple[str | None, str | None]:
    """`[RUN] [WORD]`, where WORD is one of a closed set."""
    return _two(words, lambda word: word in known, usage)


def _two(
    words: Sequence[str], is_word: Callable[[str], bool], usage: str
) -> tuple[str | None, str | None]:
    match list(words):
        case []:
            return None, None
        case [one]:
            return (None, one) if is_word(one) else (one, None)
        case [run, word]:
            return run, word
        case _:
            raise Misuse(Problem("usage", f"too many words; expected {usage}", hint=usage))


def a_subject(word: str | None, usage: str) -> Subject:
    """The subject a STEP argument names, or a usage error that lists what there is."""
    found = subject(word) if word else None
    if found:
        return found
    known = ", ".join(step.name for step in STEPS)
    text = f"{word!r} is no step" if word else "a STEP is needed"
    raise Misuse(
        Problem(
            "usage",
            f"{text}; expected one of {known}, implement-gate, task-NN",
            field="STEP",
            found=word or "",
            expected=f"{known}, implement-gate, task-NN",
            hint=usage,
        )
    )
