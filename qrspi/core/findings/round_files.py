"""Opening a round's files: each becomes a record, or a note that says why it does not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from qrspi.core.filenames import (
    CleanName,
    Dropping,
    EngineName,
    FindingName,
    Rejected,
    RoundFile,
    RoundPaths,
    SidecarName,
    SplitMarker,
    Unknown,
    is_safe,
)
from qrspi.core.findings import exact_shape
from qrspi.core.findings.submission import Notes, Page, Place, Submission, in_order, receive, shown
from qrspi.core.hints import assert_never
from qrspi.core.model import Clean, Finding, Problem, Sidecar
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import FINDING_LIMIT, Entry, Fault, Tree


def tag_of(file: RoundFile) -> str:
    """The tag of the agent that wrote the file; '' when the name does not tell."""
    match file:
        case FindingName() | CleanName() | EngineName():
            return file.tag
        case SidecarName():
            return file.stem.partition(".")[0]
        case SplitMarker() | Rejected() | Dropping() | Unknown():
            return ""
        case _:
            assert_never(file)


Submitted = FindingName | CleanName | SidecarName
Handed = Finding | Clean | Sidecar | None


class EngineFile(NamedTuple):
    name: str
    kind: EngineName
    data: bytes
    page: Page


class Judgement(NamedTuple):
    """What the engine's own files in a round say."""

    excused: frozenset[str] = frozenset()  # tags that were not sent, for a good reason
    doubted: frozenset[str] = frozenset()  # tags whose excuse is not believed
    bypasses: tuple[tuple[str, bytes], ...] = ()  # records still to be written


class RoundFiles:
    """A file that vanished after it was listed counts as absent."""

    def __init__(self, tree: Tree, paths: RoundPaths, place: Place, notes: Notes) -> None:
        self._tree = tree
        self.directory = paths.directory
        self.place = place
        self._notes = notes
        self._read: dict[str, bytes | Fault] = {}
        self.findings: list[Finding] = []
        self.cleans: list[Clean] = []
        self.sidecars: dict[str, Sidecar] = {}
        self.scoring: defaultdict[str, list[str]] = defaultdict(list)  # names, by finding's stem
        self.finding_files: dict[str, str] = {}  # tags by stem, good or bad
        self.clean_files: dict[str, str] = {}  # tags by name, good or bad
        self.engine_files: list[EngineFile] = []
        self.unfinished: list[str] = []
        self.unknown: list[str] = []
        self.splits: tuple[str, ...] = ()

    def take_all(self, files: Sequence[tuple[Entry, RoundFile]]) -> None:
        """While a reply is being split, its reviewer counts as having handed in nothing."""
        split = {file.tag: entry.kind for entry, file in files if isinstance(file, SplitMarker)}
        self.splits = tuple(tag for tag, kind in split.items() if kind == "file")
        taken = [each for each in files if not split or tag_of(each[1]) not in split]
        names = [entry.name for entry, file in taken if entry.kind == "file" and tag_of(file)]
        read = self._tree.read_each(self.directory, names, FINDING_LIMIT)
        self._read = dict(zip(names, read, strict=True))
        for entry, file in taken:
            self._take(entry, file)

    def _take(self, entry: Entry, file: RoundFile) -> None:
        page = self.page(entry.name)
        match file:
            case FindingName() | CleanName() | SidecarName():
                self._submission(entry, file, page)
            case EngineName():
                self._engine_file(entry, file, page)
            case Unknown():  # every name that the grammar knows is a safe one
                if is_safe(entry.name):
                    self.unknown.append(entry.name)
                else:
                    text = "the name has characters other than letters, digits and . _ -"
                    name = shown(entry.name)
                    page.violation("bad_name", text, found=name, expected="[A-Za-z0-9._-]")
            case SplitMarker() | Rejected() | Dropping():
                pass
            case _:
                assert_never(file)

    def page(self, name: str) -> Page:
        return self._notes.about(f"{self.directory}/{name}")

    def tags(self) -> Iterator[tuple[str, str]]:
        """File names with their tags. A score is listed only when its finding is missing."""
        yield from ((f"{stem}.md", tag) for stem, tag in self.finding_files.items())
        yield from self.clean_files.items()
        yield from ((file.name, file.kind.tag) for file in self.engine_files)
        for stem, names in self.scoring.items():
            if stem not in self.finding_files:
                yield names[0], stem.partition(".")[0]

    def _submission(self, entry: Entry, name: Submitted, page: Page) -> None:
        data = self._open(entry, page)
        if data is None:
            return
        match name:
            case FindingName():
                self.finding_files[entry.name.removesuffix(".md")] = name.tag
            case CleanName():
                self.clean_files[entry.name] = name.tag
            case SidecarName():
                self.scoring[name.stem].append(entry.name)
        if not isinstance(data, Fault):
            self._keep(name, self._parsed(entry, name, data, page))

    def _keep(self, name: Submitted, record: Handed) -> None:
        match record:
            case Finding():
                self.findings.append(record)
            case Clean():
                self.cleans.append(record)
            case Sidecar():
                assert isinstance(name, SidecarName)
                self.sidecars.setdefault(name.stem, record)

    def _parsed(self, entry: Entry, name: Submitted, data: bytes, page: Page) -> Handed:
        submission = receive(entry.name, data, self.place, page)
        if submission is None:
            return None
        if submission.data != data:
            self.unfinished.append(entry.name)
        return parse(submission, name)

    def _engine_file(self, entry: Entry, name: EngineName, page: Page) -> None:
        if not name.tag:  # the manifest and the list of kept findings: rebuilt, never read here
            return
        data = self._open(entry, page)
        if isinstance(data, bytes):
            self.engine_files.append(EngineFile(entry.name, name, data, page))

    def _open(self, entry: Entry, page: Page) -> bytes | Fault | None:
        """None when the file vanished after it was listed. Any other Fault is noted, and given."""
        if entry.kind != "file":
            data: bytes | Fault = Fault("not-a-file", entry.kind)
        else:
            data = self._read[entry.name]
        if isinstance(data, Fault):
            if data.kind == "absent":
                return None
            note_fault(page, data)
        return data


