"""The records of one task: how it was started, what was reported, how a person ended it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qrspi.core.filenames import WORKTREES, is_safe, slug_of
from qrspi.core.hints import Literal, TypeVar, cast, get_args
from qrspi.core.model import TEST_STATES, Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import branch_names, shortened
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node, Scalar
from qrspi.core.yaml.writer import quote

ReportStatus = Literal["DONE", "DONE_WITH_CONCERNS", "BLOCKED"]
Ending = Literal["accepted-with-issues", "skipped-by-user"]
REPORTS: tuple[ReportStatus, ...] = get_args(ReportStatus)
ENDINGS: tuple[Ending, ...] = get_args(Ending)

_SHOWN = 3  # files
_COMMIT = r"[0-9a-f]{40}|[0-9a-f]{64}"


class Start(NamedTuple):
    branch: str
    base: str  # in words: feature branch tip, task-01 tip, stage-after-W1
    base_commit: str
    worktree: str  # relative to the root of the code repository
    feature_branch: str = ""
    time: str = ""
    built_on: str = ""  # tasks and their reviewed commits: `task-01 SHA, task-02 SHA`
    stays_without: str = ""  # newer commits of them, which the task does not have: it had begun


class Refused(NamedTuple):
    reason: str
    hint: str = ""
    time: str = ""


class Outside(NamedTuple):
    """Changed files that a task does not allow: the first of their names, made fit to be shown."""

    names: tuple[str, ...] = ()
    number: int = 0

    @property
    def words(self) -> str:
        quoted = [f"'{name}'" for name in self.names[:_SHOWN]]
        more = self.number - len(quoted)
        listed = shortened.listed([*quoted, *([f"{more} more"] if more > 0 else [])])
        return f"{counted(self.number, 'file')} outside its allowed_files: {listed}"


class Report(NamedTuple):
    status: ReportStatus
    commit: str  # '' only when blocked
    time: str = ""
    text: str = ""
    seen: str = ""  # of tests before the code, what they did when the engine ran them
    outside: Outside = Outside()  # what it changed besides what the task allows

    @property
    def done(self) -> bool:
        return self.status != "BLOCKED"

    @property
    def is_vacuous(self) -> bool:
        """Of tests before the code: they pass without it, and nobody has said why."""
        return self.status == "DONE" and self.seen == "passed"


class TaskOutcome(NamedTuple):
    ending: Ending
    reason: str
    who: str = ""
    time: str = ""
    named: str = ""  # who they said they are: `as` in the file


class Reopened(NamedTuple):
    commit: str  # what was reported by then: a new one is awaited
    round: int  # its highest round by then: fix cycles count from here
    findings: tuple[str, ...] = ()  # run-relative
    time: str = ""


def folder(key: str) -> str:
    return f"reviews/tasks/{key}"


def start_file(key: str) -> str:
    return f"{folder(key)}/start.md"


def refused_file(key: str) -> str:
    return f"{folder(key)}/not-started.md"


def report_file(key: str) -> str:
    return f"{folder(key)}/report.md"


def tests_file(key: str) -> str:
    return f"{folder(key)}/tests.md"


def outcome_file(key: str) -> str:
    return f"{folder(key)}/outcome.md"


def reopened_file(key: str) -> str:
    return f"{folder(key)}/reopened.md"


def again_file(key: str) -> str:
    """A person has its agent sent again, which reported BLOCKED. Gone when that reports."""
    return f"{folder(key)}/again.md"


def log_file(key: str) -> str:
    return f"{folder(key)}-review.md"


def render_start(key: str, start: Start) -> bytes:
    return _rendered({"task": key, **start._asdict()})


def render_refused(key: str, refused: Refused) -> bytes:
    fields = {"task": key, **refused._asdict()}
    return _rendered(fields, str(fields.pop("reason")))


def render_report(key: str, report: Report) -> bytes:
    fields = {"task": key, **report._asdict()}
    names, number = report.outside
    del fields["outside"]
    beside = {"outside_allowed_files": names, "outside_count": number} if number else {}
    return _rendered({**fields, **beside}, str(fields.pop("text")))


def render_outcome(key: str, outcome: TaskOutcome) -> bytes:
    fields = outcome._asdict()
    reason, named = str(fields.pop("reason")), fields.pop("named")
    head = {"task": key, "outcome": fields.pop("ending"), **fields, "as": named}
    return _rendered(head, reason)


def render_reopened(key: str, reopened: Reopened) -> bytes:
    fields = reopened._asdict()
    findings = "".join(f"- {path}\n" for path in fields.pop("findings"))
    return _rendered({"task": key, **fields}, findings)


def render_again(key: str, reason: str, who: str, time: str) -> bytes:
    return _rendered({"task": key, "who": who, "time": time}, reason)


def _rendered(fields: Mapping[str, object], body: str = "") -> bytes:
    head = "".join(f"{key}: {_scalar(value)}\n" for key, value in fields.items() if value != "")
    text = f"\n{body.strip()}\n" if body.strip() else ""
    return f"---\n{head}---\n{text}".encode()


def _scalar(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_scalar, value))}]"
    return str(value) if isinstance(value, int) else quote(str(value))


def start(tree: Tree, key: str) -> Start | Problem | None:
    page = _page(tree, start_file(key))
    if page is None or isinstance(page, Problem):
        return page
    record = Start(
        branch=page.branch("branch"),
        base=page.text("base"),
        base_commit=page.commit("base_commit"),
        worktree=page.one_of("worktree", places(tree.name, key)),
        feature_branch=page.branch("feature_branch", required=False),
        time=page.optional("time"),
        built_on=page.optional("built_on"),
        stays_without=page.optional("stays_without"),
    )
    return page.fault or record


def commits_of(text: str) -> dict[str, str]:
    """Tasks and commits as a record lists them; anything else is left out."""
    pairs = (part.split() for part in text.split(","))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and re.fullmatch(_COMMIT, pair[1])}


def listed(commits: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {commit}" for key, commit in commits.items())


def refused(tree: Tree, key: str) -> Refused | None:
    """A record that cannot be read stops nothing: the task is tried again."""
    page = _page(tree, refused_file(key))
    if page is None or isinstance(page, Problem) or not page.body:
        return None
    return Refused(page.body, page.optional("hint"), page.optional("time"))


def places(run: str, key: str) -> tuple[str, ...]:
    """Where a task's work tree may lie. A record that names another place is not followed."""
    return tuple(f"{WORKTREES}/{folder}/{key}" for folder in dict.fromkeys((slug_of(run), run)))


