"""Turn an agent's answer into the files it could not write itself. The run's lock is held."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from qrspi.core.filenames import SidecarName, sidecar_file, slug_of
from qrspi.core.findings import round_files as intake
from qrspi.core.findings import split_reply as splitter
from qrspi.core.findings.submission import Place, finished
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records import step_text as bodies
from qrspi.core.rounds import dispositions
from qrspi.core.text import printed_files as printed
from qrspi.core.text.printed_files import DISPOSITIONS, Printed
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front
from qrspi.handlers.changes import engine_files as owned
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.rounds import split_reply as splits
from qrspi.world.git import commits, repository

# What approving wrote into an artifact; an agent that prints the text anew need not know of it.
_KEPT = ("phase_start_commit", "feature_branch")


class Taken(NamedTuple):
    files: tuple[str, ...]
    status: str = "complete"  # as the manifest says it
    notes: tuple[str, ...] = ()


def review(job: Job, tag: str, text: str) -> Taken | Problem:
    loop = job.round_loop
    split = splitter.split(text.encode(), tag, loop.number)
    if isinstance(split, Problem):
        return split
    splits.write(job.workspace, loop.paths, tag, split)
    files = tuple(f"{loop.paths.directory}/{name}" for name, _ in split.files)
    notes = tuple(warning.message for warning in split.warnings)
    return Taken(files, "complete-clean" if split.clean else "complete", notes)


class Score(NamedTuple):
    """A sidecar that may be written."""

    name: str
    data: bytes
    notes: tuple[str, ...] = ()


def score(job: Job, stem: str, text: str) -> Score | Problem:
    loop = job.round_loop
    path = f"{loop.paths.directory}/{sidecar_file(stem)}"
    data = finished(printed.unfenced(text, "score").strip().encode())
    read = intake.examine(
        SidecarName(stem, "score.yml"), path, data, Place(loop.subject, loop.number)
    )
    if read.record is None or read.violations:
        return _no_score(stem, read.violations)
    return Score(sidecar_file(stem), data, tuple(warning.message for warning in read.warnings))


def _no_score(stem: str, violations: tuple[Problem, ...]) -> Problem:
    why = violations[0].message if violations else "no score in it"
    return Problem("reply-malformed", f"the reply about {stem} is no score: {why}", found=why)


class Draft(NamedTuple):
    """Files to be written, in order: what makes the run go on is the last one."""

    files: tuple[Printed, ...]
    artifact: str
    whole: bool = False  # everything that belongs to the step was to be printed


def drafted(tree: Tree, step: str, artifact: str, text: str) -> Draft | Problem:
    """An author's answer; `artifact` is the step's own, or the file of one question."""
    whole = artifact == STEP[step].artifact
    files = printed.files(text, artifact, STEP[step].companions if whole else ())
    if isinstance(files, Problem):
        return files
    forced = _forced(tree, files)
    if isinstance(forced, Problem):
        return forced
    return Draft((*forced[1:], forced[0]), artifact, whole)


def fixed(tree: Tree, job: Job, text: str) -> Draft | Problem:
    """A fixer's answer: the text, what else changed, and what was done about each finding."""
    loop = job.round_loop
    companions = () if loop.subject.is_task else STEP[loop.subject.step].companions
    files = printed.files(text, loop.subject.artifact, (*companions, DISPOSITIONS))
    if isinstance(files, Problem):
        return files
    said = next((file for file in files if file.path == DISPOSITIONS), None)
    if said is None:
        return _no_dispositions()
    record = Printed(loop.paths.dispositions, said.text)
    for problem in dispositions.problems(said.text.encode(), record.path, loop.number):
        return problem
    forced = _forced(tree, tuple(file for file in files if file is not said))
    if isinstance(forced, Problem):
        return forced
    return Draft((*forced[1:], forced[0], record), loop.subject.artifact)


def _no_dispositions() -> Problem:
    expected = f"a line '<<<FILE {DISPOSITIONS}>>>' and what was done behind it"
    text = f"reply: found no dispositions, expected {expected}"
    return Problem("reply-malformed", text, found="no dispositions", expected=expected)


def _forced(tree: Tree, files: tuple[Printed, ...]) -> tuple[Printed, ...] | Problem:
    """No agent approves anything: whatever status it printed, the text is a draft."""
    forced = []
    for file in files:
        now = tree.read(file.path)
        fields = {} if isinstance(now, Fault) else _fields(now, file.path)
        status = "replan-draft" if fields.get("status") == "replan-draft" else "draft"
        kept = {key: fields[key] for key in _KEPT if key in fields}
        data = _with(file.text.encode(), {"status": status, **kept}, file.path)
        if isinstance(data, Problem):
            return data._replace(code="reply-malformed", message=f"reply: {data.message}")
        forced.append(Printed(file.path, data.decode()))
    return tuple(forced)


def _fields(data: bytes, path: str) -> dict[str, str]:
    front = frontmatter.read(data, path)
    if not isinstance(front, Front):
        return {}
    named = ((key, frontmatter.text(front.fields, key)) for key in ("status", *_KEPT))
    return {key: text for key, text in named if text is not None}


def _with(data: bytes, fields: Mapping[str, str], path: str) -> bytes | Problem:
    for key, value in fields.items():
        changed = frontmatter.set_field(data, key, value, path)
        if isinstance(changed, Problem):
            return changed
        data = changed
    return data


def put(job: Job, draft: Draft, before: Mapping[str, str]) -> Taken | Problem:
    """Write a draft over what was there when it was asked for, and over nothing else."""
    for file in draft.files:
        if problem := _edited(job.workspace, file, before.get(file.path, "")):
            return problem
    for file in draft.files:
        _put(job, file.path, file.text.encode())
    return Taken(tuple(file.path for file in draft.files), notes=_left_behind(job, draft))


def _put(job: Job, path: str, data: bytes) -> None:
    now = job.workspace.read(path)
    if isinstance(now, Fault):
        job.workspace.create(path, data)
    elif now != data:
        job.workspace.replace(path, now, data)


def _edited(tree: Tree, file: Printed, before: str) -> Problem | None:
    now = tree.read(file.path)
    if isinstance(now, Fault) and now.kind == "absent":
        return None
    if not isinstance(now, Fault):
        same = now == file.text.encode() or hashlib.sha256(now).hexdigest() == before
        if same:
            return None
    text = f"{file.path} was changed while the agent worked on it; its answer is not put over that"
    return Problem("changed-meanwhile", text, file=file.path, hint="run the same command again")


def _left_behind(job: Job, draft: Draft) -> tuple[str, ...]:
    """A companion of the earlier text that was not printed again is nobody's to delete."""
    written = {file.path for file in draft.files}
    if not draft.whole or len(written) == 1:
        return ()
    stale = [
        path for path in bodies.companions(job.workspace, job.facts.step) if path not in written
    ]
    return tuple(f"{path} was there before and was not printed again: it stays" for path in stale)


def commit(job: Job) -> None:
    """Put a new draft on record; reviewers are only sent to text that git knows."""
    repo = repository.find(job.workspace.path)
    if repo is None or job.options.no_commit:
        return
    step = job.facts.step
    files = (*bodies.paths(job.workspace, step), *owned.changed(job.workspace, repo))
    commits.commit(repo, files, f"docs(qrspi): draft {step} for {slug_of(job.run)}")
