"""The records of steps that produce code: what the engine counted, for a person to approve.

What was counted stands between two marks and is replaced when the count changes; what people
write around it stays. In a record without marks, which somebody else wrote, it is added at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.model import Problem
from qrspi.core.text.tables import Line, tables
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.reader import quote

BEGIN = "<!-- counted by qrspi: begin -->"
END = "<!-- counted by qrspi: end -->"

Result = Literal["merged", "contained", "conflict"]


class Merge(NamedTuple):
    """A task branch on its way into the feature branch."""

    key: str
    branch: str
    tip: str  # the commit that was merged
    commit: str = ""  # the merge; '' when the feature branch had the tip already
    result: Result = "merged"


def drafted(
    now: bytes | Fault, title: str, block: str, fields: Mapping[str, str | int]
) -> bytes | Problem:
    """The text with this block in it: a new one, or the old one around the new count."""
    if isinstance(now, Fault):
        lines = "".join(f"{key}: {_scalar(value)}\n" for key, value in fields.items())
        front = f"---\n{lines}---\n\n" if lines else ""
        return f"{front}# {title}\n\n{marked(block)}".encode()
    text = now
    before, begin, rest = now.partition(BEGIN.encode())
    _, end, after = rest.partition(END.encode())
    if begin and end:
        text = before + marked(block).encode().removesuffix(b"\n") + after
    else:
        text = now.rstrip() + b"\n\n" + marked(block).encode()
    for key, value in fields.items():
        changed = frontmatter.set_field(text, key, _scalar(value))
        if isinstance(changed, Problem):
            return changed
        text = changed
    return text


def _scalar(value: str | int) -> str:
    return str(value) if isinstance(value, int) else quote(value)


def marked(block: str) -> str:
    return f"{BEGIN}\n\n{block.strip()}\n\n{END}\n"


def counted(data: bytes | Fault) -> str | None:
    """What stands between the marks; None when there are none."""
    if isinstance(data, Fault):
        return None
    _, begin, rest = data.partition(BEGIN.encode())
    block, end, _ = rest.partition(END.encode())
    return block.decode(errors="replace").strip() if begin and end else None


def fields(data: bytes | Fault) -> dict[str, str]:
    """The scalars of a record's frontmatter."""
    front = None if isinstance(data, Fault) else frontmatter.read(data)
    if not isinstance(front, Front):
        return {}
    texts = {key: frontmatter.text(front.fields, key) for key in front.fields}
    return {key: text for key, text in texts.items() if text is not None}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = tuple(head)
    lines = [names, tuple("---" for _ in names), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Titles come from agents: one line, and no cell of their own."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(shown.split()).replace("|", "\\|")[:300]


def implementation(states: Iterable[TaskState]) -> str:
    done = tuple(states)
    rows = [_row(task) for task in done]
    head = ("Task", "Title", "State", "Branch", "Commit", "Rounds")
    words = [
        f"- {task.key} ({task.state}): {_cell(task.outcome.reason)}"
        for task in done
        if task.outcome
    ]
    issues = "\n".join(["\n\n## Decided by a person\n", *words]) if words else ""
    return table(head, rows) + issues


def _row(task: TaskState) -> tuple[str, ...]:
    rounds = task.loop.number if task.loop else 0
    return (
        task.key,
        task.item.title,
        task.state,
        task.start.branch if task.start else "-",
        task.commit[:12] or "-",
        str(rounds) if rounds else "-",
    )


MERGES = ("Task", "Branch", "Tip", "Merge", "Result")


def merges_block(merges: Iterable[Merge]) -> str:
    rows = [(one.key, one.branch, one.tip, one.commit or "-", one.result) for one in merges]
    return "## Merges\n\n" + (table(MERGES, rows) if rows else "Nothing was to be merged.")


def merges(data: bytes | Fault) -> tuple[Merge, ...]:
    """The merges that a record lists, one row for each task: the newest."""
    lines = (counted(data) or "").splitlines()
    found: dict[str, Merge] = {}
    for one in tables(map(Line, range(1, len(lines) + 1), lines)):
        if one.columns == tuple(name.casefold() for name in MERGES):
            for row in one.rows:
                merge = _merge(row.cells)
                if merge:
                    found[merge.key] = merge
    return tuple(found.values())


def _merge(cells: tuple[str, ...]) -> Merge | None:
    if len(cells) != len(MERGES):
        return None
    key, branch, tip, commit, result = cells
    for known in ("merged", "contained", "conflict"):
        if result == known:
            return Merge(key, branch, tip, "" if commit == "-" else commit, known)
    return None
