"""Where a review loop stands: its newest round, taken through manifest, guard, triage and pause
file to its stage. `closed` is tested first, then the stages in their order; the first that holds
wins."""

from collections.abc import Iterable, Iterator, Sequence

from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths, pause_file
from qrspi.core.model import Code, Problem, Round, Stage, Triaged, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CODE_STEPS, Subject
from qrspi.core.records import decisions, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.records.decisions import RoundDecisions
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds import round_list
from qrspi.core.rounds.manifest import Manifest, Opening
from qrspi.core.rounds.pause_file import Pause
from qrspi.core.tree import Fault, Tree, exists


class Loop(NamedTuple):
    subject: Subject
    stage: Stage = "none"
    round: int = 0  # the newest; 0 when there is none
    highest: int = 0  # the highest number in the directory, whoever's round it is
    because: tuple[str, ...] = ()
    paths: RoundPaths = RoundPaths("", 0)
    manifest: Manifest | None = None
    files: Round | None = None  # of this round, read
    triaged: tuple[Triaged, ...] = ()
    pause: Pause | None = None
    skipped: bool = False  # it goes on without scores, as its skip marker says
    clean: bool = False
    fresh: bool = False  # the text is the one this round reviewed
    moved: str = ""  # how the code has changed since
    failures: tuple[Problem, ...] = ()  # why the round gets the failure menu
    problem: Problem | None = None  # why nothing can be said about the round
    warnings: tuple[Problem, ...] = ()
    verified: bytes = b""  # of the verified file, as soon as the round can be assembled
    decided: RoundDecisions = RoundDecisions()  # what people decided about it, on record
    opening: Opening = "opened"  # whether the engine opened it, by its records
    imported: bool = False  # made elsewhere: unproven, and never clean
    choice: str = ""  # what is to become of it, as its import says

    @property
    def is_proven(self) -> bool:
        return self.opening in ("opened", "adopted")

    @property
    def taken_over(self) -> bool:
        """Its findings are scored and applied, although nobody here asked for them."""
        return self.imported and self.choice == "take-over"

    @property
    def kept(self) -> int:
        return sum(item.verdict != "drop" for item in self.triaged)

    @property
    def left(self) -> tuple[str, ...]:
        """The kept findings that a person leaves as they are."""
        return self.pause.skipped if self.pause else ()

    @property
    def dropped(self) -> int:
        return sum(item.verdict == "drop" for item in self.triaged)

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The findings that the pause file decides but no record does."""
        choices = self.pause.decisions.items() if self.pause else ()
        return tuple(
            name
            for name, choice in choices
            if choice != "pending" and not self.decided.proves(name, choice)
        )

    @property
    def settled(self) -> bool:
        """Whether a person decided about each kept finding and wants none applied."""
        if self.stage != "closed" or self.pause is None or self.to_apply or not self.kept:
            return False
        return self.is_proven and not self.pause.undecided and not self.unrecorded

    def nothing_open(self, commit: str) -> str:
        """Why no finding is open any more; '' while one is, or nobody looked. `commit` is a task's
        newest."""
        if self.stage != "closed" or self.imported or self.unrecorded:
            return ""
        if commit and self.manifest and self.manifest.commit not in ("", commit):
            return f"a commit after round {self.round} answers its findings; nobody has reviewed it"
        return "" if self.to_apply else f"round {self.round} has no finding that is still open"

    @property
    def answered(self) -> tuple[str, ...]:
        """The reviewers with a finding or a sentinel that could be read."""
        if self.files is None:
            return ()
        findings, clean = self.files.findings, self.files.cleans
        return tuple(sorted({finding.tag for finding in findings} | {one.tag for one in clean}))

    @property
    def is_renewable(self) -> bool:
        """Nobody has looked at the text yet and it changed after the round was opened; or nothing
        proves that it was opened, as after a kill between its manifest and the trail."""
        waits = self.stage == "reviewing" and self.files is not None and not self.answered
        stale = self.is_outdated or not self.is_proven
        return waits and stale and not (self.files and self.files.unfinished)

    @property
    def is_outdated(self) -> bool:
        """Code steps compare commits instead of texts."""
        written = not self.subject.is_task and self.subject.step not in CODE_STEPS
        return written and self.manifest is not None and not self.fresh

    @property
    def to_apply(self) -> tuple[Triaged, ...]:
        """Kept findings that are applied: the automatic ones and those that a person chose."""
        decisions = self.pause.decisions if self.pause else {}
        return tuple(
            item
            for item in self.triaged
            if item.verdict == "keep" or decisions.get(item.finding.name) == "apply"
        )


# What a person may go on without.
SKIPPABLE: tuple[Code, ...] = (
    "missing_output",
    "missing_sidecar",
    "verify_failed",
    "bad_scope_set",
)


def evaluate(
    tree: Tree, subject: Subject, config: Config, base: int = 0, records: Sequence[Record] = ()
) -> Loop:
    """Rounds up to `base` belong to an earlier loop."""
    outline = _outline(tree, subject)
    if number := round_list.newest(tree, subject):
        return _newest(tree, outline, config, number, base, records)
    return outline._replace(because=(f"there is no review round in {subject.reviews}",))


def at(
    tree: Tree,
    subject: Subject,
    config: Config,
    number: int,
    base: int = 0,
    records: Sequence[Record] = (),
) -> Loop:
    return next(each(tree, subject, config, (number,), base, records))


def each(
    tree: Tree,
    subject: Subject,
    config: Config,
    numbers: Iterable[int],
    base: int = 0,
    records: Sequence[Record] = (),
) -> Iterator[Loop]:
    """Several rounds, with one look at which exist. One that a later one follows is closed."""
    outline, newest = _outline(tree, subject), round_list.newest(tree, subject)
    for number in numbers:
        if number >= newest:
            yield _newest(tree, outline, config, number, base, records)
            continue
        loop = _decided(_read(tree, outline, config, number, None), records)
        later = "closed by a later round" if loop.imported else "a later round follows"
        yield loop._replace(stage="closed", because=(later,))


def _newest(
    tree: Tree, outline: Loop, config: Config, number: int, base: int, records: Sequence[Record]
) -> Loop:
    loop = _decided(_read(tree, outline, config, number, records), records)
    return _with_code(tree, _with_stage(tree, loop, config, base), config)


def _with_code(tree: Tree, loop: Loop, config: Config) -> Loop:
    about_code = loop.subject.key in ("integrate", "test")
    if not about_code or loop.stage != "closed" or loop.to_apply or not loop.manifest:
        return loop
    from qrspi.core.rounds import code_changes

    moved = code_changes.since(tree, config, loop.manifest.commit)
    return loop._replace(moved=moved, fresh=loop.fresh and not moved)


def _decided(loop: Loop, records: Sequence[Record]) -> Loop:
    if not (loop.skipped or loop.pause or loop.imported):
        return loop
    return loop._replace(decided=decisions.of_round(records, loop.subject.key, loop.round))


def _outline(tree: Tree, subject: Subject) -> Loop:
    highest = round_list.highest(tree, subject)
    return Loop(subject, highest=highest, warnings=round_list.odd_names(tree, subject))


def _read(
    tree: Tree, outline: Loop, config: Config, number: int, records: Sequence[Record] | None
) -> Loop:
    """Without records nobody asks who opened the round: one that others followed is history."""
    paths = RoundPaths(outline.subject.reviews, number)
    loop = _with_manifest(tree, outline._replace(round=number, paths=paths), config, records)
    if loop.problem:
        return loop
    if loop.manifest and records is not None:
        loop = _with_losses(tree, loop)
    loop = _with_findings(tree, loop, config, current=records is not None)
    if not loop.imported:
        return loop
    from qrspi.core.rounds import provenance

    return provenance.taken_in(tree, loop)


def _with_manifest(
    tree: Tree, loop: Loop, config: Config, records: Sequence[Record] | None
) -> Loop:
    path = loop.paths.manifest
    data = tree.read(path, manifests.LIMIT)
    manifest = manifests.read(data, path)
    if not isinstance(manifest, Manifest):
        # Every round of the engine's own has a manifest.
        from qrspi.core.records import import_record

        if import_record.lists(tree, loop.paths):
            return loop._replace(imported=True)
    if isinstance(manifest, Problem):
        if manifests.is_other(manifest):
            return loop._replace(warnings=(*loop.warnings, manifest))
        return loop._replace(problem=manifest)
    loop = loop._replace(manifest=manifest)
    if manifest is None or isinstance(data, Fault) or records is None:
        return loop
    loop = loop._replace(opening=manifests.opening(tree, path, data, manifest, records))
    return loop if loop.is_proven else manifests.unproven(tree, loop, config, records)


def _with_losses(tree: Tree, loop: Loop) -> Loop:
    from qrspi.core.records import vanished

    gone = vanished.from_round(tree, loop.paths.directory)
    lost = vanished.in_the_way(gone, loop.paths.directory)
    return loop._replace(warnings=(*loop.warnings, *gone), problem=lost)


def _with_findings(tree: Tree, loop: Loop, config: Config, *, current: bool) -> Loop:
    # Only a run with a round pays for reading findings.
    from qrspi.core.findings import guard, triage

    subject, number, reviewed = loop.subject, loop.round, loop.manifest
    read = guard.read_round(tree, subject, number, config, reviewed, elsewhere=loop.imported)
    if config.evidence == "dispatched" and current:
        from qrspi.core.rounds import provenance

        read = provenance.only_dispatched(tree, read)
    skipped = exists(tree, loop.paths.skipped)
    triaged = triage.partition(read, verifier_enabled=config.verifies, skipped=skipped)
    path = pause_file(subject.key, number)
    pause = pauses.read(tree.read(path), path)
    return loop._replace(
        files=read,
        skipped=skipped,
        triaged=triaged,
        pause=pauses.of_round(pause, triaged) if isinstance(pause, Pause) else None,
        problem=pause if isinstance(pause, Problem) else loop.problem,
        fresh=reviewed is not None and step_text.is_unchanged(tree, subject, reviewed.body_hash),
        warnings=loop.warnings + read.warnings,
    )


def _with_stage(tree: Tree, loop: Loop, config: Config, base: int) -> Loop:
    if loop.imported and not loop.taken_over:
        from qrspi.core.rounds import provenance

        return provenance.with_stage(tree, loop)
    disposed = exists(tree, loop.paths.dispositions)
    if disposed and (not tree.in_git or exists(tree, loop.paths.anchor)):
        return loop._replace(stage="closed", because=("its dispositions are on record",))
    if loop.problem:
        return loop._replace(stage="guarded", because=(loop.problem.message,))
    loop = _review_stage(tree, loop, config)
    went_back = loop.pause is not None and "loop-back" in loop.pause.decisions.values()
    if went_back or exists(tree, loop.paths.flag):
        return loop._replace(stage="abandoned", because=("a loop back left this round",))
    loop = _fix_stage(loop, disposed) if loop.stage == "none" else loop
    if loop.round <= base and loop.stage != "closed":
        return loop._replace(stage="abandoned", because=("it belongs to an earlier loop",))
    if not (loop.is_proven or loop.is_renewable):
        return loop._replace(stage="guarded", clean=False, because=(manifests.doubt(loop),))
    return _with_word_on_changes(loop)


def _with_word_on_changes(loop: Loop) -> Loop:
    """Until findings are applied, nobody changes the text because of the round."""
    early = loop.stage in ("reviewing", "guarded", "verifying")
    if not (early and loop.is_outdated and loop.answered):
        return loop
    artifact, names = loop.subject.artifact, ", ".join(loop.answered)
    text = (
        f"{artifact} has changed since round {loop.round} was opened: what {names} wrote is about "
        "the earlier text and does not count as a review of this one; another round will follow"
    )
    return loop._replace(warnings=(*loop.warnings, Problem("text-changed", text, artifact)))


def _review_stage(tree: Tree, loop: Loop, config: Config) -> Loop:
    """The stages up to `scored`; `none` when everything is assembled."""
    read = loop.files
    assert read is not None
    loop = loop._replace(failures=_failures(tree, loop, config))
    if read.violations:
        return loop._replace(stage="guarded", because=tuple(v.message for v in read.violations))
    if read.silent_tags and not loop.skipped:
        silent = tuple(f"{tag} has written nothing yet" for tag in read.silent_tags)
        return loop._replace(stage="reviewing", because=silent)
    if read.unscored and config.verifies and not loop.skipped:
        count = counted(len(read.unscored), "finding")
        return loop._replace(stage="verifying", because=(f"{count} without a score so far",))
    from qrspi.core.rounds import verified_file

    verifies = "true" if config.verifies else "false"
    loop = loop._replace(verified=verified_file.assemble(read, loop.triaged, verifies))
    if loop.failures and not loop.skipped:
        return loop._replace(stage="failed", because=(loop.failures[0].message,))
    if unwritten := _unwritten(tree, loop, config):
        return loop._replace(stage="scored", because=(unwritten,))
    return loop


def _failures(tree: Tree, loop: Loop, config: Config) -> tuple[Problem, ...]:
    """In the guard's order. Failed scores share one line."""
    assert loop.files is not None
    failures = [item for item in loop.files.blocking if item.code != "verify_failed"]
    if failed := len(loop.files.blocking) - len(failures):
        line = f"Verifier returned VERIFY_FAILED for {failed} findings"
        failures.append(Problem("verify_failed", line))
    if bad := _bad_scope_set(tree, loop, config):
        failures.append(bad)
    return tuple(item for item in failures if not (loop.skipped and item.code in SKIPPABLE))


