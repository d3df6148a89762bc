"""Remember how a review loop goes on after its first round."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.filenames import loop_choice
from qrspi.core.model import Problem
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.runs.workspace import Workspace

_BODY = b"---\nmode: loop\n---\n"


def handle(job: Job) -> Performed:
    """Without anybody to ask: the recommended default, and that nobody was asked is on record."""
    mode = "present" if job.options.present else "loop"
    by = "chosen with --present" if job.options.present else "recommended default, nobody was asked"
    return choose(job, mode, "answered by a person" if job.options.asked else by)


def choose(job: Job, mode: str, by: str) -> Performed:
    loop = job.round_loop
    path = remember(job.workspace, loop.subject.reviews, {"mode": mode, "chosen": by})
    return Performed("choose-loop", loop.subject.key, loop.number, (path,), (f"{mode}: {by}",))


def remember(workspace: Workspace, reviews: str, fields: dict[str, str]) -> str:
    path = loop_choice(reviews)
    workspace.write(path, text(workspace, reviews, fields))
    return path


def text(tree: Tree, reviews: str, fields: dict[str, str]) -> bytes:
    """The file with these fields set."""
    path = loop_choice(reviews)
    data = tree.read(path)
    changed = _BODY if isinstance(data, Fault) else data
    for key, value in fields.items():
        edited = frontmatter.set_field(changed, key, value, path)
        if isinstance(edited, Problem):
            raise Refusal(edited)
        changed = edited
    return changed
