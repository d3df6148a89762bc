"""The path grammar of a run, both ways. No other module knows a file name's pattern."""

from qrspi.core import patterns
from qrspi.core.hints import assert_never
from qrspi.core.model import Ask
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Entry

RUNS = "docs/qrspi"  # where the runs of a project lie
WORKTREES = ".worktrees"  # those of tasks, below the root of the code repository
DISPATCH = ".qrspi/dispatch"  # prompts and replies; git ignores it
TAG = r"[A-Za-z0-9][A-Za-z0-9_-]*"
TASK = r"task-[0-9]{2,}[a-z]?"
SLUG = r"[a-z0-9]+(?:-[a-z0-9]+){1,3}"  # of a run, behind its date
STAGE = r"stage-after-W[0-9]{1,9}"
_ROUND = r"round-[0-9]{2,}"
_FIXES = r"(?:integration|ci|test)-round-[0-9]+"

MANIFEST = ".dispatch-manifest.json"
KEPT = "kept-findings.txt"
# Files beside a round's folder: the ends of their names
SCOPE_SET = "-scope-set.txt"
DISPOSITIONS = "-dispositions.md"
ANCHOR = "-commit.txt"
_DIFF = ".diff"
_SINCE = "-since.diff"
VERIFIED = "-verified.md"
_FLAG = "-backward-loop.flag"
_SKIPPED = "-verifier-disabled.md"
_RESULTS = "-results.md"  # of tests


def round_name(number: int) -> str:
    return f"round-{number:02d}"


class RoundPaths(NamedTuple):
    reviews: str
    number: int

    @property
    def directory(self) -> str:
        return f"{self.reviews}/{round_name(self.number)}"

    @property
    def manifest(self) -> str:
        return f"{self.directory}/{MANIFEST}"

    @property
    def kept(self) -> str:
        return f"{self.directory}/{KEPT}"

    def beside(self, suffix: str) -> str:
        return f"{self.directory}{suffix}"

    @property
    def diff(self) -> str:
        return self.beside(_DIFF)

    @property
    def since(self) -> str:
        """What changed since the text that was last reviewed."""
        return self.beside(_SINCE)

    @property
    def verified(self) -> str:
        return self.beside(VERIFIED)

    @property
    def scope_set(self) -> str:
        return self.beside(SCOPE_SET)

    @property
    def dispositions(self) -> str:
        return self.beside(DISPOSITIONS)

    @property
    def anchor(self) -> str:
        return self.beside(ANCHOR)

    @property
    def flag(self) -> str:
        return self.beside(_FLAG)

    @property
    def skipped(self) -> str:
        """Written when a person chose to go on without scores."""
        return self.beside(_SKIPPED)


def loop_choice(reviews: str) -> str:
    return f"{reviews}/loop.md"


def pause_file(subject: str, number: int) -> str:
    return f"reviews/{subject}-loop-pause-{round_name(number)}.md"


def paused_round(name: str, kinds: str = "pause") -> tuple[str, int] | None:
    """The subject and the round in the name of a pause file; with `pause|escape`, of either."""
    pattern = rf"(.+)-loop-(?:{kinds})-({_ROUND})\.md"
    match = patterns.fullmatch(pattern, name) if "-loop-" in name else None
    number = round_number(match[2]) if match else None
    return (match[1], number) if match and number else None


def escape_file(subject: str, number: int) -> str:
    return f"reviews/{subject}-loop-escape-{round_name(number)}.md"


def feedback_file(step: str, number: int) -> str:
    return f"feedback/{step}-{round_name(number)}.md"


def feedback_number(name: str, step: str) -> int | None:
    number = name.removeprefix(f"{step}-").removesuffix(".md")
    return round_number(number) if name == f"{step}-{number}.md" else None


def research_file(question: str) -> str:
    return f"research/{question}.md"


def cascade_sentinel(step: str, tag: str) -> str:
    """Written for each reviewer when the engine itself approves a step after a clean round."""
    return f"cascade-clean-{step}-{tag}.md"


def dispatch_folder(ask: Ask) -> str:
    """The folder of everything that is sent to agents and comes back from them."""
    match ask.kind:
        case "review" | "verify" | "fix":
            return f"{DISPATCH}/{ask.subject}/{round_name(ask.round)}"
        case "author" | "research-question" | "quality":
            return f"{DISPATCH}/{ask.subject}"
        case "implement":
            return f"{DISPATCH}/{ask.subject}/cycle-{ask.round:02d}"
        case _:
            assert_never(ask.kind)


def sent_about(folder: str) -> tuple[str, int]:
    """The subject and the round of whoever is sent from a dispatch folder."""
    key = folder.removeprefix(f"{DISPATCH}/")
    subject, _, last = key.rpartition("/")
    if number := round_number(last):
        return subject, number
    return (subject, 0) if last.startswith("cycle-") else (key, 0)


