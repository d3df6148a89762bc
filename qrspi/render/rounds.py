"""Rounds: what each part of one gives back, and its findings."""

from __future__ import annotations

from collections import Counter

from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import Triaged, Verdict, counted
from qrspi.core.text.shortened import few
from qrspi.render import problems
from qrspi.render.terminal import fitted, one_line, table

if TYPE_CHECKING:
    from qrspi.core.records.evidence import Evidence
    from qrspi.core.rounds.finding_history import ShownFinding
    from qrspi.core.rounds.lineage import Sighting
    from qrspi.core.rounds.provenance import CameBy
    from qrspi.handlers.jobs.job import Performed
    from qrspi.handlers.rounds.printed_reply import Source, TakenReply
    from qrspi.handlers.rounds.round_commands import Converged, Opened, Recorded
    from qrspi.handlers.rounds.round_results import Assembled, Checked, Scoped


def _named(schema: str, run: str, step: str, number: int) -> dict[str, Any]:
    return {"schema": f"qrspi/{schema}/v1", "run": run, "step": step, "round": number}


def title(step: str, number: int) -> str:
    return f"Round {number} of {step}"


def _files(performed: Performed, dry_run: bool) -> list[str]:
    verb = "would write" if dry_run else "wrote"
    return [f"  {verb} {one_line(name)}" for name in performed.files]


def opened(run: str, result: Opened) -> dict[str, Any]:
    choice, manifest = result.manifest.choice, result.manifest
    return {
        **_named("round-prepare", run, manifest.step, manifest.round),
        "ref": choice.ref or None,
        "ref_commit": choice.ref_commit or None,
        "diff_file": result.diff_file,
        "expected_tags": list(manifest.expected_tags),
        "manifest": result.paths.manifest,
        "files": list(result.done.files),
    }


def opened_lines(result: Opened, dry_run: bool, adopted: bool) -> list[str]:
    manifest = result.manifest
    against = _against(manifest.choice.ref, manifest.choice.ref_commit)
    done = "taken up" if adopted else "prepared"
    word = f"would be {done}" if dry_run else f"is {done}"
    return [
        f"{title(manifest.step, manifest.round)} {word}{against}.",
        *_files(result.done, dry_run),
        f"Reviewers: {', '.join(manifest.expected_tags)}",
    ]


def _against(ref: str | None, commit: str | None) -> str:
    """On the base branch itself there is nothing older to compare with."""
    if not ref:
        return ""
    return f", compared with {one_line(ref)}" if commit else ", compared with nothing"


def checked(run: str, step: str, result: Checked) -> dict[str, Any]:
    return {
        **_named("round-check", run, step, result.number),
        "ok": not result.violations,
        "violations": problems.violations(result.violations),
        "warnings": problems.warnings(result.warnings),
        "expected_tags": list(result.expected_tags),
    }


def checked_lines(step: str, result: Checked) -> list[str]:
    lines = problems.marked("warning", result.warnings)
    for item in result.violations:
        lines += [*problems.marked("violation", [item]), f"  {one_line(item.hint)}"]
    count = len(result.violations)
    what = counted(count, "violation") if count else "nothing is wrong"
    return [*lines, f"{title(step, result.number)}: {what}."]


def assembled(run: str, step: str, result: Assembled) -> dict[str, Any]:
    from qrspi.core.rounds.verified_file import kept_paths

    directory = result.paths.directory
    return {
        **_named("round-assemble", run, step, result.paths.number),
        **result.tally._asdict(),
        "kept_findings": list(kept_paths(directory, result.triaged)),
        "dropped_findings": [f"{directory}/{item.finding.file}" for item in _of(result, "drop")],
        "paused": _names(result, "pause"),
        "proposed": _names(result, "propose"),
        "auto": _names(result, "keep"),
        "file": result.file,
        "files": list(result.done.files),
    }


def _of(result: Assembled, verdict: Verdict) -> list[Triaged]:
    return [item for item in result.triaged if item.verdict == verdict]


def _names(result: Assembled, verdict: Verdict) -> list[str]:
    return [item.finding.name for item in _of(result, verdict)]


