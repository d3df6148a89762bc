"""A round's files, read as a whole: what counts, what is missing, and every violation at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from qrspi.core import reviewers as matrix
from qrspi.core.filenames import Dropping, RoundFile, RoundPaths, parse_round_file
from qrspi.core.findings import engine_files as enginefiles
from qrspi.core.findings import score as sidecars
from qrspi.core.findings import visual_excuse as visual
from qrspi.core.findings.engine_files import Judgement
from qrspi.core.findings.round_files import Intake, tag_of
from qrspi.core.findings.submission import Place
from qrspi.core.findings.violations import HINTS, Notes, in_order, shown
from qrspi.core.model import SCORED_TYPES, Finding, Problem, Round, Sidecar
from qrspi.core.pipeline import Subject
from qrspi.core.pipeline import subject as subject_named
from qrspi.core.tree import ROUND_FILES_LIMIT, Entry, Fault, Tree

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config
    from qrspi.core.rounds.manifest import Manifest


def read_round(
    tree: Tree, subject: Subject, number: int, config: Config, manifest: Manifest | None
) -> Round:
    """What is only missing (an output, a score, a score that failed) is no violation yet:
    `violations` adds it, and a round that is still awaited is told apart by it."""
    reviewed = _reviewed(subject, manifest)
    expected = _expected(tree, reviewed, config, manifest)
    paths = RoundPaths(subject.reviews, number)
    notes = Notes(strict=config.guard == "strict")
    files = _files(tree, paths, notes)
    if files is None:
        return _unread(number, expected, paths, notes)
    intake = Intake(tree, paths, Place(reviewed, number), notes)
    intake.take_all(files)
    _compare(intake, matrix.routed_tags(reviewed, config) | frozenset(expected))
    recorded = manifest.engine_files if manifest else None
    judgement = enginefiles.judge(intake.engine_files, recorded, number)
    return _round(reviewed, intake, judgement, expected, paths, notes)


def _reviewed(subject: Subject, manifest: Manifest | None) -> Subject:
    """Two subjects share one directory of reviews; its manifest says which one this is."""
    other = subject_named(manifest.step) if manifest else None
    return other if other and other.reviews == subject.reviews else subject


def _expected(
    tree: Tree, subject: Subject, config: Config, manifest: Manifest | None
) -> tuple[str, ...]:
    if manifest:
        return manifest.expected_tags
    return matrix.expected_tags(subject, config, visual=visual.is_expected(tree, subject, config))


def _files(tree: Tree, paths: RoundPaths, notes: Notes) -> list[tuple[Entry, RoundFile]] | None:
    """None, with a violation noted, when the round is not to be read at all."""
    page = notes.about(paths.directory)
    entries = tree.entries(paths.directory)
    if isinstance(entries, Fault):
        if entries.kind == "absent":
            return []
        code = "not_a_file" if entries.kind == "not-a-file" else "unreadable"
        found = entries.detail or entries.kind
        page.violation(code, f"cannot be listed ({found})", found=found, expected="a directory")
        return None
    named = [(entry, parse_round_file(entry.name)) for entry in entries]
    files = [pair for pair in named if not isinstance(pair[1], Dropping)]
    if len(files) <= ROUND_FILES_LIMIT:
        return files
    limit = f"at most {ROUND_FILES_LIMIT}"
    text = f"{len(files)} files in one round; expected {limit}"
    page.violation("too_large", text, found=str(len(files)), expected=limit)
    return None


def _unread(number: int, expected: tuple[str, ...], paths: RoundPaths, notes: Notes) -> Round:
    return Round(
        number, (), {}, (), expected, in_order(notes.violations), directory=paths.directory
    )


def _round(
    reviewed: Subject,
    intake: Intake,
    judgement: Judgement,
    expected: tuple[str, ...],
    paths: RoundPaths,
    notes: Notes,
) -> Round:
    found = sorted(intake.findings, key=lambda one: (one.tag, one.number, one.file))
    scored = {one.stem: intake.sidecars.get(one.stem) for one in found}
    heard = {*intake.finding_files.values(), *intake.clean_files.values(), *judgement.excused}
    awaited = dict.fromkeys((*expected, *sorted(judgement.doubted)))
    heard |= matrix.optional_tags(reviewed)  # sent or not, they are never missing
    return Round(
        number=paths.number,
        findings=tuple(found),
        sidecars={stem: sidecar for stem, sidecar in scored.items() if sidecar},
        cleans=tuple(sorted(intake.cleans, key=lambda one: (one.tag, one.file))),
        expected_tags=expected,
        violations=in_order(notes.violations),
        warnings=tuple(notes.warnings),
        silent_tags=tuple(tag for tag in awaited if tag not in heard),
        unscored=tuple(one.stem for one in found if _needs_score(one, intake.scoring)),
        unfinished=tuple(intake.unfinished),
        directory=paths.directory,
        bypasses=judgement.bypasses,
    )


def _needs_score(finding: Finding, scoring: Mapping[str, list[str]]) -> bool:
    return finding.effective_type in SCORED_TYPES and finding.stem not in scoring


def _compare(intake: Intake, routed: frozenset[str]) -> None:
    """What shows only when the files are put side by side."""
    _note_repeated_ids(intake)
    _note_doubtful_scores(intake)
    _note_contradictions(intake)
    _note_strangers(intake, routed)


def _note_repeated_ids(intake: Intake) -> None:
    first: dict[str, str] = {}
    for finding in intake.findings:
        other = first.setdefault(finding.name, finding.file)
        if other != finding.file:
            found = shown(finding.finding_id)
            intake.page(finding.file).violation(
                "duplicate_finding_id",
                f"finding_id is '{found}', as in {other}; expected an id of its own",
                field="finding_id",
                found=found,
                expected="an id that no other finding of this reviewer has",
            )


def _note_doubtful_scores(intake: Intake) -> None:
    for stem, names in intake.scoring.items():
        if len(names) > 1:
            both = " and ".join(names)
            intake.page(names[0]).violation(
                "ambiguous_sidecar",
                f"one finding has the sidecars {both}; expected one",
                found=both,
                expected="one sidecar for each finding",
            )
        if stem not in intake.finding_files:
            text = f"there is no finding {stem}.md; the score is left alone"
            intake.page(names[0]).warning("orphan_sidecar", text, expected=f"{stem}.md")


def _note_contradictions(intake: Intake) -> None:
    with_findings = frozenset(intake.finding_files.values())
    for name, tag in intake.clean_files.items():
        if tag in with_findings:
            text = f"says clean beside findings of {tag}; the findings count"
            intake.page(name).warning("contradictory_clean", text, found=name)


def _note_strangers(intake: Intake, routed: frozenset[str]) -> None:
    expected = f"one of {', '.join(sorted(routed))}"
    for name, tag in intake.tags():
        if tag not in routed:
            text = f"'{tag}' does not review here; expected {expected}"
            intake.page(name).violation("unrouted_tag", text, found=tag, expected=expected)


def violations(round: Round, *, verifier_enabled: bool) -> tuple[Problem, ...]:
    """Everything that keeps the round from being assembled, what is missing included."""
    found = [*round.violations, *(_missing_output(round, tag) for tag in round.silent_tags)]
    if verifier_enabled:
        found += _without_score(round)
    return in_order(found)


def blamed(problem: Problem) -> str:
    """The reviewer whose output a violation is about; empty when it is nobody's."""
    if problem.code == "missing_output":
        return problem.found
    return tag_of(parse_round_file(problem.file.rpartition("/")[2]))


