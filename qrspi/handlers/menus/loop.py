"""How a review loop goes on: after its first round, at its end, at its cap, or imported."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.filenames import loop_choice
from qrspi.core.model import Problem
from qrspi.core.records import import_record
from qrspi.core.rounds.pause_file import upstream
from qrspi.core.tree import Fault
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.decisions import rewind
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More
from qrspi.handlers.rounds import loop_choice as choices


def choose(job: Job, key: str, more: More) -> ChangeSet:
    edit = _remember(job, {"mode": key, "chosen": "by a person"}, f"mode: {key}")
    loop = job.round_loop
    return ChangeSet("choose-loop", loop.subject.key, loop.round, (edit,))


def again(job: Job, key: str, more: More) -> ChangeSet:
    loop = job.round_loop
    fields = {"mode": key, "chosen": "by a person"}
    if key == "loop":
        fields["again_after"] = str(loop.round)
    edit = _remember(job, fields, f"mode: {key}")
    return ChangeSet("choose-loop", loop.subject.key, loop.round, (edit,))


def at_cap(job: Job, key: str, more: More) -> ChangeSet:
    """Unresolved findings are written down first."""
    owed = (choices.escape_edit(job),) if job.next.kind == "escape" else ()
    if key == "rewind":
        change = rewind.plan(job, _target(job, more.to), more.who)
        return change._replace(edits=(*owed, *change.edits))
    loop = job.round_loop
    name, value = ("mode", "present") if key == "present" else ("caps_from", str(loop.round))
    edit = _remember(job, {name: value}, f"{name}: {value}")
    return ChangeSet(f"cap-{key}", loop.subject.key, loop.round, (*owed, edit))


def _remember(job: Job, fields: dict[str, str], what: str) -> Edit:
    reviews = job.round_loop.subject.reviews
    data = choices.text(job.workspace, reviews, fields)
    return Edit("write", loop_choice(reviews), what, data)


def _target(job: Job, to: str | None) -> str:
    steps = upstream(job.facts.route, job.round_loop.subject.step)
    if to in steps and to is not None:
        return to
    listed = ", ".join(steps) or "none"
    what = f"{to} is no earlier step" if to else "say where to go back to"
    problem = Problem(
        "target-needed",
        f"{what}: --to is one of {listed}",
        field="--to",
        found=to or "",
        expected=listed,
        hint=f"qrspi resolve {job.run} rewind --to STEP",
    )
    raise Refusal(problem)


def imported_round(job: Job, key: str, more: More) -> ChangeSet:
    loop, path = job.round_loop, import_record.FILE
    data = job.workspace.read(path, import_record.LIMIT)
    choice = next(one for one in import_record.CHOICES if one == key)
    assert not isinstance(data, Fault)
    changed = import_record.with_choice(data, loop.paths.directory, choice)
    edit = Edit("replace", path, f"{loop.paths.directory}: {choice}", changed, data)
    message = f"docs(qrspi): {choice} round {loop.round:02d} of {loop.subject.key}"
    return ChangeSet(
        "imported-round", loop.subject.key, loop.round, (edit,), message=message, covers=(path,)
    )