def assembled_lines(step: str, result: Assembled, dry_run: bool) -> list[str]:
    counts = result.tally
    return [
        f"{title(step, result.paths.number)}: {counts.kept} kept, {counts.dropped} dropped, "
        f"{counts.failed} failed, {counts.clean} clean.",
        *_files(result.done, dry_run),
        *(f"waits for a person: {name}" for name in _names(result, "pause")),
        *(f"proposed without a score: {name}" for name in _names(result, "propose")),
    ]


def scoped(run: str, step: str, result: Scoped) -> dict[str, Any]:
    return {
        **_named("round-scope", run, step, result.number),
        "tags": list(result.tags),
        "warnings": list(result.warnings),
        "file": result.file,
        "files": list(result.done.files),
    }


def scoped_lines(step: str, result: Scoped, dry_run: bool) -> list[str]:
    if result.file is None:
        return [f"{title(step, result.number)} keeps no scope set."]
    return [
        *(f"warning: {one_line(text)}" for text in result.warnings),
        f"{title(step, result.number)} is about {counted(len(result.tags), 'part')} of the text.",
        *_files(result.done, dry_run),
        *(f"  {one_line(tag)}" for tag in result.tags),
    ]


def converged(run: str, step: str, result: Converged) -> dict[str, Any]:
    decision = result.decision
    return {
        **_named("round-converge", run, step, decision.round),
        "decision": "narrow" if decision.narrow else "broaden",
        "rule": decision.rule,
        "because": _reason(result),
        "ref": result.ref,
        "ref_commit": result.ref_commit,
        "scope_hint": list(decision.scope_hint) if decision.narrow else None,
        "diagnostics": list(decision.diagnostics),
    }


def _reason(result: Converged) -> str:
    if result.ref is None and result.decision.rule == "CNV-10":
        return "without git there is no commit to compare with"
    from qrspi.core.rounds import convergence

    return convergence.REASONS[result.decision.rule]


def converged_lines(step: str, result: Converged) -> list[str]:
    decision = result.decision
    what = "only the last fixes" if decision.narrow else "the whole text"
    against = _against(result.ref, result.ref_commit)
    return [
        f"{title(step, decision.round)} would look at {what}{against}: {_reason(result)}.",
        *(f"  {one_line(tag)}" for tag in decision.scope_hint),
        *map(one_line, decision.diagnostics),
    ]


def recorded(run: str, step: str, result: Recorded) -> dict[str, Any]:
    return {
        **_named("round-commit", run, step, result.done.round),
        "commit": result.commit,
        "files": list(result.done.files),
    }


def recorded_lines(step: str, result: Recorded, dry_run: bool) -> list[str]:
    if result.commit:
        word = (
            f"is commit {result.commit}" if result.done.files else f"is on record: {result.commit}"
        )
    elif dry_run and result.done.files:
        word = "would be committed"
    else:
        word = "needs no commit"
    return [f"{title(step, result.done.round)} {word}.", *_files(result.done, dry_run)]


def taken(verb: str, run: str, source: Source, result: TakenReply) -> dict[str, Any]:
    directory = source.paths.directory
    names = [] if result.split.clean else [name for name, _ in result.split.files]
    document = {
        **_named(verb, run, source.subject.key, source.number),
        "tag": source.tag,
        "findings": [f"{directory}/{name}" for name in names],
        "clean": result.split.clean,
        "warnings": problems.warnings(result.split.warnings),
    }
    return {**document, "original": result.original} if result.original else document


def taken_lines(source: Source, result: TakenReply, dry_run: bool) -> list[str]:
    count = counted(len(result.split.files), "finding")
    what = "found nothing" if result.split.clean else f"has {count}"
    where = f"round {source.number} of {source.subject.key}"
    return [f"{source.tag} {what} in {where}.", *_files(result.done, dry_run)]


_FINDINGS = ("FINDING", "SEVERITY", "TYPE", "SCORE", "VERDICT", "SINCE")
_VERDICTS = {"keep": "kept", "drop": "dropped", "pause": "for a person", "propose": "proposed"}


