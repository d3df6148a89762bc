"""What the parts of a round give back, as documents and as lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qrspi.core.model import Problem, Verdict
from qrspi.core.rounds import convergence as converge
from qrspi.core.rounds.verified_file import kept_paths
from qrspi.handlers.jobs.job import Performed
from qrspi.handlers.rounds.ingest import Source, Taken
from qrspi.handlers.rounds.round_commands import (
    Assembled,
    Checked,
    Converged,
    Opened,
    Recorded,
    Scoped,
)
from qrspi.render import problems
from qrspi.render.safe_text import one_line


def _named(schema: str, run: str, step: str, number: int) -> dict[str, Any]:
    return {"schema": f"qrspi/{schema}/v1", "run": run, "step": step, "round": number}


def _title(step: str, number: int) -> str:
    return f"Round {number} of {step}"


def _files(done: Performed, dry_run: bool) -> list[str]:
    verb = "would write" if dry_run else "wrote"
    return [f"  {verb} {one_line(name)}" for name in done.files]


def opened(run: str, found: Opened) -> dict[str, Any]:
    choice, manifest = found.manifest.choice, found.manifest
    return {
        **_named("round-prepare", run, manifest.step, manifest.round),
        "ref": choice.ref or None,
        "ref_commit": choice.ref_commit or None,
        "diff_file": found.diff_file,
        "expected_tags": list(manifest.expected_tags),
        "manifest": found.paths.manifest,
        "files": list(found.done.files),
    }


def _against(ref: str | None, commit: str | None) -> str:
    """On the base branch itself there is nothing older to compare with."""
    if not ref:
        return ""
    return f", compared with {one_line(ref)}" if commit else ", compared with nothing"


def opened_lines(found: Opened, dry_run: bool) -> list[str]:
    manifest = found.manifest
    against = _against(manifest.choice.ref, manifest.choice.ref_commit)
    word = "would be prepared" if dry_run else "is prepared"
    return [
        f"{_title(manifest.step, manifest.round)} {word}{against}.",
        *_files(found.done, dry_run),
        f"Reviewers: {', '.join(manifest.expected_tags)}",
    ]


def checked(run: str, step: str, found: Checked) -> dict[str, Any]:
    return {
        **_named("round-check", run, step, found.number),
        "ok": not found.violations,
        "violations": [problems.violation(item) for item in found.violations],
        "warnings": [problems.warning(item) for item in found.warnings],
        "expected_tags": list(found.expected_tags),
    }


def checked_lines(step: str, found: Checked) -> list[str]:
    shown = [f"warning: {one_line(item.message)}" for item in found.warnings]
    for item in found.violations:
        shown += [f"violation: {one_line(item.message)}", f"  {one_line(item.hint)}"]
    count = len(found.violations)
    what = f"{count} violation{'s' if count > 1 else ''}" if count else "nothing is wrong"
    return [*shown, f"{_title(step, found.number)}: {what}."]


def assembled(run: str, step: str, found: Assembled) -> dict[str, Any]:
    directory = found.paths.directory
    dropped = [item for item in found.triaged if item.verdict == "drop"]
    return {
        **_named("round-assemble", run, step, found.paths.number),
        **found.tally._asdict(),
        "kept_findings": list(kept_paths(directory, found.triaged)),
        "dropped_findings": [f"{directory}/{item.finding.file}" for item in dropped],
        "paused": _names(found, "pause"),
        "proposed": _names(found, "propose"),
        "auto": _names(found, "keep"),
        "file": found.file,
        "files": list(found.done.files),
    }


def _names(found: Assembled, verdict: Verdict) -> list[str]:
    return [item.finding.name for item in found.triaged if item.verdict == verdict]


def assembled_lines(step: str, found: Assembled, dry_run: bool) -> list[str]:
    counts = found.tally
    lines = [
        f"{_title(step, found.paths.number)}: {counts.kept} kept, {counts.dropped} dropped, "
        f"{counts.failed} failed, {counts.clean} clean.",
        *_files(found.done, dry_run),
    ]
    for verdict, what in _WAITING:
        lines += [f"{what}: {name}" for name in _names(found, verdict)]
    return lines


_WAITING: tuple[tuple[Verdict, str], ...] = (
    ("pause", "waits for a person"),
    ("propose", "proposed without a score"),
)


def scoped(run: str, step: str, found: Scoped) -> dict[str, Any]:
    return {
        **_named("round-scope", run, step, found.number),
        "tags": list(found.tags),
        "warnings": list(found.warnings),
        "file": found.file,
        "files": list(found.done.files),
    }


def scoped_lines(step: str, found: Scoped, dry_run: bool) -> list[str]:
    if found.file is None:
        return [f"{_title(step, found.number)} keeps no scope set."]
    count = len(found.tags)
    what = f"about {count} part{'' if count == 1 else 's'} of the text"
    return [
        *(f"warning: {one_line(text)}" for text in found.warnings),
        f"{_title(step, found.number)} is {what}.",
        *_files(found.done, dry_run),
        *(f"  {one_line(tag)}" for tag in found.tags),
    ]


def converged(run: str, step: str, found: Converged) -> dict[str, Any]:
    decision = found.decision
    return {
        **_named("round-converge", run, step, decision.round),
        "decision": "narrow" if decision.narrow else "broaden",
        "rule": decision.rule,
        "because": _reason(found),
        "ref": found.ref,
        "ref_commit": found.ref_commit,
        "scope_hint": list(decision.scope_hint) if decision.narrow else None,
        "diagnostics": list(decision.diagnostics),
    }


def _reason(found: Converged) -> str:
    if found.ref is None and found.decision.rule == "CNV-10":
        return "without git there is no commit to compare with"
    return converge.REASONS[found.decision.rule]


def converged_lines(step: str, found: Converged) -> list[str]:
    decision = found.decision
    what = "only the last fixes" if decision.narrow else "the whole text"
    against = _against(found.ref, found.ref_commit)
    return [
        f"{_title(step, decision.round)} would look at {what}{against}: {_reason(found)}.",
        *(f"  {one_line(tag)}" for tag in decision.scope_hint),
        *map(one_line, decision.diagnostics),
    ]


def recorded(run: str, step: str, found: Recorded) -> dict[str, Any]:
    return {
        **_named("round-commit", run, step, found.done.round),
        "commit": found.commit,
        "files": list(found.done.files),
    }


def recorded_lines(step: str, found: Recorded, dry_run: bool) -> list[str]:
    title = _title(step, found.done.round)
    if found.commit:
        word = f"is commit {found.commit}" if found.done.files else f"is on record: {found.commit}"
    elif dry_run and found.done.files:
        word = "would be committed"
    else:
        word = "needs no commit"
    return [f"{title} {word}.", *_files(found.done, dry_run)]


def taken(verb: str, run: str, source: Source, found: Taken) -> dict[str, Any]:
    directory = source.paths.directory
    names = [] if found.split.clean else [name for name, _ in found.split.files]
    document = {
        **_named(verb, run, source.subject.key, source.number),
        "tag": source.tag,
        "findings": [f"{directory}/{name}" for name in names],
        "clean": found.split.clean,
        "warnings": _texts(found.split.warnings),
    }
    return {**document, "original": found.original} if found.original else document


def _texts(warnings: Iterable[Problem]) -> list[dict[str, Any]]:
    return [problems.warning(item) for item in warnings]


def taken_lines(source: Source, found: Taken, dry_run: bool) -> list[str]:
    count = len(found.split.files)
    what = "found nothing" if found.split.clean else f"has {count} finding{'s'[: count != 1]}"
    title = _title(source.subject.key, source.number)
    return [f"{source.tag} {what} in {title[0].lower()}{title[1:]}.", *_files(found.done, dry_run)]
