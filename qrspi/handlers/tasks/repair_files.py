"""Tasks that repair what a later step found: `fixes/<kind>-round-NN/*.md`."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.code_steps import batch
from qrspi.core.yaml.reader import quote
from qrspi.handlers.jobs.job import Job


def write(job: Job, kind: str, name: str, title: str, body: str, files: Sequence[str] = ()) -> str:
    """A new round of repairs with one task in it, approved: what it repairs was decided."""
    fixes = batch.next_fix_round(job.workspace, kind)
    path = f"{fixes.directory}/{name}.md"
    listed = ", ".join(map(quote, files))
    targets = f"target_files: [{listed}]\n" if files else ""
    round_name = fixes.directory.removeprefix("fixes/")
    head = f"---\nstatus: approved\nfix_round: {round_name}\n{targets}---\n\n"
    job.workspace.create(path, f"{head}# {title}\n\n{body.strip()}\n".encode())
    return path
