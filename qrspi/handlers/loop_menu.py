"""The question after the first round: present for review, or loop until clean."""

from __future__ import annotations

from qrspi.core.filenames import loop_choice
from qrspi.handlers import choose_loop
from qrspi.handlers.job import Job
from qrspi.handlers.moves import Edit, Move
from qrspi.handlers.resolve import More


def plan(job: Job, key: str, more: More) -> Move:
    loop = job.round_loop
    fields = {"mode": key, "chosen": "by a person"}
    data = choose_loop.text(job.workspace, loop.subject.reviews, fields)
    edit = Edit("write", loop_choice(loop.subject.reviews), f"mode: {key}", data)
    return Move("choose-loop", loop.subject.key, loop.number, (edit,))
