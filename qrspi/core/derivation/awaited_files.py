"""Which files a next action waits for, and what shape each has."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core import filenames
from qrspi.core.filenames import RoundPaths
from qrspi.core.hints import Literal, assert_never
from qrspi.core.model import TESTS, Ask, Next
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject_of

FileKind = Literal[
    "artifact",
    "answer",
    "finding",
    "score",
    "dispositions",
    "report",
    "verdict",
    "decisions",
    "config",
    "record",
]
_SCHEMAS: dict[FileKind, str] = {
    "finding": "schemas/finding.schema.json",
    "score": "schemas/sidecar.schema.json",
}


class AwaitedFile(NamedTuple):
    file: str  # run-relative
    kind: FileKind
    instead: str = ""  # the file that is written when there is nothing to say
    printed: bool = False  # by whoever looks for facts and writes no file; a command takes it in

    @property
    def schema(self) -> str | None:
        """The schema of its frontmatter, or of the whole file when it is YAML."""
        return _SCHEMAS.get(self.kind)


def names(following: Next) -> tuple[str, ...]:
    """All that is waited for, also of other tasks; agents as `qrspi prompt` takes them."""
    of_task = {ask.target: ask.label for ask in following.asks if "/" in ask.label}
    named = (of_task.get(name, name) for name in following.missing)
    return (*named, *(ask.label for ask in following.beside))


def awaited(following: Next) -> tuple[AwaitedFile, ...]:
    """For agents, what each was asked for; otherwise the names in the action that are files."""
    asked = [
        one._replace(printed=ask.subject == "research")
        for ask in (*following.asks, *following.beside)
        for one in _answers(ask)
    ]
    match following.kind:
        case "replan":
            files = []  # a person decides, with a proposal or without one
        case "fix-files":
            # Whoever is asked to correct a file writes no other one.
            wrong = [name for name in following.missing if "/" in name]
            writers = set(map(_writer, wrong))
            others = [ask for ask in following.asks if ask.target not in writers]
            beside = (one for ask in (*others, *following.beside) for one in _answers(ask))
            files = [*map(_to_correct, wrong), *beside]
        case "failure":
            folder = RoundPaths(subject_of(following.step).reviews, following.round).directory
            names = (f"{folder}/{filenames.sidecar_file(stem)}" for stem in following.missing)
            files = [AwaitedFile(name, "score") for name in names]
        case "pause":
            pause = filenames.pause_file(following.step, following.round)
            files = [AwaitedFile(pause, "decisions")]
        case _:
            known = {one.file for one in asked}
            named = (name for name in following.missing if name.endswith(".md"))
            texts = [AwaitedFile(name, _kind(name)) for name in named if name not in known]
            # A text that is there is corrected where it is at fault; no other is written.
            files = texts if texts and following.action == "blocked" else [*asked, *texts]
    return tuple(dict.fromkeys(files))


def _writer(file: str) -> str:
    """What its agent is asked by: a reviewer's tag, or the finding that a verifier scores."""
    match filenames.parse_round_file(file.rpartition("/")[2]):
        case filenames.FindingName(tag=name) | filenames.CleanName(tag=name):
            return name
        case filenames.SidecarName(stem=name):
            return name
        case _:
            return ""


def _to_correct(file: str) -> AwaitedFile:
    match filenames.parse_round_file(file.rpartition("/")[2]):
        case filenames.FindingName():
            return AwaitedFile(file, "finding")
        case filenames.SidecarName():
            return AwaitedFile(file, "score")
        case _:
            return AwaitedFile(file, "record")


def _kind(name: str) -> FileKind:
    if name == "config.md":
        return "config"
    artifacts = {step.artifact for step in STEP.values()}
    return "artifact" if name in artifacts or name.startswith("tasks/") else "record"


def _answers(ask: Ask) -> Iterator[AwaitedFile]:
    match ask.kind:
        case "author":
            yield AwaitedFile(STEP[ask.subject].artifact, "artifact")
        case "research-question":
            yield AwaitedFile(filenames.research_file(ask.target), "answer")
        case "review":
            folder = _round(ask).directory
            finding = f"{folder}/{filenames.finding_file(ask.target, 1)}"
            yield AwaitedFile(finding, "finding", f"{folder}/{filenames.clean_file(ask.target)}")
        case "verify":
            file = filenames.sidecar_file(ask.target)
            yield AwaitedFile(f"{_round(ask).directory}/{file}", "score")
        case "fix":
            yield AwaitedFile(_round(ask).dispositions, "dispositions")
        case "implement":
            from qrspi.core.records import task_records

            first = ask.target == TESTS and not filenames.is_repair(ask.subject)
            record = task_records.tests_file if first else task_records.report_file
            yield AwaitedFile(record(ask.subject), "report")
        case "quality":
            yield AwaitedFile(f"tasks/{ask.target}.md", "verdict")
        case _:
            assert_never(ask.kind)


def _round(ask: Ask) -> RoundPaths:
    return RoundPaths(subject_of(ask.subject).reviews, ask.round)
