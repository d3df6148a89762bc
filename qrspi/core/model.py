"""The nouns. Records are NamedTuples: frozen, and ten times cheaper to define than a
frozen slotted dataclass, which every cold start of `status` would pay for.

Modules of records that `status` needs do without `from __future__ import annotations`: it makes
texts of the fields' types, and NamedTuple compiles each of them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Status = Literal["approved", "draft", "replan-draft", "missing", "invalid"]
Severity = Literal["low", "medium", "high"]
ChangeType = Literal["style", "clarity", "correctness", "scope", "intent"]
Who = Literal["engine", "agent", "human", "nobody"]
Stage = Literal[
    "none",
    "abandoned",
    "reviewing",
    "guarded",
    "verifying",
    "failed",
    "scored",
    "paused",
    "fixing",
    "committing",
    "closed",
]
Action = Literal[
    "author",
    "prepare-round",
    "review",
    "verify",
    "assemble",
    "apply-fixes",
    "commit-round",
    "decide",
    "approve",
    "dispatch-tasks",
    "replan",
    "done",
    "blocked",
]
Progress = Literal["pending", "in_progress", "completed"]
Verdict = Literal["keep", "drop", "pause", "propose"]

SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high")
CHANGE_TYPES: tuple[ChangeType, ...] = ("style", "clarity", "correctness", "scope", "intent")
SCORED_TYPES: tuple[ChangeType, ...] = ("style", "clarity", "correctness")


class Problem(NamedTuple):
    """Something wrong with content, as a value. `message` is the whole line a person reads."""

    code: str
    message: str
    file: str = ""
    field: str = ""
    found: str = ""
    expected: str = ""
    hint: str = ""
    options: tuple[str, ...] = ()


class Option(NamedTuple):
    """One way out of a menu; `qrspi resolve KEY` takes it."""

    key: str
    label: str


class Finding(NamedTuple):
    tag: str
    number: int
    file: str  # name inside the round directory
    finding_id: str
    severity: Severity
    change_type: ChangeType
    effective_type: ChangeType
    referenced_files: tuple[str, ...]
    message: str
    data: bytes  # the file's bytes, ending in exactly one newline
    actual_model: str = ""

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".md")

    @property
    def name(self) -> str:
        """How people and commands name it: `quality-claude.R3-F02`."""
        return f"{self.tag}.{self.finding_id}"

    @property
    def escalated(self) -> bool:
        return self.effective_type != self.change_type


class Sidecar(NamedTuple):
    file: str
    score: int | None  # None stands for VERIFY_FAILED
    reason: str
    data: bytes
    defect_class: str = ""
    actual_model: str = ""


class Clean(NamedTuple):
    tag: str
    file: str
    data: bytes


class Round(NamedTuple):
    """A round directory, read. `violations` block assembly, `warnings` do not."""

    number: int
    findings: tuple[Finding, ...]  # by tag (bytes), then number
    sidecars: Mapping[str, Sidecar]  # by the finding's stem
    cleans: tuple[Clean, ...]
    expected_tags: tuple[str, ...]
    violations: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    silent_tags: tuple[str, ...] = ()  # expected, and nothing there yet
    unscored: tuple[str, ...] = ()  # stems of findings that need a sidecar and have none
    unfinished: tuple[str, ...] = ()  # files whose last newline must be normalised
    directory: str = ""  # run-relative
    bypasses: tuple[tuple[str, bytes], ...] = ()  # records of forged engine files, to be written


class Triaged(NamedTuple):
    finding: Finding
    score: int | None
    verdict: Verdict
    because: str


class Decision(NamedTuple):
    """What convergence decided about the ref of round `round`."""

    round: int
    narrow: bool
    rule: str
    scope_hint: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()
    consumes_flag: bool = False


class Held(NamedTuple):
    """A finding that waits for a person."""

    name: str
    verdict: Verdict  # pause, or propose when it has no score to judge it by
    severity: Severity
    change_type: ChangeType  # the effective one
    because: str
    cites: tuple[str, ...]
    message: str
    targets: tuple[str, ...] = ()  # steps a loop back could go to, the earliest first


class Next(NamedTuple):
    """The one next action, and why."""

    action: Action
    who: Who
    summary: str
    because: tuple[str, ...]
    step: str = ""
    round: int = 0
    missing: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    command: str = ""
    kind: str = ""  # which menu, for `resolve` and `inbox`: failure, pause, cap, loop, …
    held: tuple[Held, ...] = ()  # at a pause, what is undecided
    auto_applied: int = 0  # at a pause, how many findings need nobody


class StepState(NamedTuple):
    step: str
    artifact: str
    status: Status
    rounds: int = 0
    stage: Stage = "none"
    kept: int | None = None
    dropped: int | None = None
    progress: Progress = "pending"


class RunState(NamedTuple):
    run: str
    path: str
    pipeline: str
    route: tuple[str, ...]
    phase: int
    current_step: str | None
    complete: bool
    steps: tuple[StepState, ...]
    next: Next
    warnings: tuple[Problem, ...] = ()
    errors: tuple[Problem, ...] = ()
    closed: bool = False
