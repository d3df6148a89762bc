"""Every round of a run as it was, loop by loop, to be counted or replayed."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.config.reader import Config
from qrspi.core.filenames import (
    RoundPaths,
    pause_file,
    phase_folder,
    phase_number,
    round_number,
    rounds_in,
)
from qrspi.core.findings import guard, triage
from qrspi.core.importing.foreign_rounds import reviewed_in
from qrspi.core.model import Finding, Round, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject, subject_of
from qrspi.core.records import import_record
from qrspi.core.records.decisions import RoundDecisions
from qrspi.core.rounds import finding_history, round_list, verified_file
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds.lineage import RoundFindings
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.rounds.pause_file import Pause
from qrspi.core.tree import BODY_LIMIT, Entry, Fault, Rows, Tree, TreeOver, entries, exists


class PastRound(NamedTuple):
    subject: Subject
    number: int
    manifest: Manifest | None
    files: Round
    verified: bool  # findings were scored
    skipped: bool  # a person went on without scores
    triaged: tuple[Triaged, ...]
    pause: Pause | None
    whole: bool  # everybody who was sent has answered, and every answer can be read
    judged: bool  # it came so far that findings could be kept or dropped

    @property
    def kept(self) -> int:
        return sum(item.verdict != "drop" for item in self.triaged)

    def skips(self, finding: Finding) -> bool:
        """Whether a person leaves it as it is."""
        return self.pause is not None and finding.name in self.pause.skipped

    def model_of(self, finding: Finding) -> str:
        sent = self.manifest.dispatches if self.manifest else ()
        named = next((one.model for one in sent if one.tag == finding.tag and one.model), "")
        return finding.actual_model or named or "unknown"


class Loop(NamedTuple):
    subject: Subject
    rounds: tuple[PastRound, ...]


def loops(tree: Tree, config: Config) -> tuple[Loop, ...]:
    by_subject: dict[str, list[PastRound]] = {}
    for subject, number in numbered(tree):
        by_subject.setdefault(subject.key, []).append(_read(tree, subject, number, config))
    return tuple(Loop(subject_of(key), tuple(rounds)) for key, rounds in by_subject.items())


class PhaseTree(TreeOver):
    """The files of a finished phase, as if they were still in their old place."""

    def __init__(self, tree: Tree, folder: str) -> None:
        super().__init__(tree)
        self._folder = folder

    def head(self, path: str) -> bytes | Fault:
        return self._tree.head(f"{self._folder}/{path}")

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        return self._tree.read(f"{self._folder}/{path}", limit)

    def tail(self, path: str, size: int) -> bytes | Fault:
        return self._tree.tail(f"{self._folder}/{path}", size)

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        return self._tree.entries(f"{self._folder}/{path}")

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        return self._tree.rows(f"{self._folder}/{path}", *queries)


def earlier_phases(tree: Tree) -> Iterator[Tree]:
    for entry in entries(tree, "phases"):
        number = phase_number(entry.name)
        if entry.kind == "dir" and number is not None:
            yield PhaseTree(tree, phase_folder(number))


def numbered(tree: Tree) -> Iterator[tuple[Subject, int]]:
    for folder in folders(tree, "reviews"):
        subject = reviewed_in(folder)
        for number in rounds_in(entries(tree, folder)) if subject else ():
            if subject and entries(tree, RoundPaths(folder, number).directory):
                yield owner(tree, subject, number), number


def folders(tree: Tree, folder: str) -> Iterator[str]:
    listed = entries(tree, folder)
    if rounds_in(listed):
        yield folder
    for entry in listed:
        if entry.kind == "dir" and round_number(entry.name) is None:
            yield from folders(tree, f"{folder}/{entry.name}")


def owner(tree: Tree, subject: Subject, number: int) -> Subject:
    """Two subjects share one folder of reviews; the manifest says which one a round is about."""
    if subject.reviews != round_list.SHARED or not round_list.is_of_another(tree, subject, number):
        return subject
    return subject_of("implement-gate")


def _read(tree: Tree, subject: Subject, number: int, config: Config) -> PastRound:
    paths = RoundPaths(subject.reviews, number)
    held = manifests.read(tree.read(paths.manifest, manifests.LIMIT), paths.manifest)
    manifest = held if isinstance(held, Manifest) else None
    elsewhere = manifest is None and import_record.lists(tree, paths)
    read = guard.read_round(tree, subject, number, config, manifest, elsewhere=elsewhere)
    verified = tree.read(paths.verified)
    recorded = None if isinstance(verified, Fault) else verified_file.recorded_verifier(verified)
    scored = recorded == "true" if recorded else config.verifies
    skipped = exists(tree, paths.skipped)
    triaged = triage.partition(read, verifier_enabled=scored, skipped=skipped)
    path = pause_file(subject.key, number)
    pause = pauses.read(tree.read(path), path)
    return PastRound(
        subject=subject,
        number=number,
        manifest=manifest,
        files=read,
        verified=scored,
        skipped=skipped,
        triaged=triaged,
        pause=pauses.of_round(pause, triaged) if isinstance(pause, Pause) else None,
        whole=manifest is not None and not read.silent_tags and not read.violations,
        judged=not isinstance(verified, Fault) or not (read.silent_tags or read.violations),
    )


UNASKED = RoundDecisions()  # who decided changes no count


def chronicle(tree: Tree, loop: Loop) -> tuple[RoundFindings, ...]:
    artifact = tree.read(loop.subject.artifact)
    return tuple(
        RoundFindings(
            past.number,
            finding_history.records(
                tree.name, past.subject, past.triaged, past.pause, artifact, UNASKED
            ),
        )
        for past in loop.rounds
    )
