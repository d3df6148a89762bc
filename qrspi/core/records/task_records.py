"""The records of one task: how it was started, what was reported of it, how a person ended it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeVar, cast, get_args

from qrspi.core.model import Problem
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.nodes import Node
from qrspi.core.yaml.reader import quote

ReportStatus = Literal["DONE", "DONE_WITH_CONCERNS", "BLOCKED"]
Ending = Literal["accepted-with-issues", "skipped-by-user"]
REPORTS: tuple[ReportStatus, ...] = get_args(ReportStatus)
ENDINGS: tuple[Ending, ...] = get_args(Ending)

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Start(NamedTuple):
    """Where a task's work happens and what it began with."""

    branch: str
    base: str  # as the plan says it: feature branch tip, task-01 tip, stage-after-W1
    base_commit: str
    worktree: str  # relative to the root of the code repository
    feature_branch: str = ""
    time: str = ""


class Report(NamedTuple):
    """An implementer's word."""

    status: ReportStatus
    commit: str  # '' only when blocked
    time: str = ""
    text: str = ""

    @property
    def done(self) -> bool:
        return self.status != "BLOCKED"


class Outcome(NamedTuple):
    """What a person decided about a task that did not end clean."""

    ending: Ending
    reason: str
    who: str = ""
    time: str = ""


class Reopened(NamedTuple):
    """A person sent a finished task back to its implementer."""

    commit: str  # what was reported by then: a new one is awaited
    round: int  # its highest round by then: fix cycles count from here
    findings: tuple[str, ...] = ()  # run-relative
    time: str = ""


def folder(key: str) -> str:
    return f"reviews/tasks/{key}"


def start_file(key: str) -> str:
    return f"{folder(key)}/start.md"


def report_file(key: str) -> str:
    return f"{folder(key)}/report.md"


def outcome_file(key: str) -> str:
    return f"{folder(key)}/outcome.md"


def reopened_file(key: str) -> str:
    return f"{folder(key)}/reopened.md"


def log_file(key: str) -> str:
    """Prompts and answers of the task's rounds, word for word."""
    return f"{folder(key)}-review.md"


def render_start(key: str, start: Start) -> bytes:
    return _rendered({"task": key, **start._asdict()})


def render_report(key: str, report: Report) -> bytes:
    fields = {"task": key, **report._asdict()}
    return _rendered(fields, str(fields.pop("text")))


def render_outcome(key: str, outcome: Outcome) -> bytes:
    fields = outcome._asdict()
    reason = str(fields.pop("reason"))
    return _rendered({"task": key, "outcome": fields.pop("ending"), **fields}, reason)


def render_reopened(key: str, reopened: Reopened) -> bytes:
    fields = reopened._asdict()
    findings = "".join(f"- {path}\n" for path in fields.pop("findings"))
    return _rendered({"task": key, **fields}, findings)


def _rendered(fields: Mapping[str, object], body: str = "") -> bytes:
    head = "".join(f"{key}: {_scalar(value)}\n" for key, value in fields.items() if value != "")
    text = f"\n{body.strip()}\n" if body.strip() else ""
    return f"---\n{head}---\n{text}".encode()


def _scalar(value: object) -> str:
    return str(value) if isinstance(value, int) else quote(str(value))


def start(tree: Tree, key: str) -> Start | Problem | None:
    page = _page(tree, start_file(key))
    if page is None or isinstance(page, Problem):
        return page
    found = Start(
        page.text("branch"),
        page.text("base"),
        page.commit("base_commit"),
        page.text("worktree"),
        page.optional("feature_branch"),
        page.optional("time"),
    )
    return page.fault or found


def report(tree: Tree, key: str) -> Report | Problem | None:
    page = _page(tree, report_file(key))
    if page is None or isinstance(page, Problem):
        return page
    status = page.one_of("status", REPORTS)
    commit = page.commit("commit") if status != "BLOCKED" else page.optional("commit")
    return page.fault or Report(status, commit, page.optional("time"), page.body)


def outcome(tree: Tree, key: str) -> Outcome | Problem | None:
    page = _page(tree, outcome_file(key))
    if page is None or isinstance(page, Problem):
        return page
    ending = page.one_of("outcome", ENDINGS)
    found = Outcome(ending, page.body, page.optional("who"), page.optional("time"))
    return page.fault or found


def reopened(tree: Tree, key: str) -> Reopened | Problem | None:
    page = _page(tree, reopened_file(key))
    if page is None or isinstance(page, Problem):
        return page
    number = page.optional("round")
    findings = tuple(
        line.removeprefix("- ") for line in page.body.splitlines() if line.startswith("- ")
    )
    found = Reopened(
        page.optional("commit"),
        int(number) if number.isdecimal() and len(number) < 6 else 0,
        findings,
        page.optional("time"),
    )
    return page.fault or found


T = TypeVar("T", bound=str)


class _Page:
    """One record's fields; the first that is not as written remembers why."""

    def __init__(self, file: str, fields: Mapping[str, Node], body: str) -> None:
        self.file = file
        self.fields = fields
        self.body = body
        self.fault: Problem | None = None

    def optional(self, key: str) -> str:
        return frontmatter.text(self.fields, key) or ""

    def text(self, key: str) -> str:
        found = self.optional(key)
        if not found:
            self._blame(key, "missing", "a text")
        return found

    def commit(self, key: str) -> str:
        found = self.optional(key)
        if not _COMMIT.fullmatch(found):
            self._blame(key, found or "missing", "a whole commit id")
        return found

    def one_of(self, key: str, known: tuple[T, ...]) -> T:
        found = self.optional(key)
        if found not in known:
            self._blame(key, found or "missing", ", ".join(known))
        return cast(T, found)

    def _blame(self, key: str, found: str, expected: str) -> None:
        text = f"{self.file}: {key} is {found}; expected {expected}"
        hint = "restore the file from git, or remove it and give the command again"
        problem = Problem("bad-record", text, self.file, key, found, expected, hint)
        self.fault = self.fault or problem


def _page(tree: Tree, file: str) -> _Page | Problem | None:
    data = tree.read(file)
    if isinstance(data, Fault):
        if data.kind == "absent":
            return None
        found = data.detail or data.kind
        return Problem("unreadable", f"{file} cannot be read: {found}", file, found=found)
    front = frontmatter.read(data, file)
    if isinstance(front, Problem):
        return front
    fields = front.fields if isinstance(front, Front) else {}
    return _Page(file, fields, frontmatter.body(data, file).decode(errors="replace").strip())
