"""The nouns. Records are named tuples: frozen, and far cheaper to define than a frozen slotted
dataclass, which every cold start of `status` would pay for. There are no future annotations here:
`derivation.state_values` builds records by the types of their fields, which would be texts then."""

from collections.abc import Mapping

from qrspi.core.hints import TYPE_CHECKING, Literal, assert_never
from qrspi.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qrspi.core.codes import Code as Code
else:
    Code = str  # only mypy needs the list

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
# What exactly is next: its handler, its menu, or whom it waits for. See also `Next.action`.
NextKind = Literal[
    "",  # the action says it all
    # The engine goes on.
    "assemble-task",
    "rerun-reviews",
    "settle-task",
    "settle-repairs",
    "write-repairs",
    "write-acceptance",
    "checkpoint-rows",
    "start-tasks",
    "merge",
    "ci",
    "run-tests",
    "draft-test-results",
    "draft-implementation",
    "draft-pull-request",
    "cascade",
    "escape",
    "audit",
    "archive-phase",
    "replan-major",
    # An agent writes.
    "author",
    "fix",
    "fix-files",  # a person may have it made again
    "review",  # a person may go on without it
    "verify",  # the same here
    "implement",
    "replan-edit",
    # A person decides.
    "approve",
    "pause",
    "failure",
    "loop",
    "loop-again",
    "cap",
    "imported-round",
    "task",
    "checkpoint-task",  # an agent may, too
    "checkpoint-cap",
    "baseline",
    "batch",
    "test",
    "test-failure",
    "test-rejected",
    "test-command",
    "onto",
    "trust",
    "replan",
    "quality",
    "audit-rejected",
    # A person puts something right.
    "config",
    "records",
    "prerequisite",
    "precondition",
    "invalid",
    "plan",
    "wireframes",
    "plan-tasks",
    "isolation",
    "form",  # whoever wrote the text writes it again
    "dispositions",
]
AskKind = Literal["review", "verify", "fix", "author", "research-question", "implement", "quality"]
Progress = Literal["pending", "in_progress", "completed"]
TestState = Literal["passed", "failed", "not-run"]
TEST_STATES: tuple[TestState, ...] = ("passed", "failed", "not-run")
Verdict = Literal["keep", "drop", "pause", "propose"]

SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high")
CHANGE_TYPES: tuple[ChangeType, ...] = ("style", "clarity", "correctness", "scope", "intent")
SCORED_TYPES: tuple[ChangeType, ...] = ("style", "clarity", "correctness")
TESTS = "tests"  # the target of an Ask


class Problem(NamedTuple):
    """Something wrong with content, as a value. `message` is the whole line a person reads."""

    code: Code
    message: str
    file: str = ""
    field: str = ""
    found: str = ""
    expected: str = ""
    hint: str = ""
    options: tuple[str, ...] = ()


class Option(NamedTuple):
    key: str
    label: str
    command: str = ""  # what takes it; words in capitals stand for what a person says


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
    score: int | None  # None means VERIFY_FAILED
    reason: str
    data: bytes
    defect_class: str = ""
    actual_model: str = ""  # of the agent that wrote the finding
    verified_by: str = ""  # the model that gave the score


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
    unfinished: tuple[str, ...] = ()  # files that do not end in exactly one newline
    directory: str = ""  # run-relative
    bypasses: tuple[tuple[str, bytes], ...] = ()  # records of forged engine files, to be written
    blocking: tuple[Problem, ...] = ()  # the violations, and what is missing
    splits: tuple[str, ...] = ()  # tags whose reply is being split, or whose split was cut off


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


class HeldFinding(NamedTuple):
    """A finding that waits for a person."""

    name: str
    verdict: Verdict  # pause; or propose, where the round goes on without scores
    severity: Severity
    change_type: ChangeType  # the effective one
    because: str
    cites: tuple[str, ...]
    message: str
    targets: tuple[str, ...] = ()  # steps a loop back could go to, the earliest first


class Unseen(NamedTuple):  # a changed file that not every reviewer can read whole
    path: str  # from the top of the repository; '' for the last of very many: the others' number
    size: int
    sha256: str  # both of the file as it is now; '' when it is deleted
    commit: str = ""  # of a submodule
    cut: int = 0  # bytes of its change for which a prompt has no room


