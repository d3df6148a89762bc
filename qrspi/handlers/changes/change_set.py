"""A decision as the writes it consists of, in the order in which they are made.

What `--dry-run` shows and what is carried out are one list. A kill leaves a beginning of that
list, so whoever builds one puts first what lets the same command, run again, find the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple, assert_never

from qrspi.core.derivation.derive import survey
from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import is_dropping, slug_of
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP, subject
from qrspi.core.records import step_text as bodies
from qrspi.core.steps.facts import entries
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter
from qrspi.handlers.changes import engine_files as owned
from qrspi.handlers.changes import review_target as target
from qrspi.handlers.jobs import audit_trail as audit
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.git import commits, repository
from qrspi.world.git.commits import Committed
from qrspi.world.git.repository import Repo
from qrspi.world.runs.workspace import Workspace


class Edit(NamedTuple):
    kind: Literal["append", "create", "write", "replace", "remove"]
    path: str  # run-relative
    what: str  # in words
    data: bytes = b""
    old: bytes = b""  # what is replaced


class Move(NamedTuple):
    handler: str
    step: str
    round: int
    edits: tuple[Edit, ...]
    message: str = ""  # of the commit; '' when none is made
    covers: tuple[str, ...] = ()  # what the commit takes besides the engine's own files
    otherwise: Problem | None = None  # why there is nothing to do, if there is nothing
    concerns: tuple[str, ...] = ()  # findings decided, files reset, the feedback written
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(edit.path for edit in self.edits))


class Done(NamedTuple):
    performed: Performed
    commit: str | None = None


Builder = Callable[[Job], Move]


def look(workspace: Workspace, options: Options) -> Job:
    """The run as it stands, to decide about."""
    found = survey(workspace)
    if found.facts is None:
        raise Refusal(*found.state.errors)
    return Job(workspace, found.facts, found.loop, found.state.next, options)


def make(workspace: Workspace, options: Options, verb: str, build: Builder) -> tuple[Move, Done]:
    """Decide and write under the run's lock; what was seen before it was held does not count."""
    with workspace.locked(options.lock_timeout, f"qrspi {verb}"):
        job = look(workspace, options)
        move = build(job)
        return move, carry_out(job, move)


def carry_out(job: Job, move: Move) -> Done:
    """On a locked run. The trail is written before the commit, which a hook may refuse."""
    repo = _repository(job, move)
    if repo:
        commits.check_ready(repo, move.handler)
    done = _written(job, move)
    commit = _commit(job, move, repo) if repo else None
    if move.otherwise and not move.edits and commit is None:
        raise Refusal(move.otherwise)
    return Done(done, commit)


def _written(job: Job, move: Move) -> Performed:
    done = Performed(move.handler, move.step, move.round, move.files, move.notes)
    try:
        torn = [problem for edit in move.edits for problem in write(job.workspace, edit)]
    except Refusal as refusal:
        # A disk that is full is said once, in the words of what it stopped.
        with suppress(Refusal):
            if job.workspace.changes:
                outcome = f"stopped: {refusal.problem.message}"
                audit.record(job.workspace, job.options.actor, done, outcome)
        raise
    done = done._replace(notes=(*move.notes, *(problem.message for problem in torn)))
    audit.record(job.workspace, job.options.actor, done)
    return done


def _repository(job: Job, move: Move) -> Repo | None:
    if not move.message or job.options.no_commit:
        return None
    return repository.find(job.workspace.path)


def write(workspace: Workspace, edit: Edit) -> tuple[Problem, ...]:
    """What there is to say about a log that a line was added to."""
    match edit.kind:
        case "append":
            return workspace.append(edit.path, edit.data)
        case "create":
            workspace.create(edit.path, edit.data)
        case "write":
            workspace.write(edit.path, edit.data)
        case "replace":
            workspace.replace(edit.path, edit.old, edit.data)
        case "remove":
            workspace.remove(edit.path)
        case _:
            assert_never(edit.kind)
    return ()


def _commit(job: Job, move: Move, repo: Repo) -> str | None:
    files = (*move.covers, *owned.changed(job.workspace, repo))
    done = commits.commit(repo, files, move.message)
    if isinstance(done, Committed):
        return done.commit
    if not move.edits:
        commits.catch_up(repo, files)
    return None


def message(verb: str, step: str, run: str) -> str:
    return f"docs(qrspi): {verb} {step} for {slug_of(run)}"


def set_fields(tree: Tree, path: str, fields: dict[str, str], what: str) -> Edit | None:
    """Frontmatter fields of a file that people edit too; None when it has them already."""
    data = tree.read(path)
    if isinstance(data, Fault):
        text = f"cannot read {path}: {data.detail or data.kind}"
        raise Halt(Problem("unreadable", text, file=path))
    changed = data
    for key, value in fields.items():
        edited = frontmatter.set_field(changed, key, value, path)
        if isinstance(edited, Problem):
            raise Refusal(edited)
        changed = edited
    return None if changed == data else Edit("replace", path, what, changed, data)


def to_draft(tree: Tree, step: str) -> tuple[Edit, ...]:
    """The step's artifact first, since it is what gates; then what was approved with it."""
    paths = (STEP[step].artifact, *(tasks(tree) if step == "plan" else ()))
    found = (_draft(tree, path) for path in paths)
    return tuple(edit for edit in found if edit)


def _draft(tree: Tree, path: str) -> Edit | None:
    if frontmatter.status(tree.head(path), path)[0] not in ("approved", "replan-draft"):
        return None
    return set_fields(tree, path, {"status": "draft"}, "status: draft")


def tasks(tree: Tree) -> tuple[str, ...]:
    """Every `tasks/task-*.md`: they are approved and taken back with their plan."""
    named = (
        entry
        for entry in entries(tree, "tasks")
        if entry.name.startswith("task-")
        and entry.name.endswith(".md")
        and not is_dropping(entry.name)
    )
    return tuple(f"tasks/{entry.name}" for entry in named)


def texts(job: Job, step: str) -> tuple[str, ...]:
    """The artifact and its companions; in git also a companion that was deleted."""
    about = subject(step)
    assert about is not None
    repo = repository.find(job.workspace.path)
    return target.files(job.workspace, about, repo) if repo else bodies.paths(job.workspace, step)


def committed_status(job: Job, path: str) -> str:
    """The status that an artifact has in HEAD; '' outside git or where HEAD has none."""
    repo = repository.find(job.workspace.path)
    data = commits.content(repo, "HEAD", path) if repo else None
    return "" if data is None else frontmatter.status(data, path)[0]


def is_behind(job: Job, path: str) -> bool:
    """Whether HEAD has a file as it is and the index does not: a git was killed in between."""
    repo = repository.find(job.workspace.path)
    if repo is None or commits.content(repo, "HEAD", path) != job.workspace.read(path):
        return False
    return commits.lags(repo, [path])


def in_git(job: Job) -> bool:
    return repository.find(job.workspace.path) is not None and not job.options.no_commit
