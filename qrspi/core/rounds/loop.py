"""Where a review loop stands: the newest round's stage, derived from its files.

`closed` is tested first, then the stages from top to bottom; the first that holds wins.
"""

from collections.abc import Iterator
from typing import NamedTuple

from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths, is_dropping, looks_like_round, pause_file, rounds_in
from qrspi.core.model import Problem, Round, Stage, Triaged
from qrspi.core.pipeline import Subject
from qrspi.core.records import step_text as bodies
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.rounds.pause_file import Pause
from qrspi.core.tree import Entry, Fault, Tree


class Failure(NamedTuple):
    """One reason for the failure menu."""

    diagnostic: str
    code: str
    skippable: bool
    tag: str = ""
    file: str = ""


class Loop(NamedTuple):
    subject: Subject
    stage: Stage = "none"
    number: int = 0  # the newest round; 0 when there is none
    highest: int = 0  # the highest number in the directory, whoever's round it is
    because: tuple[str, ...] = ()
    paths: RoundPaths = RoundPaths("", 0)
    manifest: Manifest | None = None
    round: Round | None = None
    triaged: tuple[Triaged, ...] = ()
    pause: Pause | None = None
    skipped: bool = False  # a person chose to go on without scores
    clean: bool = False
    fresh: bool = False  # the text is the one this round reviewed
    failures: tuple[Failure, ...] = ()
    problem: Problem | None = None  # why nothing can be said of the round
    warnings: tuple[Problem, ...] = ()

    @property
    def kept(self) -> int:
        return sum(item.verdict != "drop" for item in self.triaged)

    @property
    def dropped(self) -> int:
        return sum(item.verdict == "drop" for item in self.triaged)

    @property
    def to_apply(self) -> tuple[Triaged, ...]:
        """Kept findings that are applied: the automatic ones and those a person chose."""
        decisions = self.pause.decisions if self.pause else {}
        return tuple(
            item
            for item in self.triaged
            if item.verdict == "keep" or decisions.get(item.finding.name) == "apply"
        )


SHARED = "reviews/integration"
SKIPPABLE = ("missing_output", "missing_sidecar", "verify_failed", "bad_scope_set")


def rounds(tree: Tree, subject: Subject) -> tuple[int, ...]:
    """The subject's rounds that hold something, in order."""
    return tuple(reversed(tuple(_own(tree, subject))))


def newest(tree: Tree, subject: Subject) -> int:
    """The last of them, without a look at those before it; 0 when there is none."""
    return next(_own(tree, subject), 0)


def highest(tree: Tree, subject: Subject) -> int:
    """The highest round in the directory, whoever's it is; 0 when there is none."""
    return next(_descending(tree, subject), 0)


def _own(tree: Tree, subject: Subject) -> Iterator[int]:
    numbers = _descending(tree, subject)
    if subject.reviews != SHARED:
        return numbers
    return (number for number in numbers if not is_of_another(tree, subject, number))


def is_of_another(tree: Tree, subject: Subject, number: int) -> bool:
    """A directory shared by two subjects is told apart by the manifests."""
    return subject.reviews == SHARED and _owner(tree, subject, number) != subject.key


def _descending(tree: Tree, subject: Subject) -> Iterator[int]:
    entries = tree.entries(subject.reviews)
    numbers = () if isinstance(entries, Fault) else rounds_in(entries)
    return (number for number in reversed(numbers) if _holds(tree, subject, number))


def _holds(tree: Tree, subject: Subject, number: int) -> bool:
    entries = tree.entries(RoundPaths(subject.reviews, number).directory)
    return isinstance(entries, Fault) or any(not is_dropping(entry.name) for entry in entries)


def _owner(tree: Tree, subject: Subject, number: int) -> str:
    path = RoundPaths(subject.reviews, number).manifest
    found = manifests.read(tree.read(path, manifests.LIMIT), path)
    return found.step if isinstance(found, Manifest) else "integrate"


def evaluate(tree: Tree, subject: Subject, config: Config, base: int = 0) -> Loop:
    """The stage of the subject's newest round. Rounds up to `base` belong to an earlier loop."""
    outline = _outline(tree, subject)
    number = newest(tree, subject) if subject.reviews == SHARED else outline.highest
    if number:
        return _with_stage(tree, _read_one(tree, outline, config, number), config, base)
    return outline._replace(because=(f"there is no review round in {subject.reviews}",))


def at(tree: Tree, subject: Subject, config: Config, number: int, base: int = 0) -> Loop:
    """One round of the subject, the newest or not; one that a later round follows is closed."""
    loop = _read_one(tree, _outline(tree, subject), config, number)
    if number < newest(tree, subject):
        return loop._replace(stage="closed", because=("a later round follows",))
    return _with_stage(tree, loop, config, base)


