"""The question after the first round: present for review, or loop until clean."""

from __future__ import annotations

from qrspi.core.filenames import loop_choice
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More
from qrspi.handlers.rounds import loop_choice as choose_loop


def plan(job: Job, key: str, more: More) -> Move:
    loop = job.round_loop
    fields = {"mode": key, "chosen": "by a person"}
    data = choose_loop.text(job.workspace, loop.subject.reviews, fields)
    edit = Edit("write", loop_choice(loop.subject.reviews), f"mode: {key}", data)
    return Move("choose-loop", loop.subject.key, loop.number, (edit,))
