"""What is known of the tests: `reviews/test/round-NN-results.md`, and the failures it names.

Such a page is written when the engine ran them, when somebody reported, and when nobody ran any.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from qrspi.core.code_steps import baseline, gate_records
from qrspi.core.code_steps.baseline import could_not_start
from qrspi.core.code_steps.gate_records import Merge
from qrspi.core.digest import sha256
from qrspi.core.filenames import round_name, round_number
from qrspi.core.hints import Literal, get_args
from qrspi.core.model import StateOfTests, TestState, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import evidence
from qrspi.core.tree import Fault, Tree, entries
from qrspi.core.yaml.writer import quote

FOLDER = "reviews/test"
KNOWN = f"{FOLDER}/baseline-failures.md"
TIMED_OUT = 124
MOST_FAILURES = 200
FIRST_NAMES = 3
NAME_LENGTH = 80

Choice = Literal["pending", "leave", "fix", "known"]
Then = Literal["", "review", "rerun"]
_COLUMNS = ("#", "Failure", "Choice")


class Failure(NamedTuple):
    name: str
    choice: Choice = "pending"


class Results(NamedTuple):
    number: int
    command: str  # as config.md named it then; '' when it named none
    commit: str
    exit: int | None = None  # of the command; None when the engine did not run it
    merges: int = 0  # how many branches were merged by then
    resets: int = 0  # how often the step was sent back by then
    failures: tuple[Failure, ...] = ()
    time: str = ""
    merged: str = ""  # which branches, at which commits; '' in pages of older versions
    reporter: str = ""  # who ran them by hand
    reported: TestState = "not-run"  # what they say
    words: str = ""  # in their words
    then: Then = ""  # what a person wants now: reviewers anyway, or another run
    digest: str = ""  # of the page, where nothing but a report on record can vouch for it

    @property
    def state(self) -> TestState:
        if self.exit is None:
            return self.reported if self.reporter else "not-run"
        if not self.started:
            return "not-run"
        return "failed" if self.exit else "passed"

    @property
    def started(self) -> bool:
        """Whether the shell could run the command. One that names failures has run tests."""
        return not could_not_start(self.exit) or bool(self.failures)

    @property
    def pending(self) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if failure.choice == "pending")

    @property
    def to_fix(self) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if failure.choice == "fix")

    @property
    def new(self) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if failure.choice != "known")

    @property
    def detail(self) -> str:
        """What there is to say besides the state. Why nobody started them is said elsewhere."""
        if self.reporter:
            on = f" on {self.time[:10]}" if self.time else ""
            return f"run by hand, as {person(self.reporter)} reported{on}"
        if not self.started:
            log = log_file(self.number)
            return f"{shown(self.command)} could not be started (exit {self.exit}, see {log})"
        if self.state != "failed":
            return ""
        if self.exit == TIMED_OUT:
            return "they did not end in time"
        return _counted(self)

    def chosen(self, choice: Choice) -> Results:
        first = self.pending[0]
        decided = (one._replace(choice=choice) if one is first else one for one in self.failures)
        return self._replace(failures=tuple(decided))

    @property
    def all_to_fix(self) -> Results:
        decided = (
            one if one.choice == "known" else one._replace(choice="fix") for one in self.failures
        )
        return self._replace(failures=tuple(decided))


def _counted(results: Results) -> str:
    known = len(results.failures) - len(results.new)
    if not results.new:
        return f"{counted(known, 'failure')}, known from before ({_first_names(results.failures)})"
    if [one.name for one in results.new] == [results.command] and not known:
        log = log_file(results.number)
        return f"{shown(results.command)} names no test, exit {results.exit}, see {log}"
    new = counted(len(results.new), "new failure" if known else "failure")
    before = f", {known} known from before" if known else ""
    return f"{new} ({_first_names(results.new)}){before}"


def _first_names(failures: tuple[Failure, ...]) -> str:
    first = [shown(failure.name) for failure in failures[:FIRST_NAMES]]
    return ", ".join((*first, "…") if len(failures) > FIRST_NAMES else first)


def shown(name: str) -> str:
    """A name that somebody gave, made fit for a sentence: one line, short, and no command."""
    line = " ".join(gate_records.printable(name.replace("`", " ")).split())
    return line if len(line) <= NAME_LENGTH else f"{line[:NAME_LENGTH]}…"


def person(who: str) -> str:
    name, _, rest = who.partition(" <")
    called = rest.partition("> as ")[2]
    return shown(f"{name} as {called}" if called else name or who)


def merged(merges: Iterable[Merge]) -> str:
    made = sorted((merge.key, merge.tip[:12]) for merge in merges if merge.result != "conflict")
    return ", ".join(f"{key} {tip}" for key, tip in made)


def results_file(number: int) -> str:
    return f"{FOLDER}/{round_name(number)}-results.md"


def log_file(number: int) -> str:
    return f"{FOLDER}/{round_name(number)}.log"


def render(results: Results, sentence: str) -> bytes:
    lines = [
        f"round: {results.number}",
        f"state: {results.state}",
        f"command: {quote(results.command)}",
        f"commit: {results.commit}",
        *([] if results.exit is None else [f"exit: {results.exit}"]),
        f"merges: {results.merges}",
        *([f"merged: {quote(results.merged)}"] if results.merged else []),
        f"resets: {results.resets}",
        f"time: {quote(results.time)}",
        *([f"reported_by: {quote(results.reporter)}"] if results.reporter else []),
        *([f"then: {results.then}"] if results.then else []),
    ]
    text = gate_records.marked(summary(results, sentence))
    head = "".join(f"{line}\n" for line in ("---", *lines, "---"))
    return f"{head}\n# Test results, round {results.number:02d}\n\n{text}".encode()


def summary(results: Results, sentence: str) -> str:
    rows = [(str(at), one.name, one.choice) for at, one in enumerate(results.failures, start=1)]
    output = "" if results.exit is None else f" Output: {log_file(results.number)}."
    words = gate_records.quoted(results.words)
    listed = gate_records.table(_COLUMNS, rows) if rows else ""
    parts = (f"State: {results.state}", f"{sentence}.{output}", words, listed)
    return "\n\n".join(part for part in parts if part)


def read(tree: Tree, number: int) -> Results | None:
    """None when there is no page, none that can be understood, or one about what the engine saw
    that it did not write; the tests then run again. Choices that no command made do not count."""
    path = results_file(number)
    data = tree.read(path)
    found = _read(data, number)
    if found is None or isinstance(data, Fault) or evidence.is_own_page(tree, path, data):
        return found
    if found.reporter:
        return found._replace(digest=sha256(data).hexdigest(), then="")
    seen = _as_seen(tree, found)
    return seen if evidence.is_own_page(tree, path, render(seen, _sentence(seen))) else None


def _as_seen(tree: Tree, found: Results) -> Results:
    """Before anybody chose anything."""
    before = frozenset(baseline.known_failures(tree))
    names = (one.name for one in found.failures)
    return found._replace(failures=as_found(names, before), then="")


def as_found(names: Iterable[str], before: Container[str]) -> tuple[Failure, ...]:
    return tuple(Failure(name, "known" if name in before else "pending") for name in names)


def _sentence(found: Results) -> str:
    return StateOfTests(found.state, found.detail).sentence


def _read(data: bytes | Fault, number: int) -> Results | None:
    values = gate_records.fields(data)
    status, merges, resets = (values.get(key, "") for key in ("exit", "merges", "resets"))
    if not all(count.isdecimal() and len(count) < 6 for count in (status or "0", merges, resets)):
        return None
    reporter, state = values.get("reported_by", ""), values.get("state", "")
    if not status and state not in (("passed", "failed") if reporter else ("not-run",)):
        return None
    rows = gate_records.rows(data, _COLUMNS)
    return Results(
        number=number,
        command=values.get("command", ""),
        commit=values.get("commit", ""),
        exit=int(status) if status else None,
        merges=int(merges),
        resets=int(resets),
        failures=tuple(_failure(name, choice) for _, name, choice in rows),
        time=values.get("time", ""),
        merged=values.get("merged", ""),
        reporter="" if status else reporter,
        reported=_reported(state) if reporter and not status else "not-run",
        words=gate_records.unquoted(data),
        then=next((word for word in get_args(Then) if word == values.get("then")), ""),
    )


def _reported(state: str) -> TestState:
    return "passed" if state == "passed" else "failed"


def _failure(name: str, choice: str) -> Failure:
    """Older pages say `ship` for a failure that is left unrepaired."""
    word = "leave" if choice == "ship" else choice
    return Failure(name, next((known for known in get_args(Choice) if known == word), "pending"))


def newest(tree: Tree) -> Results | None:
    number = highest(tree)
    return read(tree, number) if number else None


def highest(tree: Tree) -> int:
    ends = "-results.md"
    names = (entry.name for entry in entries(tree, FOLDER) if entry.name.endswith(ends))
    return max((round_number(name.removesuffix(ends)) or 0 for name in names), default=0)


# What test runners of half a dozen languages print at the start of a line about a failed test.
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
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", output)
    names = (next(filter(None, match.groups()), "") for match in _FAILED.finditer(plain))
    named = tuple(dict.fromkeys(" ".join(name.split())[:200] for name in names if name))
    return named[:MOST_FAILURES] or (command,)