def _read_one(tree: Tree, outline: Loop, config: Config, number: int) -> Loop:
    paths = RoundPaths(outline.subject.reviews, number)
    return _read(tree, outline._replace(number=number, paths=paths), config)


def _outline(tree: Tree, subject: Subject) -> Loop:
    return Loop(subject, highest=highest(tree, subject), warnings=odd_names(tree, subject))


def odd_names(tree: Tree, subject: Subject) -> tuple[Problem, ...]:
    entries = tree.entries(subject.reviews)
    if isinstance(entries, Fault):
        return ()
    numbers = rounds_in(entries)
    good = {RoundPaths("", number).directory[1:] for number in numbers}
    odd = [
        Problem(
            "odd-round-name",
            f"{subject.reviews}/{entry.name} is not a round: expected a directory round-NN",
            file=f"{subject.reviews}/{entry.name}",
        )
        for entry in entries
        if looks_like_round(entry.name) and entry.name not in good
    ]
    return (*odd, *_gaps(subject, numbers))


def _gaps(subject: Subject, numbers: tuple[int, ...]) -> tuple[Problem, ...]:
    """One line a gap, however wide: a stray `round-9999` must not flood the page."""
    problems = []
    for before, after in zip((0, *numbers), numbers, strict=False):
        first, last = before + 1, after - 1
        if first <= last:
            which = (
                f"round {first:02d} is" if first == last else f"rounds {first:02d}-{last:02d} are"
            )
            text = f"{subject.reviews}: {which} missing below round {after:02d}"
            problems.append(Problem("round-gap", text, file=subject.reviews))
    return tuple(problems)


def _read(tree: Tree, loop: Loop, config: Config) -> Loop:
    """Everything the newest round's files say, before a stage is named."""
    # Only a run with a round pays for reading findings.
    from qrspi.core.findings import guard, triage

    path = loop.paths.manifest
    manifest = manifests.read(tree.read(path, manifests.LIMIT), path)
    if isinstance(manifest, Problem):
        return loop._replace(problem=manifest)
    read = guard.read_round(tree, loop.subject, loop.number, config, manifest)
    skipped = _is_there(tree, loop.paths.skipped)
    verifier = config.verifier_enabled is not False
    triaged = triage.partition(read, verifier_enabled=verifier, skipped=skipped)
    pause_path = pause_file(loop.subject.key, loop.number)
    pause = pauses.read(tree.read(pause_path), pause_path)
    return loop._replace(
        manifest=manifest,
        round=read,
        skipped=skipped,
        triaged=triaged,
        pause=pauses.of_round(pause, triaged) if isinstance(pause, Pause) else None,
        problem=pause if isinstance(pause, Problem) else None,
        fresh=_is_fresh(tree, loop.subject, manifest),
        warnings=loop.warnings + read.warnings,
    )


def _is_fresh(tree: Tree, subject: Subject, manifest: Manifest | None) -> bool:
    return manifest is not None and manifest.body_hash == bodies.body_hash(tree, subject)


def _is_there(tree: Tree, path: str) -> bool:
    found = tree.head(path)
    return not (isinstance(found, Fault) and found.kind == "absent")


def _with_stage(tree: Tree, loop: Loop, config: Config, base: int) -> Loop:
    if loop.problem:
        return loop._replace(stage="guarded", because=(loop.problem.message,))
    disposed = _is_there(tree, loop.paths.dispositions)
    anchored = not tree.in_git or _is_there(tree, loop.paths.anchor)
    if disposed and anchored:
        return loop._replace(stage="closed", because=("its dispositions are on record",))
    if _is_there(tree, loop.paths.flag) or _left_by_loop_back(loop):
        return loop._replace(stage="abandoned", because=("a loop back left this round",))
    loop = _review_stage(tree, loop, config) or _fix_stage(loop, disposed)
    if loop.number <= base and loop.stage != "closed":
        return loop._replace(stage="abandoned", because=("it belongs to an earlier loop",))
    return loop


def _left_by_loop_back(loop: Loop) -> bool:
    return loop.pause is not None and "loop-back" in loop.pause.decisions.values()


