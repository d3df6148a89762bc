"""The baseline: whether the tests passed before any work on the code, and what a person chose."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.hints import Literal, cast, get_args
from qrspi.core.model import Option, TestState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import evidence
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.writer import quote

FILE = "reviews/baseline.md"
LOG = "reviews/baseline.log"
FAILURES = "reviews/baseline-failures.md"

Choice = Literal["pending", "auto-fix", "proceed"]
OPTIONS = (
    Option("auto-fix", "a task that repairs the tests comes first, all others start from it"),
    Option("proceed", "go on; what fails now is remembered as known"),
    Option("stop", "leave everything as it is"),
)
UNKNOWN = (Option("proceed", "go on without knowing whether they pass"), OPTIONS[2])


class Baseline(NamedTuple):
    commit: str
    command: str
    exit: int  # 124 when it ran out of time
    choice: Choice = "pending"  # unimportant when the tests passed
    time: str = ""
    failures: tuple[str, ...] = ()

    @property
    def state(self) -> TestState:
        if could_not_start(self.exit) and not self.failures:
            return "not-run"
        return "failed" if self.exit else "passed"

    @property
    def sentence(self) -> str:
        if self.state == "not-run":
            return f"were not run: `{self.command}` could not be started (exit {self.exit})"
        return "passed" if self.state == "passed" else f"failed (exit {self.exit})"


def could_not_start(status: int | None) -> bool:
    return status in (126, 127)  # a shell cannot run, or cannot find, the command


def render(taken: Baseline) -> bytes:
    head = (
        f"---\ncommit: {taken.commit}\ncommand: {quote(taken.command)}\nexit: {taken.exit}\n"
        f"choice: {taken.choice}\ntime: {quote(taken.time)}\n---\n"
    )
    sentence = f"Before the first task the tests {taken.sentence}; output in {LOG}."
    text = f"\n# Baseline\n\n{sentence}\n"
    return (head + text + listed(taken.failures)).encode()


def listed(failures: Sequence[str]) -> str:
    return "".join(("\n## Failures\n\n", *(f"- {name}\n" for name in failures))) if failures else ""


def read(tree: Tree) -> Baseline | None:
    """None when there is none that can be understood and is the engine's; it is taken again. A
    choice that no command made does not count."""
    data = tree.read(FILE)
    fields = frontmatter.fields(data)
    texts = {key: frontmatter.text(fields, key) or "" for key in ("commit", "command", "time")}
    status, choice = (frontmatter.text(fields, key) or "" for key in ("exit", "choice"))
    if isinstance(data, Fault) or choice not in get_args(Choice):
        return None
    if not status.isdecimal() or len(status) > 3:
        return None
    found = Baseline(**texts, exit=int(status), choice=cast(Choice, choice), failures=names(data))
    if evidence.is_own_page(tree, FILE, data):
        return found
    seen = found._replace(choice="pending")
    return seen if evidence.is_own_page(tree, FILE, render(seen)) else None


def names(data: bytes) -> tuple[str, ...]:
    _, _, below = data.decode(errors="replace").partition("\n## Failures\n")
    return tuple(line.removeprefix("- ") for line in below.splitlines() if line.startswith("- "))


def known_failures(tree: Tree) -> tuple[str, ...]:
    """The failures that a person accepted before the first task."""
    data = tree.read(FAILURES)
    own = evidence.is_own_page(tree, FAILURES, data)
    return names(data) if own and not isinstance(data, Fault) else ()


def is_repaired(tree: Tree) -> bool:
    baseline = read(tree)
    return baseline is not None and baseline.choice == "auto-fix"
