"""A whole run, derived again: every closed round, every approval, and what has vanished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths, phase_folder, phase_number
from qrspi.core.history import past_rounds
from qrspi.core.importing.foreign_rounds import reviewed_in
from qrspi.core.importing.import_page import digest, read_listing
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.proof import approval_proof, round_proof, vanished
from qrspi.core.proof.approval_proof import ApprovalProof
from qrspi.core.proof.round_proof import ProofContext, RoundProof
from qrspi.core.proof.run_history import SHALLOW, RunHistory
from qrspi.core.proof.vanished import Gap
from qrspi.core.records import approvals, audit_trail, evidence, import_record, route_record
from qrspi.core.records import vanished as lost
from qrspi.core.records.approvals import RESETTING, Record
from qrspi.core.rounds.manifest import ADOPT
from qrspi.core.tree import (
    CONFIG_LIMIT,
    Fault,
    Tree,
    content,
    entries,
    exists,
)


class Unproven(NamedTuple):
    step: str
    round: int
    because: str


class RunProof(NamedTuple):
    run: str
    rounds: tuple[RoundProof, ...]
    gaps: tuple[Gap, ...]
    unproven: tuple[Unproven, ...]
    adopted: tuple[str, ...]  # artifacts that say approved, with no record and no round

    @property
    def checked(self) -> int:
        return sum(proof.state == "proven" for proof in self.rounds)


def prove(tree: Tree, history: RunHistory | None) -> RunProof:
    """No history means that the run is in no repository; then git is not asked."""
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    records = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    broken = tuple(_unreadable(tree, config, records))
    decided = () if isinstance(records, Problem) else tuple(records)
    known = _known(tree, config, decided, history)
    imported = import_record.of_run(tree)
    rounds = (*_rounds(tree, known), *_earlier_phases(tree, known))
    standing = approval_proof.check(tree, config, decided, rounds, imported)
    gone = vanished.check(tree, history, decided)
    gaps = (
        *broken,
        *(gap for proof in rounds for gap in proof.gaps),
        *standing.gaps,
        *approval_proof.by_hand(tree, config, decided),
        *_changed_imports(tree),
        *gone,
    )
    return RunProof(
        run=tree.name,
        rounds=rounds,
        gaps=tuple(dict.fromkeys(gaps)),
        unproven=(
            *_settings(config, decided, tree.name),
            *_older(tree, history),
            *_elsewhere(tree, imported),
            *_doubted(rounds, standing),
        ),
        adopted=standing.adopted,
    )


def _settings(config: Config, records: tuple[Record, ...], run: str) -> Iterator[Unproven]:
    """Who was to look at what may have been somebody else's choice."""
    record = approvals.newest_with_safeguards(records)
    if problem := route_record.lowered(record, config, run) if record else None:
        yield Unproven("", 0, problem.message)


def _older(tree: Tree, history: RunHistory | None) -> Iterator[Unproven]:
    if history and history.is_shallow:
        yield Unproven("", 0, SHALLOW)
    for one in lost.from_run(tree):
        if one.expected == lost.ELSEWHERE:
            yield Unproven("", 0, one.message)


def _unreadable(tree: Tree, config: Config, records: Sequence[Record] | Problem) -> Iterator[Gap]:
    if configs.is_unusable(config):
        bad = config_problems.for_run(config.problems[0], tree)
        yield Gap("", 0, "readable config.md", bad.message, bad.file)
    if isinstance(records, Problem):
        yield Gap("", 0, "record of decisions", records.message, approvals.FILE)


def _known(
    tree: Tree, config: Config, records: tuple[Record, ...], history: RunHistory | None
) -> ProofContext:
    lines = audit_trail.lines(tree)
    past = history or RunHistory()
    return ProofContext(
        config=config,
        in_git=history is not None,
        opened=frozenset(_opened(lines)),
        lines=past.lines,
        commits=past.by_sha,
        origins=evidence.origins(lines),
        left=frozenset(_left(records)),
        approved=frozenset(step for step in STEP if approvals.last_approval(records, step)),
        adopted=frozenset(record.file_hash for record in records if record.event == ADOPT),
    )


def _opened(lines: tuple[audit_trail.Line, ...]) -> Iterator[str]:
    """Hashes of manifests that the engine opened, or wrote before it recorded openings."""
    for line in lines:
        if line.opened:
            yield line.opened
        for touched in line.files:
            if touched.after and line.event == "prepare-round":
                yield touched.after


def _left(records: tuple[Record, ...]) -> Iterator[tuple[str, int]]:
    for record in records:
        if record.event in RESETTING:
            yield record.step, record.round
            yield from ((mark.step, mark.round) for mark in record.resets)
        elif record.event == "task":
            yield record.step, record.round


def _rounds(tree: Tree, known: ProofContext) -> Iterator[RoundProof]:
    rounds = [
        (subject, number)
        for subject, number in past_rounds.numbered(tree)
        if not _was_elsewhere(tree, RoundPaths(subject.reviews, number))
    ]
    last = {reviewed.reviews: number for reviewed, number in rounds}
    for about, number in rounds:
        newest = number == last[about.reviews]
        yield round_proof.check(tree, about, number, known, newest=newest)


def _was_elsewhere(tree: Tree, paths: RoundPaths) -> bool:
    """A round that has a manifest was opened by the engine, even if the import list names it."""
    return import_record.lists(tree, paths) and not exists(tree, paths.manifest)


def _earlier_phases(tree: Tree, known: ProofContext) -> Iterator[RoundProof]:
    for entry in entries(tree, "phases"):
        number = phase_number(entry.name)
        if entry.kind != "dir" or number is None:
            continue
        folder = phase_folder(number)
        for proof in _rounds(past_rounds.PhaseTree(tree, folder), known):
            step = f"{proof.step} of phase {number}"
            gaps = (gap._replace(step=step, file=f"{folder}/{gap.file}") for gap in proof.gaps)
            yield proof._replace(step=step, gaps=tuple(gaps))


def _changed_imports(tree: Tree) -> Iterator[Gap]:
    """Texts change after an import; what was said about them elsewhere does not."""
    for path, known in read_listing(content(tree, import_record.LISTING)).items():
        if not path.startswith(("reviews/", "feedback/")) or path.endswith("/loop.md"):
            continue
        data = tree.read(path)
        if isinstance(data, Fault):
            yield Gap("import", 0, path, "it was imported and is gone", path)
        elif digest(data) != known:
            yield Gap("import", 0, path, "it is not as it was imported", path)


def _elsewhere(tree: Tree, record: import_record.ImportRecord) -> Iterator[Unproven]:
    for folder, numbers in record.rounds.items():
        subject = reviewed_in(folder)
        for number in numbers:
            if exists(tree, RoundPaths(folder, number).manifest):
                continue
            yield Unproven(subject.key if subject else folder, number, "it was made elsewhere")


def _doubted(rounds: tuple[RoundProof, ...], standing: ApprovalProof) -> Iterator[Unproven]:
    for proof in rounds:
        if proof.state == "unproven":
            yield Unproven(proof.step, proof.round, proof.because)
    for step in standing.unproven:
        why = f"{STEP[step].artifact} says approved, and its rounds were made elsewhere"
        yield Unproven(step, 0, why)
