"""Opening a round's files: each becomes a record, or a note that says why it does not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, assert_never

from qrspi.core.filenames import (
    CleanName,
    Dropping,
    EngineName,
    FindingName,
    RoundFile,
    RoundPaths,
    SidecarName,
    SplitMarker,
    Unknown,
    is_safe,
)
from qrspi.core.findings import clean as sentinels
from qrspi.core.findings import finding as findings
from qrspi.core.findings import score as sidecars
from qrspi.core.findings.engine_files import EngineFile
from qrspi.core.findings.submission import Place, Submission, receive
from qrspi.core.findings.violations import Notes, Page, in_order, shown
from qrspi.core.model import Clean, Finding, Problem, Sidecar
from qrspi.core.tree import FINDING_LIMIT, Entry, Fault, Tree


def tag_of(file: RoundFile) -> str:
    """Whose file it is; empty when it is nobody's."""
    match file:
        case FindingName() | CleanName() | EngineName():
            return file.tag
        case SidecarName():
            return file.stem.partition(".")[0]
        case SplitMarker() | Dropping() | Unknown():
            return ""
        case _:
            assert_never(file)


class Intake:
    """What was found, file by file. A file that vanished since it was listed was never there."""

    def __init__(self, tree: Tree, paths: RoundPaths, place: Place, notes: Notes) -> None:
        self._tree = tree
        self._directory = paths.directory
        self._place = place
        self._notes = notes
        self.findings: list[Finding] = []
        self.cleans: list[Clean] = []
        self.sidecars: dict[str, Sidecar] = {}
        self.scoring: defaultdict[str, list[str]] = defaultdict(list)  # names, by finding's stem
        self.finding_files: dict[str, str] = {}  # tags by stem, good or bad
        self.clean_files: dict[str, str] = {}  # tags by name, good or bad
        self.engine_files: list[EngineFile] = []
        self.unfinished: list[str] = []

    def take_all(self, files: Sequence[tuple[Entry, RoundFile]]) -> None:
        """While a split is under way its tag counts as having handed in nothing."""
        split = {file.tag for _, file in files if isinstance(file, SplitMarker)}
        for entry, file in files:
            if not split or tag_of(file) not in split:
                self._take(entry, file)

    def _take(self, entry: Entry, file: RoundFile) -> None:
        page = self.page(entry.name)
        match file:
            case FindingName():
                self._finding(entry, file, page)
            case CleanName():
                self._clean(entry, file, page)
            case SidecarName():
                self._sidecar(entry, file, page)
            case EngineName():
                self._engine_file(entry, file, page)
            case Unknown():  # every name that the grammar knows is a safe one
                if not is_safe(entry.name):
                    text = "the name has characters other than letters, digits and . _ -"
                    found = shown(entry.name)
                    page.violation("bad_name", text, found=found, expected="[A-Za-z0-9._-]")
                elif entry.name.endswith(".md"):
                    text = "not a name that a round knows; the file is left alone"
                    page.warning("unknown_file", text, found=entry.name)
            case SplitMarker() | Dropping():
                pass
            case _:
                assert_never(file)

    def page(self, name: str) -> Page:
        return self._notes.about(f"{self._directory}/{name}")

    def tags(self) -> Iterator[tuple[str, str]]:
        """File names with the tags they stand for; a score stands or falls with its finding."""
        yield from ((f"{stem}.md", tag) for stem, tag in self.finding_files.items())
        yield from self.clean_files.items()
        yield from ((file.name, file.kind.tag) for file in self.engine_files)
        for stem, names in self.scoring.items():
            if stem not in self.finding_files:
                yield names[0], stem.partition(".")[0]

    def _finding(self, entry: Entry, name: FindingName, page: Page) -> None:
        data = self._open(entry, page)
        if data is None:
            return
        self.finding_files[entry.name.removesuffix(".md")] = name.tag
        submission = self._receive(entry, data, page)
        if submission and (finding := findings.read(submission, name)):
            self.findings.append(finding)

    def _clean(self, entry: Entry, name: CleanName, page: Page) -> None:
        data = self._open(entry, page)
        if data is None:
            return
        self.clean_files[entry.name] = name.tag
        submission = self._receive(entry, data, page)
        if submission and (clean := sentinels.read(submission, name)):
            self.cleans.append(clean)

    def _sidecar(self, entry: Entry, name: SidecarName, page: Page) -> None:
        data = self._open(entry, page)
        if data is None:
            return
        self.scoring[name.stem].append(entry.name)
        submission = self._receive(entry, data, page)
        if submission and (sidecar := sidecars.read(submission, name)):
            self.sidecars.setdefault(name.stem, sidecar)

    def _engine_file(self, entry: Entry, name: EngineName, page: Page) -> None:
        if not name.tag:  # the manifest and the list of kept findings: rebuilt, never read here
            return
        data = self._open(entry, page)
        if isinstance(data, bytes):
            self.engine_files.append(EngineFile(entry.name, name, data, page))

    def _open(self, entry: Entry, page: Page) -> bytes | Fault | None:
        """None when the file vanished since it was listed; a Fault has been noted."""
        if entry.kind != "file":
            data: bytes | Fault = Fault("not-a-file", entry.kind)
        else:
            data = self._tree.read(page.file, FINDING_LIMIT)
        if isinstance(data, Fault):
            if data.kind == "absent":
                return None
            note_fault(page, data)
        return data

    def _receive(self, entry: Entry, data: bytes | Fault, page: Page) -> Submission | None:
        if isinstance(data, Fault):
            return None
        submission = receive(entry.name, data, self._place, page)
        if submission and submission.data != data:
            self.unfinished.append(entry.name)
        return submission


_KINDS = {
    "dir": "a directory",
    "directory": "a directory",
    "link": "a symbolic link",
    "symlink": "a symbolic link",
}


def note_fault(page: Page, fault: Fault) -> None:
    match fault.kind:
        case "not-a-file":
            found = _KINDS.get(fault.detail, "a pipe, socket or device")
            text = f"{found}; expected a regular file; it is not opened"
            page.violation("not_a_file", text, found=found, expected="a regular file")
        case "too-large":
            limit = f"at most {FINDING_LIMIT} bytes"
            found = f"{fault.detail} bytes"
            page.violation("too_large", f"{found}; expected {limit}", found=found, expected=limit)
        case "unreadable" | "absent":
            found = shown(fault.detail) or fault.kind
            text = f"cannot be read ({found}); expected a readable file"
            page.violation("unreadable", text, found=found, expected="a readable file")
        case _:
            assert_never(fault.kind)


class Examined(NamedTuple):
    record: Finding | Clean | Sidecar | None
    violations: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def examine(
    name: FindingName | CleanName | SidecarName,
    file: str,
    data: bytes,
    place: Place,
    *,
    strict: bool = False,
) -> Examined:
    """One file by itself, as the round `place` would read it. `file` is its path, for messages."""
    notes = Notes(strict=strict)
    page = notes.about(file)
    record: Finding | Clean | Sidecar | None = None
    if len(data) > FINDING_LIMIT:
        note_fault(page, Fault("too-large", str(len(data))))
    elif submission := receive(file.rpartition("/")[2], data, place, page):
        match name:
            case FindingName():
                record = findings.read(submission, name)
            case CleanName():
                record = sentinels.read(submission, name)
            case SidecarName():
                record = sidecars.read(submission, name)
            case _:
                assert_never(name)
    return Examined(record, in_order(notes.violations), tuple(notes.warnings))
