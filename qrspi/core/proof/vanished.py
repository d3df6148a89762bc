"""Files that git or a record of the run names, and that are gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from qrspi.core.filenames import (
    CleanName,
    EngineName,
    FindingName,
    SidecarName,
    parse_round_file,
    rejected_file,
    round_number,
    task_file_key,
)
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import MARKER, STEP, subject_of
from qrspi.core.proof.run_history import RunHistory
from qrspi.core.records import approvals, task_records
from qrspi.core.records import vanished as lost
from qrspi.core.records.approvals import Record
from qrspi.core.records.task_records import Report
from qrspi.core.steps.facts import claim_of
from qrspi.core.tree import Fault, Tree, entries, exists


class Gap(NamedTuple):
    step: str
    round: int  # 0 when it is about no round
    missing: str  # what must be there
    because: str
    file: str  # run-relative: where it must be


def check(tree: Tree, history: RunHistory | None, records: tuple[Record, ...]) -> tuple[Gap, ...]:
    """Each file once, by the first that names it: an approval, git, a record, the trail."""
    phases = [entry.name for entry in entries(tree, "phases") if entry.kind == "dir"]
    named = (
        *_by_approvals(tree, records),
        *(_by_history(tree, history, phases) if history else ()),
        *(_cut_logs(tree, history) if history else ()),
        *_by_records(tree, records, phases),
        *map(_by_trail, (one for one in lost.from_run(tree) if one.expected != lost.ELSEWHERE)),
    )
    gaps: dict[str, Gap] = {}
    for gap in named:
        gaps.setdefault(gap.file, gap)
    return tuple(gaps.values())


def _by_history(tree: Tree, history: RunHistory, phases: list[str]) -> Iterator[Gap]:
    ever = history.ever | history.present
    named = sorted(path for path in ever if _is_kept_for_ever(tree, path))
    for path in named:
        if not _is_somewhere(tree, path, phases):
            step, number = _place(path)
            yield Gap(step, number, path, "it is gone, and git has it", path)


def _is_kept_for_ever(tree: Tree, path: str) -> bool:
    """Answers and records of rounds, logs of decisions, tasks that were worked on: no command
    removes these. A plan may drop a task before anybody has worked on it."""
    folder, _, name = path.rpartition("/")
    if path in lost.LOGS:
        return True
    if folder == "tasks" and (key := task_file_key(name)):
        return bool(entries(tree, subject_of(key).reviews))
    if not folder.startswith("reviews"):
        return False
    if not round_number(folder.rpartition("/")[2]):
        return re.fullmatch(_BESIDE, name) is not None
    match parse_round_file(name):
        case FindingName() | CleanName() | SidecarName() | EngineName("manifest"):
            return True
        case _:
            return False


def _cut_logs(tree: Tree, history: RunHistory) -> Iterator[Gap]:
    for path in lost.LOGS:
        now = tree.read(path, approvals.LIMIT)
        if isinstance(now, Fault):
            continue  # one that is gone is told as such
        if cut := lost.loss(history.logs.get(path, b""), now):
            yield _cut(path, cut.words)
        elif words := _taken_out(history, path, now):
            yield _cut(path, words)


def _cut(path: str, because: str) -> Gap:
    return Gap("", 0, f"every line of {path}", because, path)


def _taken_out(history: RunHistory, path: str, now: bytes) -> str:
    cut = [one for one in history.cut if one.file == path and lost.loss(one.data, now)]
    if not cut:
        return ""
    there = frozenset(lost.whole_lines(now))
    gone = {line for one in cut for line in lost.whole_lines(one.data)} - there
    match len(gone):
        case 0:
            what = "lines that were on record are in another order"
        case 1:
            what = "1 line that was on record is gone"
        case count:
            what = f"{count} lines that were on record are gone"
    return f"{what} since commit {cut[-1].sha[:12]}"


_BESIDE = r".+-(?:dispositions|verified)\.md|.+-(?:commit|scope-set)\.txt|.+\.diff"


def _is_somewhere(tree: Tree, path: str, phases: list[str]) -> bool:
    """In its place, put away with its phase, or put aside to be made again."""
    if exists(tree, path) or any(exists(tree, f"phases/{one}/{path}") for one in phases):
        return True
    return exists(tree, rejected_file(path, 1))


def _by_trail(problem: Problem) -> Gap:
    why = problem.message.partition(" is gone: ")[2]
    why = why or problem.message.removeprefix(f"{problem.file} ")
    return Gap(*_place(problem.file), problem.file, why, problem.file)


def _place(path: str) -> tuple[str, int]:
    parts = path.split("/")
    number = next((found for part in parts if (found := round_number(part[:8]))), 0)
    inner = parts[1:-1] if parts[0] == "reviews" else []
    step = next((part for part in reversed(inner) if not part.startswith("round-")), "")
    return step, number


def _by_records(tree: Tree, records: tuple[Record, ...], phases: list[str]) -> Iterator[Gap]:
    newest = {record.file: at for at, record in enumerate(records) if record.file}
    due = {
        path: records[at]
        for path, at in newest.items()
        if records[at].file_hash and not _is_done_with(tree, records[at], records[at + 1 :], phases)
    }
    yield from _missed(tree, due, "a decision of {} stands in it, and it is gone", phases)
    reasons = {record.feedback: record for record in records if record.feedback}
    yield from _missed(tree, reasons, "it says why {} decided so, and it is gone", phases)


def _is_done_with(
    tree: Tree, record: Record, later: Sequence[Record], phases: Iterable[str]
) -> bool:
    """Whether a command has taken the file away, as what it says is carried out."""
    if record.file == MARKER:
        return any(one.event == "phase" or one.replan == "major" for one in later)
    folder = record.file.rpartition("/")[0]
    if folder and any(exists(tree, f"phases/{one}/{folder}") for one in phases):
        return True  # the task has ended, and its phase with it
    key = record.step
    if record.file == task_records.outcome_file(key):
        return exists(tree, task_records.reopened_file(key))
    reports = (task_records.report(tree, key), task_records.tests(tree, key))
    return record.file == task_records.again_file(key) and any(
        isinstance(one, Report) and (one.done or one.time > record.when) for one in reports
    )


def _by_approvals(tree: Tree, records: tuple[Record, ...]) -> Iterator[Gap]:
    """Texts that are approved and gone; a finished phase and a rewind leave no approval."""
    for step in STEP:
        if known := approvals.last_approval(records, step):
            for path in _gone_of(tree, step, known):
                yield Gap(step, known.round, path, _approved(tree, known, path), path)


def _gone_of(tree: Tree, step: str, known: Record) -> tuple[str, ...]:
    artifact = STEP[step].artifact
    if not exists(tree, artifact):
        return (artifact,)
    claim = claim_of(tree, (known,), step)
    return claim.gone if claim else ()


def _approved(tree: Tree, known: Record, path: str) -> str:
    by, back = known.person or "somebody", tree.to_restore(path)
    way = f": bring it back with `{back}`" if back else ""
    return f"{by} approved it on {known.when[:10]}, and it is gone{way}"


def _missed(tree: Tree, named: Mapping[str, Record], why: str, phases: list[str]) -> Iterator[Gap]:
    for path, record in named.items():
        if not _is_somewhere(tree, path, phases):
            sentence = why.format(record.person or "somebody")
            yield Gap(record.step, record.round, path, sentence, path)
