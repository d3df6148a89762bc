"""What importing a folder would write, and what has to be asked first. Nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.config import reader as configs
from qrspi.core.config.problems import FILE as CONFIG
from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.filenames import RoundPaths
from qrspi.core.importing import config_import, foreign_rounds, import_page
from qrspi.core.importing.config_import import Planned, Question, Site
from qrspi.core.importing.foreign_rounds import ForeignRounds, Oddity
from qrspi.core.importing.import_page import Page, digest
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.records import import_record
from qrspi.core.records.import_record import CHOICES, Choice, ImportRecord
from qrspi.core.steps.stopped_rounds import is_to_be_taken_over
from qrspi.core.tree import BODY_LIMIT, CONFIG_LIMIT, Entry, Fault, Tree, TreeOver, content, entries


class ImportRequest(NamedTuple):
    when: str
    by: str
    source: str
    to_copy: bool = False  # what the folder says of an import is about another project
    answers: Mapping[str, str] = {}


class ImportPlan(NamedTuple):
    record: ImportRecord
    files: Mapping[str, bytes]  # to write, in this order
    found: ForeignRounds
    changes: tuple[str, ...]
    oddities: tuple[Oddity, ...]
    questions: tuple[Question, ...]
    after: Survey  # how the run stands then


class Overlay(TreeOver):
    def __init__(self, tree: Tree, files: Mapping[str, bytes]) -> None:
        super().__init__(tree)
        self._files = files

    def head(self, path: str) -> bytes | Fault:
        return self._files[path] if path in self._files else self._tree.head(path)

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        return self._files[path] if path in self._files else self._tree.read(path, limit)

    def tail(self, path: str, size: int) -> bytes | Fault:
        return self._files[path][-size:] if path in self._files else self._tree.tail(path, size)

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        listed = self._tree.entries(path)
        if path or isinstance(listed, Fault):
            return listed
        there = {entry.name for entry in listed}
        return (*listed, *(Entry(name, "file") for name in self._files if name not in there))


def make(tree: Tree, given: ImportRequest, hashes: Mapping[str, str]) -> ImportPlan | Problem:
    """`hashes` has the sha256 of every file that `foreign_rounds.look` lists."""
    foreign = foreign_rounds.look(tree, copied=given.to_copy)
    if isinstance(foreign, Problem):
        return foreign
    before = import_record.NOTHING if given.to_copy else import_record.of_run(tree)
    old = tree.read(CONFIG, CONFIG_LIMIT)
    if before.imported and isinstance(old, bytes) and _is_done(before, old):
        return _again(tree, old, before, foreign, given, hashes)
    settings = _config(tree, old, before, given)
    if isinstance(settings, Problem):
        return settings
    record = _record(before, foreign, given)._replace(
        config_before=before.config_before or ("" if isinstance(old, Fault) else digest(old)),
        config_after=digest(settings.data),
    )
    record, open_questions = _with_open(tree, record, settings.data, given.answers)
    after = _standing(tree, record, settings.data)
    odd = foreign_rounds.oddities(tree, foreign, configs.read(settings.data))
    page = Page(
        record=record,
        run=tree.name,
        changes=settings.changes,
        oddities=odd,
        adopted=tuple(one.artifact for one in after.state.steps if one.approval == "unrecorded"),
        standing=_sentence(after),
        old_config=None if isinstance(old, Fault) else old,
    )
    return ImportPlan(
        record=record,
        files={
            import_record.LISTING: import_page.listing(hashes),
            import_record.FILE: import_page.render(page),
            CONFIG: settings.data,
        },
        found=foreign,
        changes=settings.changes,
        oddities=odd,
        questions=(*settings.questions, *open_questions),
        after=after,
    )


def _is_done(before: ImportRecord, config: bytes) -> bool:
    """config.md is written last, if it is changed at all."""
    return (
        before.config_before in (before.config_after, "") or digest(config) != before.config_before
    )


def _again(
    tree: Tree,
    config: bytes,
    before: ImportRecord,
    foreign: ForeignRounds,
    given: ImportRequest,
    hashes: Mapping[str, str],
) -> ImportPlan:
    """Only rounds that were made elsewhere in the meantime are added; nothing else changes."""
    record, questions = _with_open(tree, _record(before, foreign, given), config, given.answers)
    new = {
        folder: tuple(one for one in numbers if one not in before.rounds.get(folder, ()))
        for folder, numbers in record.rounds.items()
    }
    new = {folder: numbers for folder, numbers in new.items() if numbers}
    return ImportPlan(
        record=record,
        files={} if record == before else _added(tree, record, new, given, hashes),
        found=foreign._replace(rounds=new),
        changes=(),
        oddities=foreign_rounds.oddities(tree, foreign._replace(rounds=new), configs.read(config)),
        questions=questions,
        after=_standing(tree, record, config),
    )


def _added(
    tree: Tree,
    record: ImportRecord,
    new: Mapping[str, tuple[int, ...]],
    given: ImportRequest,
    hashes: Mapping[str, str],
) -> dict[str, bytes]:
    page = tree.read(import_record.FILE)
    assert isinstance(page, bytes)
    known = import_page.read_listing(content(tree, import_record.LISTING))
    folders = tuple(
        f"{RoundPaths(folder, number).directory}/"
        for folder, numbers in new.items()
        for number in numbers
    )
    more = {path: one for path, one in hashes.items() if path.startswith(folders)}
    return {
        import_record.LISTING: import_page.listing({**known, **more}),
        import_record.FILE: import_page.added(page, record, new, given.when[:10]),
    }


def _config(
    tree: Tree, old: bytes | Fault, before: ImportRecord, given: ImportRequest
) -> Planned | Problem:
    """Done twice, since the step that the run stands at is known only when its route is."""
    name = tree.name[:10]
    dated = name[:4].isdecimal() and name[4:5] == "-" == name[7:8] and name[8:].isdecimal()
    day = name if dated else before.imported[:10] or given.when[:10]
    site = Site(day, frozenset(entry.name for entry in entries(tree, "")))
    first = config_import.plan(old, given.answers, site)
    if isinstance(first, Problem):
        return first
    step = _standing(tree, import_record.NOTHING, first.data).state.current_step or ""
    return config_import.plan(old, given.answers, site._replace(step=step))


def _record(before: ImportRecord, foreign: ForeignRounds, given: ImportRequest) -> ImportRecord:
    folders = sorted({*before.rounds, *foreign.rounds})
    rounds = {
        folder: tuple(sorted({*before.rounds.get(folder, ()), *foreign.rounds.get(folder, ())}))
        for folder in folders
    }
    if before.imported:
        return before._replace(rounds=rounds)
    return import_record.NOTHING._replace(
        imported=given.when, by=given.by, source=given.source, rounds=rounds
    )


def _standing(tree: Tree, record: ImportRecord, config: bytes) -> Survey:
    files = {CONFIG: config, import_record.FILE: import_record.head(record).encode()}
    return survey(Overlay(tree, files))


def _with_open(
    tree: Tree, record: ImportRecord, config: bytes, answers: Mapping[str, str]
) -> tuple[ImportRecord, tuple[Question, ...]]:
    """The newest round of the step that the run stands at may be open."""
    loop = _standing(tree, record, config).loop
    if loop is None or not loop.imported or loop.stage == "closed":
        return record, ()
    folder = loop.paths.directory
    if folder in record.open:
        return record, ()
    key = f"open.{loop.subject.key}"
    usual: Choice = "take-over" if is_to_be_taken_over(loop) else "close"
    answer = answers.get(key)
    chosen = next((one for one in CHOICES if one == answer), None)
    record = record._replace(open={**record.open, folder: chosen or usual})
    if chosen:
        return record, ()
    ask = f"What becomes of {folder}, which nothing closes?"
    return record, (Question(key, ask, CHOICES, usual),)


def _sentence(after: Survey) -> str:
    step = after.state.current_step
    if step is None:
        return "Every step of its route is approved."
    return f"It stands at {step} ({STEP[step].artifact})."
