"""The words after a verb: RUN comes first and may be left out, then the subject of the verb."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from qrspi.core.errors import Misuse
from qrspi.core.filenames import task_key
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem, RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, STEPS, Subject, subject
from qrspi.world.runs.committed_tree import CommittedTree

if TYPE_CHECKING:
    from typing import BinaryIO

    from qrspi.cli.session import Session
    from qrspi.world.runs.workspace import Workspace


def run_and_step(words: Sequence[str], usage: str) -> tuple[str | None, str | None]:
    """`[RUN] [STEP]`."""
    return run_and(words, is_subject, usage)


def is_subject(word: str) -> bool:
    """A step, `implement-gate` or a task; never taken for a run when it stands first."""
    return subject(word) is not None


def run_and(
    words: Sequence[str], is_word: Callable[[str], bool], usage: str
) -> tuple[str | None, str | None]:
    """`[RUN] [WORD]`, where `is_word` tells a lone WORD from a RUN."""
    match list(words):
        case []:
            return None, None
        case [one]:
            return (None, one) if is_word(one) else (one, None)
        case [run, word]:
            return run, word
        case _:
            text, found = f"too many words; expected {usage}", " ".join(words[2:])
            raise misuse(text, found=found, expected=usage, hint=usage)


def run_and_name(words: Sequence[str], usage: str) -> tuple[str | None, str]:
    """`[RUN] NAME`, where any word can be a name."""
    match list(words):
        case [name]:
            return None, name
        case [run, name]:
            return run, name
        case _:
            import click  # no plain form comes here

            raise click.UsageError(f"expected {usage}")


def run_and_tasks(words: Sequence[str], usage: str) -> tuple[str | None, tuple[str, ...]]:
    """`[RUN] [TASK…]`."""
    first, rest = (words[0], words[1:]) if words else (None, ())
    if first is not None and _task(first):
        first, rest = None, words
    for word in rest:
        if not _task(word):
            text = f"{word!r} is not a task; expected task-NN, NN or the name of a repair"
            raise misuse(text, field="TASK", found=word, expected="task-NN", hint=usage)
    return first, tuple(filter(None, map(_task, rest)))


def run_and_task(words: Sequence[str], usage: str) -> tuple[str | None, str]:
    """`[RUN] TASK`."""
    run, keys = run_and_tasks(words, usage)
    if len(keys) == 1:
        return run, keys[0]
    text, found = f"expected one task: {usage}", ", ".join(keys)
    raise misuse(text, field="TASK", found=found, expected="one task", hint=usage)


def _task(word: str) -> str | None:
    named = subject(word)
    return named.key if named and named.is_task else task_key(word)


def a_step(word: str | None, usage: str, run: Workspace | None = None) -> str | None:
    """A STEP that has an artifact; None when none was given. Whoever mistyped a step of a `run` is
    told of the steps of its route."""
    if word is None or word in STEP:
        return word
    route = _route(run) if run else ()
    known = ", ".join(step for step in STEP if not route or step in route)
    what = "a step of this run" if route else "a step with an artifact of its own"
    text = f"{word!r} is not {what}; expected one of {known}{_meant(word)}"
    raise misuse(text, field="STEP", found=word, expected=known, hint=usage)


def _route(run: Workspace) -> tuple[str, ...]:
    from qrspi.core.config import reader as configs
    from qrspi.core.tree import CONFIG_LIMIT

    return configs.read(run.read("config.md", CONFIG_LIMIT)).route or ()


def a_subject(word: str | None, usage: str) -> Subject:
    if named := subject(word) if word else None:
        return named
    known = f"{', '.join(step.name for step in STEPS)}, implement-gate, task-NN"
    text = f"{word!r} is not a step" if word else "a STEP is needed"
    text = f"{text}; expected one of {known}{_meant(word)}"
    raise misuse(text, field="STEP", found=word or "", expected=known, hint=usage)


def _meant(word: str | None) -> str:
    from qrspi.core.findings.near_names import meant

    return meant(word, STEP) if word else ""


class Place(NamedTuple):
    run: str
    workspace: Workspace
    subject: Subject

    @property
    def step(self) -> str:
        return self.subject.key


def place(session: Session, words: Sequence[str], usage: str, dry_run: bool = False) -> Place:
    run, step = run_and_step(words, usage)
    target = a_subject(step or run, usage)  # a lone word is a step, if only a mistyped one
    run_dir = session.run_for(run, step)
    return Place(run_dir.name, workspace(run_dir.path, dry_run), target)


def current_place(
    session: Session, words: Sequence[str], usage: str, dry_run: bool = False
) -> Place:
    tree, target = current_subject(session, words, usage)
    return Place(tree.name, workspace(tree.path, dry_run), target)


def current_subject(
    session: Session, words: Sequence[str], usage: str, *, finished: bool = False
) -> tuple[CommittedTree, Subject]:
    """`[RUN] [STEP]`: without STEP the run's current step; of a run that is finished its last, if
    that can be meant."""
    from qrspi.core.derivation.derive import derive

    run, step = run_and_step(words, usage)
    tree = CommittedTree(session.run_for(run, step).path)
    if step is None:
        state = derive(tree, steps=False)
        step = state.next.step or _last(derive(tree), usage, finished)
    return tree, a_subject(step, usage)


def _last(state: RunState, usage: str, finished: bool) -> str:
    if finished and state.complete and state.steps:
        return state.steps[-1].step
    known = ", ".join(one.step for one in state.steps)
    text = f"{state.run} is at no step now; name one of {known}"
    raise misuse(text, field="STEP", expected=known, hint=usage.replace("[STEP]", "STEP"))


def workspace(path: str, dry_run: bool) -> Workspace:
    """To change a run, or with --dry-run to see what would change."""
    if not dry_run:
        from qrspi.world.runs.workspace import Workspace

        return Workspace(path)
    from qrspi.world.runs.dry_run import DryRunWorkspace

    return DryRunWorkspace(path)


def reason_to_ship(failing: bool, reason: str, usage: str) -> str:
    """Why something is shipped that did not pass; the flag and the reason need each other."""
    words = reason.strip()
    if failing and not words:
        text = "--failing needs a reason: -m REASON"
        raise misuse(text, field="-m", expected="a reason", hint=f"{usage} --failing -m REASON")
    if words and not failing:
        text = "-m gives the reason for --failing: add --failing, or leave out -m"
        raise misuse(text, field="--failing", hint=f"{usage} --failing -m REASON")
    return words


def reason_of(message: str | None, file: BinaryIO | None, usage: str) -> bytes:
    """What a person says with -m or -F. As bytes: it is kept as it is, whatever its encoding."""
    if message is not None and file is None:
        return os.fsencode(message)
    if file is not None and message is None:
        from qrspi.core.records import feedback

        return file.read(feedback.LIMIT + 1)
    text = "say what is wrong with it, with either -m or -F"
    raise misuse(text, field="-m", hint=usage)


def misuse(text: str, *, hint: str, field: str = "", found: str = "", expected: str = "") -> Misuse:
    return Misuse(Problem("usage", text, "", field, found, expected, hint))
