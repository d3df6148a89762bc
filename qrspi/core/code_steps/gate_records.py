"""The records of steps that produce code: what the engine counted, for a person to approve.

The count stands between two marks and is replaced when it changes; what people write around it
stays. A record without marks was written by somebody else, and gets the count at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from qrspi.core.code_steps import implementers
from qrspi.core.code_steps.implementers import FirstTests
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.hints import Literal, get_args
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.decisions import UNRECORDED
from qrspi.core.text.tables import lines_of, tables
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter, writer
from qrspi.core.yaml.writer import quote

BEGIN = "<!-- counted by qrspi: begin -->"
END = "<!-- counted by qrspi: end -->"

Result = Literal["merged", "contained", "conflict"]


class Merge(NamedTuple):
    key: str
    branch: str
    tip: str  # the commit that was merged
    commit: str = ""  # the merge; '' when the feature branch had the tip already
    result: Result = "merged"


def drafted(
    now: bytes | Fault, title: str, block: str, fields: Mapping[str, str | int]
) -> bytes | Problem:
    """A new text with this block, or the old text with this block for its count."""
    if isinstance(now, Fault):
        lines = "".join(f"{key}: {_scalar(value)}\n" for key, value in fields.items())
        front = f"---\n{lines}---\n\n" if lines else ""
        return f"{front}# {title}\n\n{marked(block)}".encode()
    before, begin, rest = now.partition(BEGIN.encode())
    _, end, after = rest.partition(END.encode())
    if begin and end:
        text = before + marked(block).encode().removesuffix(b"\n") + after
    else:
        text = now.rstrip() + b"\n\n" + marked(block).encode()
    for key, value in fields.items():
        changed = writer.set_field(text, key, _scalar(value))
        if isinstance(changed, Problem):
            return changed
        text = changed
    return text


def _scalar(value: str | int) -> str:
    return str(value) if isinstance(value, int) else quote(value)


def marked(block: str) -> str:
    return f"{BEGIN}\n\n{block.strip()}\n\n{END}\n"


def counted(data: bytes | Fault) -> str | None:
    if isinstance(data, Fault):
        return None
    _, begin, rest = data.partition(BEGIN.encode())
    block, end, _ = rest.partition(END.encode())
    return block.decode(errors="replace").strip() if begin and end else None


def fields(data: bytes | Fault) -> dict[str, str]:
    nodes = frontmatter.fields(data)
    texts = {key: frontmatter.text(nodes, key) for key in nodes}
    return {key: text for key, text in texts.items() if text is not None}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = tuple(head)
    lines = [names, tuple("---" for _ in names), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Titles come from agents: each becomes one line and cannot begin another cell."""
    return " ".join(printable(text).split()).replace("|", "\\|")[:300]


def printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def quoted(words: str) -> str:
    """What somebody said, marked so that nothing else on a page looks like it."""
    lines = (printable(line).replace("<!--", "<!-") for line in words.strip().splitlines())
    return "\n".join(f"> {line}".rstrip() for line in lines)


def unquoted(data: bytes | Fault) -> str:
    lines = (counted(data) or "").splitlines()
    return "\n".join(line[1:].removeprefix(" ") for line in lines if line.startswith(">"))


def around(data: bytes | Fault) -> bytes:
    if isinstance(data, Fault):
        return b""
    body = frontmatter.body(data)
    before, begin, rest = body.partition(BEGIN.encode())
    _, end, after = rest.partition(END.encode())
    return b" ".join((before + after if begin and end else body).split())


def implementation(states: Iterable[TaskState]) -> str:
    ended = tuple(states)
    head = ("Task", "Title", "State", "Branch", "Commit", "Rounds")
    decided = [task for task in ended if task.decided]
    claimed = [task for task in ended if not task.decided]
    return (
        table(head, map(_row, ended))
        + _first_tests(ended)
        + outside(ended, "## Outside of what tasks allow")
        + _concerns(ended)
        + _section("Decided by a person", decided)
        + _section(f"Said by outcome files; {UNRECORDED}", claimed)
    )


def _first_tests(tasks: Iterable[TaskState]) -> str:
    first_tests = [(task, implementers.first_tests(task)) for task in tasks if task.reviewed]
    parts = [_seen(task, seen) for task, seen in first_tests if seen]
    return "\n\n".join(["\n\n## Tests before the code", *parts]) if parts else ""


def _seen(task: TaskState, seen: FirstTests) -> str:
    tests = task.tests
    words = tests.text if tests and tests.status == "DONE_WITH_CONCERNS" else ""
    line = f"{task.key}: its tests {implementers.SEEN_BEFORE[seen]}."
    return f"{line}\n\n{quoted(words)}" if words else line


def outside(tasks: Iterable[TaskState], title: str = "") -> str:
    """A list, under a heading; nothing where tasks kept to what they allow."""
    said = [f"- {line}" for line in outside_said(tasks)]
    return "\n".join([f"\n\n{title}\n" if title else "\n", *said]) if said else ""


def outside_care(tasks: Iterable[TaskState]) -> tuple[str, ...]:
    from qrspi.core.steps.read_with_care import BEGIN

    said = outside_said(tasks)
    return (f"{BEGIN} {'; '.join(said)}.",) if said else ()


def outside_said(tasks: Iterable[TaskState]) -> list[str]:
    return [
        f"{task.key} changes {_cell(task.outside.words)}"
        for task in tasks
        if task.reviewed and task.outside.number
    ]


def _concerns(tasks: Iterable[TaskState]) -> str:
    parts = [f"{task.key}:\n\n{quoted(task.concerns)}" for task in tasks if task.concerns]
    return "\n\n".join(["\n\n## Concerns of implementers", *parts]) if parts else ""


def _section(title: str, tasks: Iterable[TaskState]) -> str:
    words = [
        f"- {task.key} ({task.state}): {_cell(task.outcome.reason)}"
        for task in tasks
        if task.outcome
    ]
    return "\n".join([f"\n\n## {title}\n", *words]) if words else ""


def _row(task: TaskState) -> tuple[str, ...]:
    rounds = task.loop.round if task.loop else 0
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
    read = (_merge(cells) for cells in rows(data, MERGES))
    return tuple({merge.key: merge for merge in read if merge}.values())


def rows(data: bytes | Fault, head: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    columns = tuple(name.casefold() for name in head)
    for one in tables(lines_of((counted(data) or "").encode())):
        if one.columns == columns:
            yield from (row.cells for row in one.rows if len(row.cells) == len(head))


def _merge(cells: tuple[str, ...]) -> Merge | None:
    key, branch, tip, commit, result = cells
    known: Result | None = next((one for one in get_args(Result) if one == result), None)
    return Merge(key, branch, tip, "" if commit == "-" else commit, known) if known else None