def report(tree: Tree, key: str) -> Report | Problem | None:
    return _report(tree, report_file(key))


def tests(tree: Tree, key: str) -> Report | Problem | None:
    return _report(tree, tests_file(key))


def _report(tree: Tree, file: str) -> Report | Problem | None:
    page = _page(tree, file)
    if page is None or isinstance(page, Problem):
        return page
    status = page.one_of("status", REPORTS)
    commit = page.commit("commit") if status != "BLOCKED" else page.optional("commit")
    time, seen = page.optional("time"), page.optional("seen")
    known = seen if seen in TEST_STATES else ""
    return page.fault or Report(status, commit, time, page.body, known, _outside(page))


def _outside(page: _Page) -> Outside:
    count = frontmatter.number(page.fields, "outside_count")
    names = page.fields.get("outside_allowed_files")
    listed = names if isinstance(names, tuple) else ()
    return Outside(tuple(name.text for name in listed if isinstance(name, Scalar)), count)


def outcome(tree: Tree, key: str) -> TaskOutcome | Problem | None:
    page = _page(tree, outcome_file(key))
    if page is None or isinstance(page, Problem):
        return page
    ending = page.one_of("outcome", ENDINGS)
    who, time, named = (page.optional(key) for key in ("who", "time", "as"))
    return page.fault or TaskOutcome(ending, page.body, who, time, named)


def reopened(tree: Tree, key: str) -> Reopened | Problem | None:
    page = _page(tree, reopened_file(key))
    if page is None or isinstance(page, Problem):
        return page
    named = (line.removeprefix("- ") for line in page.body.splitlines() if line.startswith("- "))
    findings = tuple(path for path in named if _is_review(path))
    number = frontmatter.number(page.fields, "round")
    return Reopened(page.optional("commit"), number, findings, page.optional("time"))


def _is_review(path: str) -> bool:
    """Whether a line of a record consists of the name of a file in the run's reviews."""
    return path.startswith("reviews/") and all(
        is_safe(part) and part.strip(".") for part in path.split("/")
    )


T = TypeVar("T", bound=str)


class _Page:
    """One record's fields. The first that is wrong becomes its fault."""

    def __init__(self, file: str, fields: Mapping[str, Node], body: str) -> None:
        self.file = file
        self.fields = fields
        self.body = body
        self.fault: Problem | None = None

    def optional(self, key: str) -> str:
        return frontmatter.text(self.fields, key) or ""

    def text(self, key: str) -> str:
        value = self.optional(key)
        if not value:
            self._blame(key, "missing", "a text")
        return value

    def branch(self, key: str, *, required: bool = True) -> str:
        value = self.text(key) if required else self.optional(key)
        if why := branch_names.unsafe(value):
            self._blame(key, f"a name with {why}", "the name of a branch")
        return value

    def commit(self, key: str) -> str:
        value = self.optional(key)
        if not re.fullmatch(_COMMIT, value):
            self._blame(key, value or "missing", "a whole commit id")
        return value

    def one_of(self, key: str, known: tuple[T, ...]) -> T:
        value = self.optional(key)
        if value not in known:
            self._blame(key, value or "missing", ", ".join(known))
        return cast(T, value)

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
        found = data.reason
        return Problem("unreadable", f"{file} cannot be read: {found}", file, found=found)
    front = frontmatter.read(data, file)
    if isinstance(front, Problem):
        return front
    fields = front.fields if front else {}
    return _Page(file, fields, frontmatter.body(data).decode(errors="replace").strip())
