"""What was done to a run, by the engine or by a decision, and where the run stands now."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.render import problems, run_page
from qrspi.render.terminal import one_line, table

if TYPE_CHECKING:
    from qrspi.core.model import Next, Problem
    from qrspi.engine import Outcome
    from qrspi.handlers.changes.change_set import ChangeSet, Done
    from qrspi.handlers.jobs.job import Performed


def document(outcome: Outcome) -> dict[str, Any]:
    return {
        "schema": "qrspi/next/v1",
        **run_page.run_document(outcome.state),
        "performed": [performed(one) for one in outcome.performed],
    }


def stopped_document(done: Iterable[Performed], following: Next | None) -> dict[str, Any]:
    """Beside an error: what was done all the same, and what comes next where that is known."""
    found = {"performed": [performed(one) for one in done]}
    return {**found, "next": run_page.next_document(following)} if following else found


def performed(done: Performed) -> dict[str, Any]:
    return {
        "handler": done.handler,
        "step": done.step,
        "round": done.round or None,
        "files": list(done.files),
        "notes": list(done.notes),
    }


def lines(outcome: Outcome, dry_run: bool = False) -> list[str]:
    verb = "would do" if dry_run else "done"
    lines: list[str] = []
    for done in outcome.performed:
        lines += [f"{verb}: {title(done)}", *(f"  {one_line(name)}" for name in done.files)]
    return [*lines, *run_page.notes(outcome.state), *run_page.next_lines(outcome.state.next)]


def title(done: Performed) -> str:
    from qrspi.render import deeds

    return one_line(deeds.sentence(done.handler, done.step, done.round))


def decision_document(
    verb: str, run: str, change: ChangeSet, done: Done | None, following: Next, **more: Any
) -> dict[str, Any]:
    """`done` is None after --dry-run."""
    return {
        "schema": f"qrspi/{verb}/v1",
        "run": run,
        "step": change.step,
        "round": change.round or None,
        **more,
        "dry_run": done is None,
        "changes": [
            {"change": edit.kind, "file": edit.path, "what": edit.what} for edit in change.edits
        ],
        "message": change.message or None,
        "commit": done.commit if done else None,
        "notes": list(done.performed.notes if done else change.notes),
        "next": run_page.next_document(following),
    }


def decision_lines(change: ChangeSet, done: Done | None, *, in_git: bool) -> list[str]:
    if done:
        return _touched(change) + ([f"  committed as {done.commit[:12]}"] if done.commit else [])
    rows = [(edit.kind, edit.path, edit.what) for edit in change.edits]
    drawn = [f"  {line}" for line in table(("CHANGE", "FILE", "WHAT"), rows, 1000)[1:]]
    commit = [f"  commit: {one_line(change.message)}"] if change.message and in_git else []
    return drawn + commit


def _touched(change: ChangeSet) -> list[str]:
    """Each file in its final state. A file that the change both makes and removes is left out."""
    kinds = {path: [e.kind for e in change.edits if e.path == path] for path in change.files}
    return [
        f"  {one_line(path)}{' (removed)' if kind[-1] == 'remove' else ''}"
        for path, kind in kinds.items()
        if not kind[0] != "remove" == kind[-1]
    ]


def went_on_document(outcome: Outcome, trouble: Problem | None) -> dict[str, Any]:
    return {
        "performed": [performed(done) for done in outcome.performed],
        "warnings": problems.warnings([trouble] if trouble else []),
    }


# What these did is not in any file that is named beside them.
_OF_NOTE = ("merge", "ci", "run-tests")


def went_on_lines(outcome: Outcome, trouble: Problem | None) -> list[str]:
    lines: list[str] = []
    for done in outcome.performed:
        notes = done.notes if done.handler in _OF_NOTE else ()
        lines += [f"done: {title(done)}", *(f"  {one_line(note)}" for note in notes)]
    if trouble:
        lines.append(f"warning: the decision stands, but next stopped: {one_line(trouble.message)}")
    return lines
