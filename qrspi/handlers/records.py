"""Lines of approvals.jsonl: who decided what about which text."""

from __future__ import annotations

from qrspi.core import approvals, bodies
from qrspi.core import loop as loops
from qrspi.core.approvals import Mark, Record
from qrspi.core.pipeline import subject
from qrspi.core.tree import Tree
from qrspi.handlers.job import Job
from qrspi.handlers.moves import Edit
from qrspi.world import clock, person


def mark(tree: Tree, step: str) -> Mark:
    """The step's text and its highest round, as they are now."""
    about = subject(step)
    assert about is not None
    return Mark(step, bodies.body_hash(tree, about), loops.highest(tree, about))


def line(
    job: Job, event: str, about: Mark, who: str, resets: tuple[Mark, ...] = (), note: str = ""
) -> Edit:
    record = Record(
        event,
        *about,
        who=who or person.at(job.workspace.path),
        when=clock.now_utc(),
        surface=job.options.actor,
        resets=resets,
        note=note,
    )
    what = f"{event} {about.step} by {record.who}"
    return Edit("append", approvals.FILE, what, approvals.render(record))


def is_newest(job: Job, event: str, about: Mark) -> bool:
    """Whether the step's newest record says just this: its command was killed behind it."""
    entry = approvals.newest(job.facts.records, about.step)
    return entry is not None and entry[:3] == (event, about.body_hash, about.round)