def finding_document(shown: ShownFinding) -> dict[str, Any]:
    finding = shown.item.finding
    return {
        "id": finding.finding_id,
        "tag": finding.tag,
        "file": shown.file,
        "round": shown.round,
        "severity": finding.severity,
        "change_type": finding.change_type,
        "effective_type": finding.effective_type,
        "score": shown.item.score,
        "threshold": shown.threshold,
        "reason": shown.reason or None,
        "verdict": shown.item.verdict,
        "because": shown.item.because,
        "decision": shown.said or None,
        "lineage": shown.lineage,
        "lineage_because": shown.course,
        "earlier": _earlier(shown.earlier),
        "referenced_files": list(finding.referenced_files),
        "message": finding.message,
    }


def _earlier(seen: Sighting | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    return {"round": seen.round, "finding": seen.record.name, "fate": seen.record.fate}


def findings_lines(
    findings: tuple[ShownFinding, ...],
    number: int,
    width: int,
    silent: tuple[str, ...],
    unscored: frozenset[str],
    *,
    unread: bool,
) -> list[str]:
    """`silent` are the reviewers, `unscored` the findings that an open round still waits for."""
    here = [shown for shown in findings if shown.lineage != "resolved"]
    gone = [shown for shown in findings if shown.lineage == "resolved"]
    if here:
        head, *rows = table(_FINDINGS, [_row(shown, unscored) for shown in here], width)
        below = [_below(shown, width) for shown in here]
        pairs = zip(rows, below, strict=True)
        lines = [head, *(line for row, more in pairs for line in (row, *more))]
    else:
        legible = " that can be read" if unread else ""
        lines = [f"Round {number} has no findings{legible}{' so far' if silent else ''}."]
    if silent:
        lines += ["", f"Still to answer: {', '.join(map(one_line, silent))}."]
    if gone:
        lines += ["", "No longer found:"]
        lines += [f"  {item.item.finding.name}  {item.course}" for item in gone]
    return lines


CAME: dict[Evidence, str] = {
    "dispatched": "sent for by qrspi",
    "handed-in": "handed in",
    "found": "found in the folder",
}


def evidence_lines(answers: tuple[CameBy, ...]) -> list[str]:
    if not answers:
        return []
    counts = Counter(one.evidence for one in answers)
    counts_line = ", ".join(f"{counts[key]} {word}" for key, word in CAME.items() if counts[key])
    names = [one.file.rpartition("/")[2] for one in answers if one.evidence == "found"]
    which = ""
    if 0 < len(names) < len(answers):
        which = f" ({few([one_line(name) for name in names], 3)})"
    return ["", f"Of {counted(len(answers), 'file')} of agents: {counts_line}{which}."]


def _row(shown: ShownFinding, unscored: frozenset[str]) -> tuple[str, ...]:
    item, finding = shown.item, shown.item.finding
    kind = finding.effective_type + (f" (was {finding.change_type})" if finding.escalated else "")
    score = "-" if item.score is None else str(item.score)
    verdict = shown.said.partition(" by ")[0] or _VERDICTS[item.verdict]
    verdict = "to score" if finding.name in unscored else verdict
    return (finding.name, finding.severity, kind, score, verdict, shown.lineage)


def _below(shown: ShownFinding, width: int) -> list[str]:
    lines = [fitted(f"  {_first_line(shown)}", width), f"  {one_line(shown.item.because)}"]
    return [*lines, f"  {one_line(shown.course)}"] if shown.earlier else lines


def _first_line(shown: ShownFinding) -> str:
    return one_line(shown.item.finding.message.split("\n")[0])


def dropped_lines(findings: tuple[ShownFinding, ...], number: int) -> list[str]:
    if not findings:
        return [f"No finding of round {number} was dropped."]
    lines: list[str] = []
    for item in findings:
        finding = item.item.finding
        lines += [
            f"{finding.name}  score {item.item.score}, {item.threshold} needed for "
            f"{finding.effective_type}",
            f"  {_first_line(item)}",
            f"  verifier: {one_line(item.reason or 'gave no reason')}",
        ]
    return lines
