"""Run the CI command over the merged branch; what fails becomes a task."""

from __future__ import annotations

from qrspi.core.code_steps import integrate, test_results
from qrspi.core.filenames import round_name, round_number
from qrspi.core.pipeline import STEP
from qrspi.core.tree import Tree, entries
from qrspi.core.yaml.writer import quote
from qrspi.handlers.changes import code_repository
from qrspi.handlers.changes.change_set import set_fields
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import commands, drafts, repairs
from qrspi.world.git import refs
from qrspi.world.machine import clock
from qrspi.world.processes import configured_command
from qrspi.world.processes.configured_command import Ran

FOLDER = "reviews/ci"


def handle(job: Job) -> Performed:
    permit = commands.permit(job, "ci_command")
    command = permit.named.text
    place = code_repository.find(job)
    verb = f"run `qrspi next {job.run}`"
    code_repository.checked_out(place, verb)
    code_repository.clean(job, place, verb)
    commit = refs.head(place.repo) or ""
    ran = configured_command.run(permit, place.repo.root)
    number = _highest(job.workspace) + 1
    log = f"{FOLDER}/{round_name(number)}.log"
    job.workspace.write(log, ran.output)
    files = [log, _review(job, number, command, commit, ran), STEP["integrate"].artifact]
    if ran.status:
        files.append(_repair(job, command, log, ran))
    _remember(job, log, ran)
    drafts.commit(job, f"CI round {number:02d}", files)
    verdict = "passed" if ran.status == 0 else f"failed with exit {ran.status}"
    note = f"the CI command {verdict}, see {log}"
    return Performed("ci", "integrate", number, tuple(files), (note,))


def _highest(tree: Tree) -> int:
    names = (entry.name for entry in entries(tree, FOLDER) if entry.name.endswith(".log"))
    return max((round_number(name.removesuffix(".log")) or 0 for name in names), default=0)


def _review(job: Job, number: int, command: str, commit: str, ran: Ran) -> str:
    path = f"{FOLDER}/{round_name(number)}-review.md"
    failed = test_results.failures(ran.text, command) if ran.status else ()
    listed = "".join(f"- {name}\n" for name in failed)
    verdict = f"The CI command failed:\n\n{listed}" if ran.status else "The CI command passed.\n"
    head = (
        f"---\nround: {number}\ncommand: {quote(command)}\ncommit: {commit}\nexit: {ran.status}\n"
        f"time: {quote(clock.now_utc())}\n---\n"
    )
    text = f"{head}\n# CI, round {number:02d}\n\n{verdict}\nOutput: {round_name(number)}.log\n"
    job.workspace.write(path, text.encode())
    return path


def _repair(job: Job, command: str, log: str, ran: Ran) -> str:
    listed = "\n".join(f"- {name}" for name in test_results.failures(ran.text, command))
    body = f"""\
`{command}` exits {ran.status} on the merged branch; its output is in the run's directory, at
`{log}`. What it names:

{listed}

## Acceptance Criteria

- `{command}` exits 0 in this task's work tree.
- No check is switched off or weakened to get there.
"""
    return repairs.write(job, "ci", "ci-command", "Make the CI command pass", body)


def _remember(job: Job, log: str, ran: Ran) -> None:
    """In the frontmatter, where it does not make the review of the merged branch start again."""
    path = STEP["integrate"].artifact
    fields = {
        "ci_exit": str(ran.status),
        "ci_log": quote(log),
        "ci_merges": str(len(integrate.recorded(job.workspace))),
        "ci_resets": str(integrate.resets(job.facts, "integrate")),
    }
    edit = set_fields(job.workspace, path, fields, "the CI command ran")
    if edit:
        job.workspace.replace(path, edit.old, edit.data)