def prompt_file(ask: Ask) -> str:
    return f"{dispatch_folder(ask)}/{ask.name}.md"


def round_number(name: str) -> int | None:
    """`round-03` is 3; `round-3`, `round-003` and `round-00` are no rounds."""
    digits = name.removeprefix("round-")
    if len(digits) > 4 or not digits.isdecimal():
        return None
    return number if (number := int(digits)) and round_name(number) == name else None


def round_beside(name: str) -> int | None:
    """`round-03-verified.md` belongs to 3. A diff or test results may be there before any round."""
    head, dash, _ = name[6:].partition("-")
    return round_number(name[:6] + head) if dash and not name.endswith((_RESULTS, _DIFF)) else None


def flagged_round(name: str) -> int | None:
    stem = name.removesuffix(_FLAG)
    return round_number(stem) if stem != name else None


def looks_like_round(name: str) -> bool:
    return name.startswith("round-") and "." not in name and "-" not in name[len("round-") :]


class FindingName(NamedTuple):
    tag: str
    number: int


class SidecarName(NamedTuple):
    stem: str  # of the finding it scores
    extension: str  # score.yml, score.md, verifier.md


class CleanName(NamedTuple):
    tag: str
    usual: bool  # False for the variants that real reviewers write


class EngineName(NamedTuple):
    kind: str  # skipped, path-filtered, bypass-attempt, kept, manifest, reasons
    tag: str = ""
    number: int = 0


class Rejected(NamedTuple):
    """What an agent handed in and a person had made again: kept, but never read as an answer."""

    name: str  # what it was called
    number: int


class SplitMarker(NamedTuple):
    tag: str


class Dropping(NamedTuple):
    """What editors and systems leave behind; it is ignored."""


class Unknown(NamedTuple):
    pass


RoundFile = (
    FindingName | SidecarName | CleanName | EngineName | Rejected | SplitMarker | Dropping | Unknown
)

# Patterns as text: `re` compiles each with its first use, so a command pays for what it uses.
_FINDING = rf"(({TAG})\.finding-F([0-9]{{2,9}}))\.(md|score\.yml|score\.md|verifier\.md)"
_ELSEWHERE = _FINDING.replace(r"\.finding-F", r"(?:\.finding-|[.-])F")
_CLEAN = rf"({TAG})\.(clean\.md|no-findings\.md|NO_FINDINGS)"
_ENGINE = rf"({TAG})\.(skipped|path-filtered|bypass-attempt)(?:-([0-9]{{2,9}}))?\.md"
_ENGINE_FILES = {KEPT: "kept", MANIFEST: "manifest"}
_SPLIT = rf"\.({TAG})\.split"
_REJECTED = r"(.+)\.rejected-([0-9]{1,9})"
_REASONS = r"rejected-([0-9]{1,9})\.jsonl"


def finding_file(tag: str, number: int) -> str:
    return f"{tag}.finding-F{number:02d}.md"


def clean_file(tag: str) -> str:
    return f"{tag}.clean.md"


def sidecar_file(stem: str) -> str:
    return f"{stem}.score.yml"


def rejected_file(name: str, number: int) -> str:
    return f"{name}.rejected-{number}"


def reasons_file(number: int) -> str:
    return f"rejected-{number}.jsonl"


def split_marker(tag: str) -> str:
    return f".{tag}.split"


def is_dropping(name: str) -> bool:
    if name.endswith(("~", ".tmp", ".bak", ".orig")) or name in ("4913", ".DS_Store"):
        return True
    if name[:1] == "#":
        return name[-1:] == "#" and len(name) > 1
    if name[:1] != ".":
        return False
    return name.startswith(".#") or (name[1:-1].endswith(".sw") and "a" <= name[-1] <= "z")


def is_safe(name: str) -> bool:
    return patterns.fullmatch(r"[A-Za-z0-9._-]+", name) is not None


def parse_round_file(name: str, *, elsewhere: bool = False) -> RoundFile:
    """What a name in a round directory stands for. Findings and scores are tried first, since there
    are many. Files that were made `elsewhere` may also have shorter names: `spec-claude.F01.md`."""
    if match := patterns.fullmatch(_ELSEWHERE if elsewhere else _FINDING, name):
        stem, tag, number, extension = match.groups()
        return FindingName(tag, int(number)) if extension == "md" else SidecarName(stem, extension)
    if name in _ENGINE_FILES:
        return EngineName(_ENGINE_FILES[name])
    if is_dropping(name):
        return Dropping()
    if match := patterns.fullmatch(_CLEAN, name):
        return CleanName(match[1], match[2] == "clean.md")
    if match := patterns.fullmatch(_ENGINE, name):
        return EngineName(match[2], match[1], int(match[3] or 0))
    if match := patterns.fullmatch(_REJECTED, name):
        return Rejected(match[1], int(match[2]))
    if match := patterns.fullmatch(_REASONS, name):
        return EngineName("reasons", number=int(match[1]))
    if match := patterns.fullmatch(_SPLIT, name):
        return SplitMarker(match[1])
    return Unknown()