def _without_score(round: Round) -> Iterator[Problem]:
    unscored = frozenset(round.unscored)
    for finding in round.findings:
        sidecar = round.sidecars.get(finding.stem)
        if finding.stem in unscored:
            yield _missing_sidecar(round, finding)
        elif sidecar and sidecar.score is None:
            yield _verify_failed(round, finding, sidecar)


def _missing_output(round: Round, tag: str) -> Problem:
    return Problem(
        "missing_output",
        f"Reviewer {tag} produced no output",
        file=round.directory,
        found=tag,
        expected=f"{tag}.finding-F01.md or {tag}.clean.md",
        hint=HINTS["missing_output"],
    )


def _missing_sidecar(round: Round, finding: Finding) -> Problem:
    return Problem(
        "missing_sidecar",
        f"Sidecar missing for finding {finding.name}",
        file=f"{round.directory}/{finding.file}",
        found=finding.name,
        expected=f"{finding.stem}.score.yml",
        hint=HINTS["missing_sidecar"],
    )


def _verify_failed(round: Round, finding: Finding, sidecar: Sidecar) -> Problem:
    return Problem(
        "verify_failed",
        f"Verifier returned {sidecars.FAILED} for finding {finding.name}",
        file=f"{round.directory}/{sidecar.file}",
        field="score",
        found=sidecars.FAILED,
        expected="a whole number from 0 to 100",
        hint=HINTS["verify_failed"],
    )
