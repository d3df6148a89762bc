"""A round that cannot be assembled: go on without scores, send somebody again, or stop."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.errors import Refusal
from qrspi.core.filenames import FindingName, SidecarName, parse_round_file
from qrspi.core.findings import guard
from qrspi.core.model import Problem
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import review_action
from qrspi.core.yaml import writer
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More, stop
from qrspi.handlers.rounds import put_aside
from qrspi.world.machine import clock


def plan(job: Job, key: str, more: More) -> ChangeSet:
    loop = job.round_loop
    match key:
        case "skip":
            return _skip(job, loop)
        case "retry":
            return _retry(job, loop)
        case _:
            note = f"nothing was changed; everything is left in {loop.paths.directory}"
            return stop(loop.subject.key, loop.round, note)


def _skip(job: Job, loop: Loop) -> ChangeSet:
    """For this round only; config.md stays as it is."""
    count = sum(isinstance(kind, FindingName) for _, kind in put_aside.files(job.workspace, loop))
    reason = review_action.diagnostic(loop.failures)
    text = (
        f"---\ntimestamp: {clock.now_utc()}\nreason: {writer.sentence(reason)}\n"
        f"finding_count: {count}\n---\n"
    )
    what = "go on without scores, this round only"
    edit = Edit("create", loop.paths.skipped, what, text.encode(errors="backslashreplace"))
    return ChangeSet("skip", loop.subject.key, loop.round, (edit,))


def _retry(job: Job, loop: Loop) -> ChangeSet:
    tags, stems = _reviewers(loop), _verifiers(loop)
    aside = put_aside.plan(job.workspace, loop, tags, stems)
    codes = {failure.code for failure in loop.failures}
    tagged = (loop.paths.scope_set,) if "bad_scope_set" in codes else ()
    pending = _pending(loop, tags)
    absent = codes & {"missing_output", "missing_sidecar"}
    if not (aside.removed or tagged or pending or absent):
        raise Refusal(_by_hand(loop))
    edits = (
        *aside.kept,
        *pending,
        *aside.gone,
        *(Edit("remove", path, "to be made again") for path in tagged),
    )
    notes = _sent(aside.marked, _scored(aside.removed) & stems)
    return ChangeSet("retry", loop.subject.key, loop.round, edits, notes=notes)


def _reviewers(loop: Loop) -> frozenset[str]:
    expected = loop.files.expected_tags if loop.files else ()
    blamed = (guard.blamed(failure) for failure in loop.failures if not _is_sidecar(failure))
    return frozenset(tag for tag in blamed if tag in expected)


def _verifiers(loop: Loop) -> frozenset[str]:
    sidecars = loop.files.sidecars if loop.files else {}
    failed = {stem for stem, sidecar in sidecars.items() if sidecar.score is None}
    names = (parse_round_file(failure.file.rpartition("/")[2]) for failure in loop.failures)
    return frozenset(failed | {name.stem for name in names if isinstance(name, SidecarName)})


def _is_sidecar(failure: Problem) -> bool:
    kind = parse_round_file(failure.file.rpartition("/")[2])
    return failure.code == "missing_sidecar" or isinstance(kind, SidecarName)


def _pending(loop: Loop, tags: frozenset[str]) -> tuple[Edit, ...]:
    if loop.manifest is None:
        return ()
    again = tuple(
        item._replace(status="pending", job_id="", await_cmd="", split_cmd="")
        if item.tag in tags
        else item
        for item in loop.manifest.dispatches
    )
    if again == loop.manifest.dispatches:
        return ()
    data = manifests.render(loop.manifest._replace(dispatches=again))
    return (Edit("write", loop.paths.manifest, f"pending: {', '.join(sorted(tags))}", data),)


def _scored(paths: Iterable[str]) -> frozenset[str]:
    kinds = (parse_round_file(path.rpartition("/")[2]) for path in paths)
    return frozenset(kind.stem for kind in kinds if isinstance(kind, SidecarName))


def _sent(tags: Iterable[str], stems: Iterable[str]) -> tuple[str, ...]:
    """Whose answers are put aside. Who has not answered yet is awaited as before."""
    again = (*sorted(tags), *(f"verifier of {stem}" for stem in sorted(stems)))
    return (f"to be sent again: {', '.join(again)}",) if again else ()


def _by_hand(loop: Loop) -> Problem:
    line = review_action.diagnostic(loop.failures)
    first = loop.files.violations[0] if loop.files and loop.files.violations else None
    hint = first.hint if first else ""
    text = f"{line}: nobody can be sent again for this"
    return Problem("not-to-retry", text, first.file if first else "", hint=hint)