class Ask(NamedTuple):
    """What one agent is asked for. `filenames.prompt_file` says where its prompt lies."""

    kind: AskKind
    subject: str  # a step, implement-gate, a task or a repair
    round: int = 0  # of reviews; for `implement`, which time an implementer is sent
    target: str = ""  # the reviewer's tag, the stem of the finding, the question, or the task;
    # for `implement`, TESTS when tests alone are to be written

    @property
    def name(self) -> str:
        match self.kind:
            case "review" | "research-question" | "quality":
                return self.target
            case "verify":
                return f"verify-{self.target}"
            case "fix":
                return "fixer"
            case "author":
                return "author"
            case "implement":  # all tasks together have no two of the same name
                who = "test-writer" if self.target == TESTS else "implementer"
                return f"{who}-{self.subject.replace('/', '-')}"
            case _:
                assert_never(self.kind)

    @property
    def label(self) -> str:
        """How people and commands name it. Every task has reviewers of the same names."""
        of_task = "/" in self.subject or self.subject.startswith("task-")
        if of_task and self.kind in ("review", "verify"):
            return f"{self.subject}/{self.name}"
        return self.subject if self.kind == "implement" else self.name


class Next(NamedTuple):
    action: Action
    who: Who
    summary: str
    because: tuple[str, ...]
    step: str = ""
    round: int = 0
    missing: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    asks: tuple[Ask, ...] = ()
    beside: tuple[Ask, ...] = ()  # agents for other tasks, who may be sent at the same time
    options: tuple[Option, ...] = ()
    command: str = ""
    kind: NextKind = ""
    held: tuple[HeldFinding, ...] = ()  # at a pause, what is undecided
    to_apply: int = 0  # at a pause: findings that need no decision and wait for the others
    care: tuple[str, ...] = ()  # at a gate: what the person should read with care

    @property
    def runnable(self) -> str:
        """The command, unless a person must first decide, write a text, or fill in a word."""
        chooses = self.command in (one.command for one in self.options)
        writes = self.kind == "author" and "--dispatch" not in self.command
        asks = self.who == "human" and (chooses or writes)
        return "" if asks or _PLACES.intersection(self.command.split()) else self.command

    @property
    def onward(self) -> str:
        """The command, unless it is a person's decision: goals may also be written for them."""
        return self.command if self.kind == "author" else self.runnable

    @property
    def menu(self) -> tuple[Option, ...]:
        """The options without yes and no to a text, which are commands of their own."""
        own = ("approve", "reject") if self.kind == "approve" else ()
        return tuple(one for one in self.options if one.key not in own)

    def hint(self, run: str) -> str:
        return self.runnable or (f"qrspi status {run}" if self.command else "")


_PLACES = frozenset(("TEXT", "'CMD'", "BRANCH", "FILE", "STEP", "N", "REASON"))


class CheckpointRow(NamedTuple):
    """A task as orchestration.db has it. With a kind, it waits for somebody."""

    task: str
    state: str
    heartbeat: int | None  # seconds since 1970; None for what is no time
    kind: str = ""  # as the inbox says it: task, or cap when it asked too often
    summary: str = ""
    command: str = ""
    reported: bool = False  # its implementer has reported since that it is done


class StateOfTests(NamedTuple):
    state: TestState
    detail: str = ""  # which failures, who said so, or why they were not run
    failures: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Without the full stop."""
        verb = "were not run" if self.state == "not-run" else self.state
        return f"The tests {verb}: {self.detail}" if self.detail else f"The tests {verb}"


class StepState(NamedTuple):
    step: str
    artifact: str
    status: Status
    rounds: int = 0
    stage: Stage = "none"
    kept: int | None = None
    dropped: int | None = None
    progress: Progress = "pending"
    approval: str | None = None  # person, engine, unrecorded, or claimed by a draft
    asked: int | None = None  # reviewers of the open round
    answered: int | None = None
    to_score: int | None = None  # findings; when there are none, kept and dropped are known
    skipped: int | None = None  # findings that a person leaves as they are: not among those kept

    @property
    def counts(self) -> str:
        """Of the newest round so far."""
        if self.asked is not None:
            return f"{self.answered} of {self.asked} answered"
        if self.to_score is not None:
            return f"{self.to_score} to score"
        left = f", {self.skipped} skipped" if self.skipped else ""
        return "" if self.kept is None else f"{self.kept} kept{left}, {self.dropped or 0} dropped"

    @property
    def standing(self) -> str:
        """The status in words, and who gave it if that was no person."""
        said = {"engine": "approved by the engine", "claimed": f"{self.status}, says approved"}
        return said.get(self.approval or "", self.status)


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
    tests: StateOfTests | None = None  # at the step test, and after a person approved it
    checkpoints: tuple[CheckpointRow, ...] = ()  # while implement has them on
    aside: tuple[Next, ...] = ()  # what else waits for a person while tasks go on


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