def keeps_scope_set(subject: Subject, config: Config) -> bool:
    return config.tags_scope and subject.key != "test"


def _bad_scope_set(tree: Tree, loop: Loop, config: Config) -> Problem | None:
    if not keeps_scope_set(loop.subject, config) or loop.imported:
        return None
    data = tree.read(loop.paths.scope_set)
    if isinstance(data, Fault) and data.kind == "absent":
        return None
    from qrspi.core.rounds import scope_set

    scopes = scope_set.load(data)
    return scope_set.malformed(loop.paths, scopes) if isinstance(scopes, Problem) else None


def _unwritten(tree: Tree, loop: Loop, config: Config) -> str:
    """What the engine has still to write for this round; '' when nothing."""
    verified = tree.read(loop.paths.verified)
    # Files of a round from elsewhere stay as they are.
    if verified != loop.verified and not (loop.imported and isinstance(verified, bytes)):
        return "the verified file is missing or stale"
    if keeps_scope_set(loop.subject, config) and _lacks_scope_set(tree, loop):
        return "the scope set is missing or stale"
    if pauses.waiting(loop.triaged) and loop.pause is None:
        return "findings wait for a person and the pause file is not written"
    return ""


def _lacks_scope_set(tree: Tree, loop: Loop) -> bool:
    data = tree.read(loop.paths.scope_set)
    if isinstance(data, Fault) or loop.imported:
        return isinstance(data, Fault)
    from qrspi.core.rounds import scope_set

    scopes = scope_set.read(data)
    return not isinstance(scopes, Problem) and scope_set.is_stale(scopes, loop.kept)


def _fix_stage(loop: Loop, disposed: bool) -> Loop:
    if loop.kept == 0:
        why = f"{loop.paths.skipped} is there" if loop.skipped else "no finding was kept"
        clean = not (loop.skipped or loop.imported)
        return loop._replace(stage="closed", clean=clean, because=(why,))
    if loop.pause and loop.pause.undecided:
        names = ", ".join(loop.pause.undecided)
        return loop._replace(stage="paused", because=(f"undecided: {names}",))
    if loop.to_apply and not disposed:
        count = counted(len(loop.to_apply), "finding")
        return loop._replace(stage="fixing", because=(f"{count} to be applied",))
    return loop._replace(stage="committing", because=("the round's work is not on record yet",))
