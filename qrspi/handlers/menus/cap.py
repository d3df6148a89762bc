"""A loop that has gone on long enough: end it, let it go on, or go back."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.filenames import loop_choice
from qrspi.core.model import Problem
from qrspi.core.rounds.loop_back import upstream
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.decisions import rewind
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More
from qrspi.handlers.rounds import escape_report as escape
from qrspi.handlers.rounds import loop_choice as choose_loop


def plan(job: Job, key: str, more: More) -> Move:
    """What is unresolved is written down first, if it was not yet."""
    owed = (escape.edit(job),) if job.next.kind == "escape" else ()
    if key == "rewind":
        move = rewind.plan(job, _target(job, more.to), more.who)
        return move._replace(edits=(*owed, *move.edits))
    loop = job.round_loop
    number = str(loop.number)
    fields = {"mode": "present"} if key == "present" else {"caps_from": number}
    data = choose_loop.text(job.workspace, loop.subject.reviews, fields)
    what = ", ".join(f"{name}: {value}" for name, value in fields.items())
    edit = Edit("write", loop_choice(loop.subject.reviews), what, data)
    return Move(f"cap-{key}", loop.subject.key, loop.number, (*owed, edit))


def _target(job: Job, to: str | None) -> str:
    steps = upstream(job.facts.route, job.round_loop.subject.step)
    if to in steps and to is not None:
        return to
    listed = ", ".join(steps) or "none"
    hint = f"qrspi resolve {job.run} rewind --to STEP"
    what = f"{to} is no earlier step" if to else "say where to go back to"
    text = f"{what}: --to is one of {listed}"
    raise Refusal(Problem("target-needed", text, "", "--to", to or "", listed, hint))