def rounds_in(entries: tuple[Entry, ...]) -> tuple[int, ...]:
    numbers = (round_number(entry.name) for entry in entries if entry.kind == "dir")
    return tuple(sorted(number for number in numbers if number))


def is_run_name(name: str) -> bool:
    """Whether all characters are ones that no shell or terminal interprets."""
    bare = name.replace(".", "").replace("_", "").replace("-", "")
    return name.isascii() and name[:1].isalnum() and bare.isalnum()


def slug_of(run: str) -> str:
    match = patterns.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-(.+)", run)
    return match[1] if match else run


def task_file_key(name: str) -> str | None:
    """`task-03.md` → `task-03`."""
    match = patterns.fullmatch(rf"({TASK})\.md", name)
    return match[1] if match else None


def task_key(word: str) -> str | None:
    """`3`, `03`, `T3`, `Task 3` and `task-03` are one task."""
    match = patterns.fullmatch(r"(?:(?:[Tt]ask[- ]?|T)?([0-9]+))([a-z]?)", word)
    return f"task-{match[1].zfill(2)}{match[2]}" if match else None


def task_named(text: str) -> str | None:
    """The task that a cell or a heading begins with: `T13b`, `Task 1: title`, `task-03 (new)`."""
    match = patterns.fullmatch(r"((?:[Tt]ask[- ]?|T)[0-9]+[a-z]?)(?:\s*[:(–—].*|\s+-\s.*)?", text)
    return task_key(match[1]) if match else None


def task_order(key: str) -> tuple[int, str]:
    """task-9 before task-10 before task-10a; all other names after them, in alphabetical order."""
    match = patterns.fullmatch(r"task-([0-9]{1,9})([a-z]?)", key)
    return (int(match[1]), match[2]) if match else (10**9, key)


def phase_folder(number: int) -> str:
    return f"phases/phase-{number:02d}"


def phase_number(name: str) -> int | None:
    match = patterns.fullmatch(r"phase-([0-9]{2,})", name)
    return int(match[1]) if match else None


class FixRound(NamedTuple):
    """A folder of tasks that repair what a later step found."""

    kind: str  # integration, ci, test
    number: int

    @property
    def directory(self) -> str:
        return f"fixes/{self.kind}-{round_name(self.number)}"


def fix_round(name: str) -> FixRound | None:
    kind, _, rest = name.partition("-")
    number = round_number(rest) if patterns.fullmatch(_FIXES, name) else None
    return FixRound(kind, number) if number else None


def is_repair(word: str) -> bool:
    """A task from `fixes/`, by its folder and file: `ci-round-01/ci-command`."""
    folder, _, name = word.partition("/")
    named = patterns.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name)
    return named is not None and fix_round(folder) is not None


# Files that the engine writes and agents do not. Every engine commit includes them, so that a fresh
# clone derives the same state. A new kind of file belongs here too.
_OWN_AT_TOP = (
    r"request\.md|import\.md|import-files\.txt|cascade-clean-.+\.md"
    r"|(?:approvals\.jsonl|cascade-audit\.log)\.torn-[0-9]+"
)
_BESIDE = (_DIFF, _SINCE, VERIFIED, SCOPE_SET, ANCHOR, _SKIPPED, _FLAG, ".log", _RESULTS)
_OWN_BESIDE = "|".join(_BESIDE).replace(".", r"\.")
_OWN_RECORDS = r"(?:start|report|outcome|reopened|again|rerun|baseline|baseline-failures)\.md"
_LOOP_FILE = rf"-loop-(?:pause|escape)-{_ROUND}\.md"
_OWN_REVIEW = (
    rf"{_OWN_RECORDS}|baseline\.log|loop\.md|quality\.jsonl|audit-report\.json|.+-review\.md"
    rf"|.+{_LOOP_FILE}|(?:tests|not-started)\.md"
    rf"|{_ROUND}(?:{_OWN_BESIDE}|-ingested-.+\.txt)"
)
_OF_CODE_STEPS = (
    rf"(?:parallelize|implement|implement-gate|integrate|test|replan|{TASK}"
    rf"|(?:integration|ci|test)-{_ROUND})(?:{_LOOP_FILE})?|baseline(?:-failures)?\.(?:md|log)"
)


def is_own_at_top(name: str) -> bool:
    """Whether a file of this name in the run's folder is the engine's."""
    return patterns.fullmatch(_OWN_AT_TOP, name) is not None


def is_own_review(name: str) -> bool:
    """The same below `reviews/`, outside of round folders."""
    return patterns.fullmatch(_OWN_REVIEW, name) is not None


def ends_with_phase(name: str) -> bool:
    """Whether a file or folder of this name in `reviews/` is put away when its phase ends."""
    return patterns.fullmatch(_OF_CODE_STEPS, name) is not None
