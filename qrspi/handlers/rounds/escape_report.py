"""Write down what a loop that stops leaves unresolved, before a person is asked."""

from __future__ import annotations

from qrspi.core.filenames import escape_file
from qrspi.core.rounds import caps
from qrspi.core.rounds import escape_report as escape
from qrspi.core.steps import after_round as gate
from qrspi.handlers.changes.change_set import Edit
from qrspi.handlers.jobs.job import Job, Performed


def handle(job: Job) -> Performed:
    loop = job.round_loop
    written = edit(job)
    job.workspace.write(written.path, written.data)
    return Performed("escape", loop.subject.key, loop.number, (written.path,))


def edit(job: Job) -> Edit:
    loop, facts = job.round_loop, job.facts
    base = max(facts.base, gate.read_choice(job.workspace, loop.subject).caps_from)
    cap = caps.reached(caps.counted(job.workspace, loop.subject, base))
    assert cap is not None
    data = escape.render(job.workspace, loop, facts.config, facts.base, cap.reason)
    path = escape_file(loop.subject.key, loop.number)
    return Edit("write", path, "what is unresolved, with its history", data)