def parse(submission: Submission, name: Submitted) -> Handed:
    """Nearly all files have the exact shape; the first one without it imports the careful
    readers."""
    match name:
        case FindingName():
            if exact := exact_shape.finding(submission, name):
                return exact
            from qrspi.core.findings import finding

            return finding.read(submission, name)
        case SidecarName():
            if scored := exact_shape.sidecar(submission, name):
                return scored
            from qrspi.core.findings import score

            return score.read(submission, name)
        case CleanName():
            from qrspi.core.findings import clean as sentinels

            return sentinels.read(submission, name)
        case _:
            assert_never(name)


_KINDS = {
    "dir": "a directory",
    "directory": "a directory",
    "link": "a symbolic link",
    "symlink": "a symbolic link",
}


def note_fault(page: Page, fault: Fault) -> None:
    match fault.kind:
        case "not-a-file":
            kind = _KINDS.get(fault.detail, "a pipe, socket or device")
            text = f"{kind}; expected a regular file; it is not opened"
            page.violation("not_a_file", text, found=kind, expected="a regular file")
        case "too-large":
            page.instead("too_large", fault.found, f"at most {FINDING_LIMIT:,} bytes")
        case "unreadable" | "absent":
            kind = shown(fault.detail) or fault.kind
            text = f"cannot be read ({kind}); expected a readable file"
            page.violation("unreadable", text, found=kind, expected="a readable file")
        case _:
            assert_never(fault.kind)


class Examined(NamedTuple):
    record: Handed
    violations: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def examine(
    name: Submitted, file: str, data: bytes, place: Place, *, strict: bool = False
) -> Examined:
    """One file by itself, read as the round `place` would read it."""
    notes = Notes(strict=strict)
    page = notes.about(file)
    record: Handed = None
    if len(data) > FINDING_LIMIT:
        note_fault(page, Fault("too-large", str(len(data)), FINDING_LIMIT))
    elif submission := receive(file.rpartition("/")[2], data, place, page):
        record = parse(submission, name)
    return Examined(record, in_order(notes.violations), tuple(notes.warnings))