def _review_stage(tree: Tree, loop: Loop, config: Config) -> Loop | None:
    """The stages up to `scored`; None when the round is assembled."""
    read = loop.round
    assert read is not None
    loop = loop._replace(failures=failures(tree, loop, config))
    if read.silent_tags and not loop.skipped:
        return loop._replace(stage="reviewing", because=_silent(read.silent_tags))
    if read.violations:
        first = f"{len(read.violations)} thing(s) in the round break its contract"
        return loop._replace(stage="guarded", because=(first, read.violations[0].message))
    verifying = config.verifier_enabled is not False and not loop.skipped
    if verifying and read.unscored:
        count = len(read.unscored)
        return loop._replace(stage="verifying", because=(f"{count} finding(s) have no score yet",))
    if loop.failures and not loop.skipped:
        return loop._replace(stage="failed", because=(loop.failures[0].diagnostic,))
    if stale := _stale(tree, loop, config):
        return loop._replace(stage="scored", because=(stale,))
    return None


def _silent(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{tag} has written nothing yet" for tag in tags)


def failures(tree: Tree, loop: Loop, config: Config) -> tuple[Failure, ...]:
    """Everything that puts the round before the failure menu, in the guard's order."""
    from qrspi.core.findings import guard

    if loop.round is None:
        return ()
    verifier = config.verifier_enabled is not False and not loop.skipped
    found = [_failure(item) for item in guard.violations(loop.round, verifier_enabled=verifier)]
    failed = [item for item in found if item.code == "verify_failed"]
    others = [item for item in found if item.code != "verify_failed"]
    if failed and not loop.skipped:
        line = f"Verifier returned VERIFY_FAILED for {len(failed)} findings"
        others.append(Failure(line, "verify_failed", True))
    if bad := bad_scope_set(tree, loop, config):
        others.append(Failure(bad, "bad_scope_set", True, file=loop.paths.scope_set))
    return tuple(item for item in others if not (loop.skipped and item.skippable))


def _failure(problem: Problem) -> Failure:
    from qrspi.core.findings import guard

    tag = guard.blamed(problem)
    return Failure(problem.message, problem.code, problem.code in SKIPPABLE, tag, problem.file)


def tags_scope(loop: Loop, config: Config) -> bool:
    return config.scope_tagger_enabled is not False and loop.subject.key != "test"


def bad_scope_set(tree: Tree, loop: Loop, config: Config) -> str:
    """Why the round's scope set cannot be used; '' when it can or when there is none."""
    if not tags_scope(loop, config):
        return ""
    data = tree.read(loop.paths.scope_set)
    if isinstance(data, Fault):
        if data.kind == "absent":
            return ""
        reason = f"{data.kind} {data.detail}".strip()
    else:
        from qrspi.core.rounds import scope_set as scope

        read = scope.read(data)
        if not isinstance(read, Problem):
            return ""
        reason = read.message
    return f"Scope-tagger emitted malformed scope-set for round {loop.number:02d}: {reason}"


def _stale(tree: Tree, loop: Loop, config: Config) -> str:
    """What the engine has still to write for this round; '' when nothing."""
    data = tree.read(loop.paths.verified)
    if isinstance(data, Fault) or data != assembled(loop, config):
        return "the verified file is missing or stale"
    if tags_scope(loop, config) and scope_set_is_stale(tree, loop):
        return "the scope set is missing or stale"
    if pauses.waiting(loop.triaged) and loop.pause is None:
        return "findings wait for a person and the pause file is not written"
    return ""


def assembled(loop: Loop, config: Config) -> bytes:
    from qrspi.core.rounds import verified_file as verified

    assert loop.round is not None
    enabled = "false" if config.verifier_enabled is False else "true"
    return verified.assemble(loop.round, loop.triaged, enabled)


def scope_set_is_stale(tree: Tree, loop: Loop) -> bool:
    data = tree.read(loop.paths.scope_set)
    if isinstance(data, Fault):
        return True
    from qrspi.core.rounds import scope_set as scope

    read = scope.read(data)
    return not isinstance(read, Problem) and scope.is_stale(read, loop.kept)


def _fix_stage(loop: Loop, disposed: bool) -> Loop:
    read = loop.round
    assert read is not None
    if loop.kept == 0:
        clean = not loop.skipped and not read.silent_tags
        word = "no finding was kept" if clean else "a person chose to go on without reviews"
        return loop._replace(stage="closed", clean=clean, because=(word,))
    if loop.pause and loop.pause.undecided:
        names = ", ".join(loop.pause.undecided)
        return loop._replace(stage="paused", because=(f"undecided: {names}",))
    if loop.to_apply and not disposed:
        count = len(loop.to_apply)
        return loop._replace(stage="fixing", because=(f"{count} finding(s) are to be applied",))
    return loop._replace(stage="committing", because=("the round's work is not on record yet",))


def entries_or_none(tree: Tree, path: str) -> tuple[Entry, ...]:
    found = tree.entries(path)
    return () if isinstance(found, Fault) else found
