"""A round's files, read as a whole: what counts, what is missing, and every violation at once."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core import filenames, reviewers
from qrspi.core.filenames import RoundFile, RoundPaths, parse_round_file
from qrspi.core.findings.round_files import Judgement, RoundFiles, tag_of
from qrspi.core.findings.submission import FAILED, HINTS, Notes, Place, in_order, shown
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import SCORED_TYPES, Code, Problem, Round
from qrspi.core.pipeline import Subject
from qrspi.core.pipeline import subject as subject_named
from qrspi.core.tree import ROUND_FILES_LIMIT, Entry, Fault, Tree

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config
    from qrspi.core.rounds.manifest import Manifest


def read_round(
    tree: Tree,
    subject: Subject,
    number: int,
    config: Config,
    manifest: Manifest | None,
    *,
    elsewhere: bool = False,
) -> Round:
    """A missing output or score is no violation: the round still waits for it, and is not
    assembled. Files of a round that was made `elsewhere` may have other names."""
    reviewed = _reviewed(subject, manifest)
    expected = manifest.expected_tags if manifest else due(tree, reviewed, config, manifest)
    paths = RoundPaths(subject.reviews, number)
    notes = Notes(strict=config.guard == "strict")
    listed = _listed(tree, paths, notes, elsewhere=elsewhere)
    if listed is None:
        violations = in_order(notes.violations)
        return Round(
            number=number,
            findings=(),
            sidecars={},
            cleans=(),
            expected_tags=expected,
            violations=violations,
            directory=paths.directory,
            blocking=violations,
        )
    files = RoundFiles(tree, paths, Place(reviewed, number, elsewhere), notes)
    files.take_all(listed)
    _compare(files, reviewers.routed_tags(reviewed, config) | frozenset(expected))
    _note_models(files, manifest)
    if files.unknown:
        # Nearly every round has only known names.
        from qrspi.core.findings import near_names

        near_names.note(files, expected)
    judgement = _judgement(files, manifest)
    round = _round(files, judgement, expected, notes)
    return round._replace(blocking=_blocking(round, config.verifies))


def _reviewed(subject: Subject, manifest: Manifest | None) -> Subject:
    """Of two subjects that share a directory of reviews, the one that the manifest names."""
    other = subject_named(manifest.step) if manifest else None
    return other if other and other.reviews == subject.reviews else subject


def due(tree: Tree, subject: Subject, config: Config, manifest: Manifest | None) -> tuple[str, ...]:
    """Who must review, by the matrix and config.md alone."""
    # Imported here: the manifest of a prepared round says who is expected.
    from qrspi.core.findings import visual_excuse

    reviewed = _reviewed(subject, manifest)
    visual = visual_excuse.is_expected(tree, reviewed, config)
    return reviewers.expected_tags(reviewed, config, visual=visual)


def _listed(
    tree: Tree, paths: RoundPaths, notes: Notes, *, elsewhere: bool
) -> list[tuple[Entry, RoundFile]] | None:
    page = notes.about(paths.directory)
    entries = tree.entries(paths.directory)
    if isinstance(entries, Fault):
        if entries.kind == "absent":
            return []
        code: Code = "not_a_file" if entries.kind == "not-a-file" else "unreadable"
        found = entries.reason
        page.violation(code, f"cannot be listed ({found})", found=found, expected="a directory")
        return None
    named = [(entry, parse_round_file(entry.name, elsewhere=elsewhere)) for entry in entries]
    files = [pair for pair in named if not isinstance(pair[1], filenames.Dropping)]
    if len(files) <= ROUND_FILES_LIMIT:
        return files
    limit = f"at most {ROUND_FILES_LIMIT}"
    text = f"{len(files)} files in one round; expected {limit}"
    page.violation("too_large", text, found=str(len(files)), expected=limit)
    return None


def _judgement(files: RoundFiles, manifest: Manifest | None) -> Judgement:
    if not files.engine_files:
        return Judgement()
    from qrspi.core.findings import visual_excuse

    recorded = manifest.engine_files if manifest else None
    return visual_excuse.judge(files.engine_files, recorded, files.place.number)


def _round(
    files: RoundFiles, judgement: Judgement, expected: tuple[str, ...], notes: Notes
) -> Round:
    findings = sorted(files.findings, key=lambda one: (one.tag, one.number, one.file))
    scored = {finding.stem: files.sidecars.get(finding.stem) for finding in findings}
    to_score = (one.stem for one in findings if one.effective_type in SCORED_TYPES)
    heard = {*files.finding_files.values(), *files.clean_files.values(), *judgement.excused}
    heard |= reviewers.optional_tags(files.place.subject)  # sent or not, these are never missing
    awaited = dict.fromkeys((*expected, *sorted(judgement.doubted)))
    return Round(
        number=files.place.number,
        findings=tuple(findings),
        sidecars={stem: sidecar for stem, sidecar in scored.items() if sidecar},
        cleans=tuple(sorted(files.cleans, key=lambda one: (one.tag, one.file))),
        expected_tags=expected,
        violations=in_order(notes.violations),
        warnings=tuple(notes.warnings),
        silent_tags=tuple(tag for tag in awaited if tag not in heard),
        unscored=tuple(stem for stem in to_score if stem not in files.scoring),
        unfinished=tuple(files.unfinished),
        directory=files.directory,
        bypasses=judgement.bypasses,
        splits=files.splits,
    )


def _compare(files: RoundFiles, routed: frozenset[str]) -> None:
    _note_repeated_ids(files)
    _note_doubtful_scores(files)
    _note_contradictions(files)
    _note_strangers(files, routed)


def _note_repeated_ids(files: RoundFiles) -> None:
    first: dict[str, str] = {}
    for finding in files.findings:
        other = first.setdefault(finding.name, finding.file)
        if other != finding.file:
            finding_id = shown(finding.finding_id)
            files.page(finding.file).violation(
                "duplicate_finding_id",
                f"finding_id is '{finding_id}', as in {other}; expected an id of its own",
                field="finding_id",
                found=finding_id,
                expected="an id that no other finding of this reviewer has",
            )


def _note_doubtful_scores(files: RoundFiles) -> None:
    for stem, names in files.scoring.items():
        if len(names) > 1:
            both = " and ".join(names)
            text = f"one finding has the sidecars {both}; expected one"
            expected = "one sidecar for each finding"
            files.page(names[0]).violation("ambiguous_sidecar", text, found=both, expected=expected)
        if stem not in files.finding_files:
            text = f"there is no finding {stem}.md; the score is left alone"
            files.page(names[0]).warning("orphan_sidecar", text, expected=f"{stem}.md")


def _note_contradictions(files: RoundFiles) -> None:
    with_findings = frozenset(files.finding_files.values())
    for name, tag in files.clean_files.items():
        if tag in with_findings:
            text = f"says clean beside findings of {tag}; the findings count"
            files.page(name).warning("contradictory_clean", text, found=name)


def _note_models(files: RoundFiles, manifest: Manifest | None) -> None:
    """Who was asked is in the manifest; a score repeats what its finding says."""
    asked = {dispatch.tag: dispatch.model for dispatch in manifest.dispatches} if manifest else {}
    for finding in files.findings:
        _note_model(files, finding.file, finding.actual_model, asked.get(finding.tag, ""))
        if sidecar := files.sidecars.get(finding.stem):
            model = "" if sidecar.actual_model == "unknown" else sidecar.actual_model
            _note_model(files, sidecar.file, model, finding.actual_model or "unknown")


def _note_model(files: RoundFiles, file: str, model: str, asked: str) -> None:
    if model and asked and model != asked:
        found, usual = shown(model), shown(asked)
        text = f"actual_model is '{found}'; expected {usual}"
        files.page(file).warning(
            "model_differs", text, field="actual_model", found=found, expected=usual
        )


def _note_strangers(files: RoundFiles, routed: frozenset[str]) -> None:
    if files.place.elsewhere:
        return
    expected = f"one of {', '.join(sorted(routed))}"
    for name, tag in files.tags():
        if tag not in routed:
            # Nearly every round has only the files of its reviewers.
            from qrspi.core.findings import near_names

            # `spec-claude` is a different reviewer from `scope-claude`, not a typing error.
            meant = near_names.begun(tag, routed) or near_names.nearest(tag, routed, 0.9)
            hint = near_names.hint(name, meant and name.replace(tag, meant, 1))
            text = f"'{tag}' does not review here; expected {expected}{hint}"
            files.page(name).violation("unrouted_tag", text, found=tag, expected=expected)


def _blocking(round: Round, verifier_enabled: bool) -> tuple[Problem, ...]:
    problems = [*round.violations]
    for tag in round.silent_tags:
        text = f"Reviewer {tag} produced no output"
        expected = f"{filenames.finding_file(tag, 1)} or {filenames.clean_file(tag)}"
        problems.append(_lacking("missing_output", text, round.directory, tag, expected))
    if verifier_enabled:
        problems += _without_score(round)
    return in_order(problems)


def blamed(problem: Problem) -> str:
    """The reviewer whose output a violation is about; '' when it is about none."""
    if problem.code == "missing_output":
        return problem.found
    return tag_of(parse_round_file(problem.file.rpartition("/")[2]))


def _without_score(round: Round) -> Iterator[Problem]:
    unscored = frozenset(round.unscored)
    for finding in round.findings:
        sidecar = round.sidecars.get(finding.stem)
        if finding.stem in unscored:
            text = f"Sidecar missing for finding {finding.name}"
            file = f"{round.directory}/{finding.file}"
            expected = filenames.sidecar_file(finding.stem)
            yield _lacking("missing_sidecar", text, file, finding.name, expected)
        elif sidecar and sidecar.score is None:
            text = f"Verifier returned {FAILED} for finding {finding.name}"
            file, expected = f"{round.directory}/{sidecar.file}", "a whole number from 0 to 100"
            problem = _lacking("verify_failed", text, file, FAILED, expected)
            yield problem._replace(field="score")


def _lacking(code: Code, text: str, file: str, found: str, expected: str) -> Problem:
    return Problem(code, text, file, found=found, expected=expected, hint=HINTS[code])
