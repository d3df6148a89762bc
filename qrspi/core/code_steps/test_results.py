"""What a run of the tests said: `reviews/test/round-NN-results.md`, and the failures it names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.filenames import round_name, round_number
from qrspi.core.steps.facts import entries
from qrspi.core.text.tables import Line, tables
from qrspi.core.tree import Tree
from qrspi.core.yaml.reader import quote

FOLDER = "reviews/test"
KNOWN = f"{FOLDER}/baseline-failures.md"
TIMED_OUT = 124
MOST_FAILURES = 200

Choice = Literal["pending", "ship", "fix", "known"]
_CHOICES: tuple[Choice, ...] = ("pending", "ship", "fix", "known")
_COLUMNS = ("#", "Failure", "Choice")


class Failure(NamedTuple):
    name: str
    choice: Choice = "pending"


class Results(NamedTuple):
    number: int
    command: str
    commit: str
    exit: int
    merges: int = 0  # how many branches were merged by then
    resets: int = 0  # how often the step was sent back by then
    failures: tuple[Failure, ...] = ()
    time: str = ""

    @property
    def passed(self) -> bool:
        return self.exit == 0

    @property
    def pending(self) -> tuple[Failure, ...]:
        return tuple(one for one in self.failures if one.choice == "pending")

    @property
    def to_fix(self) -> tuple[Failure, ...]:
        return tuple(one for one in self.failures if one.choice == "fix")

    @property
    def sentence(self) -> str:
        if self.passed:
            return "The tests passed"
        if self.exit == TIMED_OUT:
            return "The tests did not end in time"
        new = [one for one in self.failures if one.choice != "known"]
        known = len(self.failures) - len(new)
        listed = f"{len(new)} new, {known} known before" if known else f"{len(new)}"
        return f"The tests failed (exit {self.exit}; failures: {listed})"

    def chosen(self, choice: Choice) -> Results:
        """The first failure that nobody has decided about, decided."""
        first = self.pending[0]
        decided = (one._replace(choice=choice) if one is first else one for one in self.failures)
        return self._replace(failures=tuple(decided))


def results_file(number: int) -> str:
    return f"{FOLDER}/{round_name(number)}-results.md"


def log_file(number: int) -> str:
    return f"{FOLDER}/{round_name(number)}.log"


def render(found: Results) -> bytes:
    head = (
        f"---\nround: {found.number}\ncommand: {quote(found.command)}\ncommit: {found.commit}\n"
        f"exit: {found.exit}\nmerges: {found.merges}\nresets: {found.resets}\n"
        f"time: {quote(found.time)}\n---\n"
    )
    text = gaterecords.marked(summary(found))
    return f"{head}\n# Test results, round {found.number:02d}\n\n{text}".encode()


def summary(found: Results) -> str:
    rows = [(str(at), one.name, one.choice) for at, one in enumerate(found.failures, start=1)]
    listed = f"\n\n{gaterecords.table(_COLUMNS, rows)}" if rows else ""
    return f"{found.sentence}. Output: {log_file(found.number)}.{listed}"


def read(tree: Tree, number: int) -> Results | None:
    """None when there is none, or none that can be understood: the tests are then run again."""
    data = tree.read(results_file(number))
    found = gaterecords.fields(data)
    counts = [found.get(key, "") for key in ("exit", "merges", "resets")]
    if not all(count.isdecimal() and len(count) < 6 for count in counts):
        return None
    status, merges, resets = map(int, counts)
    return Results(
        number,
        found.get("command", ""),
        found.get("commit", ""),
        status,
        merges,
        resets,
        failures=tuple(_failures(gaterecords.counted(data) or "")),
        time=found.get("time", ""),
    )


def _failures(block: str) -> Iterable[Failure]:
    lines = block.splitlines()
    for one in tables(map(Line, range(1, len(lines) + 1), lines)):
        if one.columns == tuple(name.casefold() for name in _COLUMNS):
            for row in one.rows:
                if len(row.cells) == len(_COLUMNS):
                    known = (choice for choice in _CHOICES if choice == row.cells[2])
                    yield Failure(row.cells[1], next(known, _CHOICES[0]))


def newest(tree: Tree) -> Results | None:
    number = highest(tree)
    return read(tree, number) if number else None


def highest(tree: Tree) -> int:
    ends = "-results.md"
    names = (entry.name for entry in entries(tree, FOLDER) if entry.name.endswith(ends))
    return max((round_number(name.removesuffix(ends)) or 0 for name in names), default=0)


# What the runners of half a dozen languages say of a test that failed, at the start of a line.
_SAYS_FAILED = (
    r"(?:FAILED|ERROR) ([^\s:]\S*::\S.*?)(?: - .*)?",  # pytest
    r"(?:FAIL|ERROR): (\S+ \(\S+\))",  # unittest
    r"--- FAIL: (\S+)(?: \(.*\))?",  # go
    r"not ok \d+ -? ?([^#]*?)(?: #.*)?",  # TAP, bats, node
    r"test (\S+) \.\.\. FAILED",  # cargo
    r"FAIL[ \t]+(\S+\.\S+)(?: \(.*\))?",  # jest, vitest
)
_FAILED = re.compile(f"(?m)^[ \t]*(?:{'|'.join(_SAYS_FAILED)})[ \t]*\r?$")


def failures(output: str, command: str) -> tuple[str, ...]:
    """The tests that failed, as far as the output names them; else the command itself."""
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", output)
    names = (next(filter(None, match.groups()), "") for match in _FAILED.finditer(plain))
    found = tuple(dict.fromkeys(" ".join(name.split())[:200] for name in names if name))
    return found[:MOST_FAILURES] or (command,)
