"""Lines of approvals.jsonl: who decided what about which text."""

from __future__ import annotations

from qrspi.core.pipeline import subject
from qrspi.core.records import approvals
from qrspi.core.records import step_text as bodies
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.rounds import loop as loops
from qrspi.core.tree import Tree
from qrspi.handlers.changes.change_set import Edit
from qrspi.handlers.jobs.job import Job
from qrspi.world.machine import clock
from qrspi.world.machine import git_person as persons


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
        who=person(job, who),
        when=clock.now_utc(),
        surface=job.options.actor,
        resets=resets,
        note=note,
    )
    what = f"{event} {about.step} by {record.who}"
    return Edit("append", approvals.FILE, what, approvals.render(record))


def person(job: Job, named: str = "") -> str:
    """Who decides: whoever was named, else as git knows them."""
    return named or persons.at(job.workspace.path)


def is_newest(job: Job, event: str, about: Mark, who: str = "") -> bool:
    """Whether the step's newest record says just this: its command was killed behind it. With
    `who`, only when it says it of them: nobody's yes stands in for another's."""
    entry = approvals.newest(job.facts.records, about.step)
    same = entry is not None and entry[:3] == (event, about.body_hash, about.round)
    return same and (not who or (entry is not None and entry.who == who))
