"""May this file be written? Only what breaks the run's order is refused; everything else passes."""

from __future__ import annotations

import re

from qrspi.core.filenames import (
    DISPATCH,
    EngineName,
    Rejected,
    SplitMarker,
    is_own_at_top,
    is_own_review,
    parse_round_file,
    round_number,
)
from qrspi.core.hosts.written_files import RunFile
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CLOSED, MARKER, STEP
from qrspi.core.records import step_text
from qrspi.core.records.approvals import CASCADES, FILE
from qrspi.core.steps.facts import Facts, status_of
from qrspi.core.text.shell_words import command
from qrspi.core.yaml import frontmatter


class Change(NamedTuple):
    """A file of a run before and after; None means no file. `words` are the command line of a
    program whose output nobody has seen."""

    file: RunFile
    before: bytes | None = None
    after: bytes | None = None
    words: str = ""
    is_folder: bool = False
    restored: bool = False  # restored from git
    guessed: bool = False  # it is named beside a write whose own file is not known


# `status: approved` in any syntax that sets a field, and a replacement of draft by approved
_SETS = re.compile(r"status\W{0,12}approved")
_APPROVED = re.compile(r"(?<![A-Za-z])approved\b")  # also behind the 1 of `\1approved`
_REPLACED = re.compile(r"\bdraft\b|status\W{0,6}[\ue000$]")

_RECORDS = (FILE, CASCADES, MARKER, CLOSED)


def refusal(change: Change, facts: Facts | None) -> str | None:
    """Without facts the run cannot be read; then only the engine's files and `status: approved` are
    protected."""
    if change.guessed:
        return _approval(change)
    early = _too_early(change, facts) if facts else None
    return _not_theirs(change) or _approval(change) or early


def _not_theirs(change: Change) -> str | None:
    run, name = change.file.run, change.file.name
    go_on = f"`{command('qrspi', 'next', run)}` says what is to be done."
    if run == ".qrspi":
        return f"docs/qrspi/.qrspi/{name} belongs to the engine: only qrspi commands write it."
    if change.is_folder:
        has_records = name.partition("/")[0] in ("", ".qrspi", "reviews", "phases")
        if change.words or not has_records:
            return None
        shown = f"{run}/{name}" if name else run
        aside = f"`{command('qrspi', 'close', run, '--reason', 'TEXT')}` sets a run aside"
        why = "holds records of the engine, and is not changed as a whole"
        return f"{shown} {why}: name the files that you mean. {aside}."
    if is_engine_owned(name) and not (change.restored and change.before is None):
        return f"{name} belongs to the engine: only qrspi commands write it. {go_on}"
    return None


def _approval(change: Change) -> str | None:
    name = change.file.name
    if not name.endswith(".md") or name.startswith("reviews/") or not _sets_approved(change):
        return None
    step = step_of(name)
    words = ("qrspi", "approve", change.file.run, *([step] if step else []))
    return (
        f"{name}: `status: approved` is set by an approval and not by hand. When its review is "
        f"done, a person runs `{command(*words)}`; until then "
        f"`{command('qrspi', 'next', change.file.run)}` goes on."
    )


def _sets_approved(change: Change) -> bool:
    if change.before is not None and _is_approved(change.before, change.file.name):
        return False
    if change.words:
        words = change.words
        replaces = _APPROVED.search(words) and _REPLACED.search(words)
        return bool(_SETS.search(words) or replaces)
    return change.after is not None and _is_approved(change.after, change.file.name)


def _is_approved(data: bytes, name: str) -> bool:
    return frontmatter.status(data, name)[0] == "approved"


def _too_early(change: Change, facts: Facts) -> str | None:
    step = step_of(change.file.name)
    makes_text = change.words or change.after is not None
    if step is None or step not in facts.route or not makes_text:
        return None
    earlier = facts.route[: facts.route.index(step)]
    first = next((one for one in earlier if status_of(facts, one) != "approved"), None)
    if first is None:
        return None
    artifact = STEP[first].artifact
    return (
        f"{change.file.name} comes after {artifact}, which is not approved yet. "
        f"`{command('qrspi', 'next', change.file.run)}` says what {first} waits for."
    )


def step_of(name: str) -> str | None:
    for step, about in STEP.items():
        if name == about.artifact or step_text.is_companion(step, name):
            return step
    return None


def is_engine_owned(path: str) -> bool:
    """Whether only qrspi commands write this file of a run. Agents write what they hand in, and
    answers to prompts."""
    folder, _, name = path.rpartition("/")
    top = path.partition("/")[0]
    if top == ".qrspi":
        return not (path.startswith(f"{DISPATCH}/") and name.endswith(".reply"))
    if top == "phases" and folder:
        return True
    if not folder:
        return name in _RECORDS or is_own_at_top(name)
    if top != "reviews":
        return False
    if round_number(folder.rpartition("/")[2]):
        return isinstance(parse_round_file(name), EngineName | Rejected | SplitMarker)
    return is_own_review(name)
