"""A decision as the writes it consists of, in the order in which they are made.

`--dry-run` shows the same list that is carried out. A kill leaves the beginning of that list, so
its first writes must let the same command, run again, find the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from qrspi.core.config import reader as configs
from qrspi.core.config import safeguards
from qrspi.core.derivation.derive import survey
from qrspi.core.errors import Halt, Refusal, accepted
from qrspi.core.filenames import is_dropping, slug_of
from qrspi.core.hints import Literal, assert_never
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject_of
from qrspi.core.records import approvals, step_text, written_lines
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.rounds import manifest, round_list
from qrspi.core.steps import text_parts
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree, entries, exists
from qrspi.core.yaml import frontmatter, writer
from qrspi.handlers.changes import review_target
from qrspi.handlers.jobs.carry_out import half_on_record, record
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.git import commits, repository
from qrspi.world.git.commits import Committed
from qrspi.world.git.repository import Repo
from qrspi.world.machine import clock, git_person
from qrspi.world.runs.workspace import Workspace


class Edit(NamedTuple):
    kind: Literal["append", "create", "write", "replace", "remove"]
    path: str  # run-relative
    what: str  # in words
    data: bytes = b""
    old: bytes = b""  # what is replaced
    who: str = ""  # of a line about a decision: the person who made it


class ChangeSet(NamedTuple):
    handler: str
    step: str
    round: int
    edits: tuple[Edit, ...]
    message: str = ""  # of the commit; '' when none is made
    mark: str = ""  # a line of its own in that message
    covers: tuple[str, ...] = ()  # what the commit includes besides the engine's own files
    otherwise: Problem | None = None  # why there is nothing to do, if so
    concerns: tuple[str, ...] = ()  # findings decided, files reset, the feedback written
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(edit.path for edit in self.edits))


class Done(NamedTuple):
    performed: Performed
    commit: str | None = None


def look(workspace: Workspace, options: Options) -> Job:
    return Job.of(workspace, survey(workspace), options)


@contextmanager
def deciding(workspace: Workspace, options: Options, verb: str) -> Iterator[Job]:
    """The run, held and read anew, until the decision is carried out."""
    with workspace.locked(options.lock_timeout, f"qrspi {verb}"):
        yield look(workspace, options)


def carry_out(job: Job, change: ChangeSet) -> Done:
    """On a locked run. The trail is written before the commit, since a hook may refuse that."""
    commits_it = change.message and job.commits
    repo = repository.find(job.workspace.path) if commits_it else None
    if repo:
        commits.check_ready(repo, change.handler)
    performed = _written(job, change)
    commit = _commit(job, change, repo) if repo else None
    if change.otherwise and not change.edits and commit is None:
        raise Refusal(change.otherwise)
    return Done(performed, commit)


def _written(job: Job, change: ChangeSet) -> Performed:
    deed = Performed(change.handler, change.step, change.round, change.files, change.notes)
    with half_on_record(job, deed):
        torn = [problem for edit in change.edits for problem in write(job.workspace, edit)]
    who = next((edit.who for edit in change.edits if edit.who), "")
    deed = deed._replace(notes=(*change.notes, *(problem.message for problem in torn)), who=who)
    record(job.workspace, job.options.actor, deed)
    return deed


def write(workspace: Workspace, edit: Edit) -> tuple[Problem, ...]:
    match edit.kind:
        case "append":
            return _append(workspace, edit)
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


def _append(workspace: Workspace, edit: Edit) -> tuple[Problem, ...]:
    """A decision that the same command left when it was killed is not written twice."""
    decides = edit.path == approvals.FILE
    if left := written_lines.left_of(workspace, edit.data) if decides else None:
        workspace.take_up(edit.path, *left)
        return ()
    return workspace.append(edit.path, edit.data)


def _commit(job: Job, change: ChangeSet, repo: Repo) -> str | None:
    from qrspi.handlers.changes import engine_files

    own = engine_files.find(job.workspace, repo)
    removed = (edit.path for edit in change.edits if edit.kind == "remove")
    files = (*change.covers, *removed, *own.paths)
    signed = dict.fromkeys((*_marks(change), *_signature(job, change), *own.signatures))
    committed = commits.commit(repo, files, change.message, tuple(signed))
    if isinstance(committed, Committed):
        return committed.commit
    if not change.edits:
        commits.catch_up(repo, files)
    return None


def _marks(change: ChangeSet) -> tuple[str, ...]:
    return (change.mark,) if change.mark else ()


def on_record_in_git(job: Job, change: ChangeSet, what: str) -> ChangeSet:
    """A decision that nothing is built on yet: rounds are compared as if its commit were not
    there."""
    key, number = change.step, change.round
    words = f"{what} in round {number:02d} of" if number else f"{what} for"
    mark = f"{commits.DECISION}{job.run}/{key}/{number:02d}"
    return change._replace(message=message(words, key, job.run), mark=mark)


def lacks_commit(job: Job, paths: Sequence[str]) -> bool:
    """Whether git lacks what these files say: a command was killed before its commit."""
    repo = repository.find(job.workspace.path)
    return repo is not None and job.commits and not commits.is_on_record(repo, paths)


def _signature(job: Job, change: ChangeSet) -> tuple[str, ...]:
    """Of a round that is committed with a decision: a clone then knows it as the engine's."""
    loop = job.loop
    if loop is None or loop.opening != "opened" or loop.subject.reviews not in change.covers:
        return ()
    return manifest.signature(job.workspace, loop.paths)


def message(verb: str, step: str, run: str) -> str:
    return f"docs(qrspi): {verb} {step} for {slug_of(run)}"


def mark(tree: Tree, step: str) -> Mark:
    subject = subject_of(step)
    return Mark(step, step_text.body_hash(tree, subject), round_list.highest(tree, subject))


def on_record(job: Job, decided: Record, named: str = "") -> Edit:
    """A name that somebody gave stands beside what git and the machine say."""
    return signed(job.workspace, job.options.actor, (decided,), named)


def signed(workspace: Workspace, surface: str, decided: Iterable[Record], named: str = "") -> Edit:
    decided = tuple(decided)
    refuse_long((named, *(text for one in decided for text in (one.note, one.reason))))
    who, user, when = git_person.at(workspace.path), git_person.user(), clock.now_utc()
    routed = (on_route(workspace, one) for one in decided)
    parted = (with_parts(workspace, one) for one in routed)
    guarded = (with_safeguards(workspace, one) for one in parted)
    records = [
        one._replace(who=who, user=user, named=named, when=when, surface=surface) for one in guarded
    ]
    by = _beside(who, named)
    what = ", ".join(f"{_what(record)} by {by}" for record in records)
    data = b"".join(map(approvals.render, records))
    return Edit("append", approvals.FILE, what, data, who=records[0].person)


def refuse_long(words: Iterable[str]) -> None:
    """Records are read whole, each time."""
    most, longest = approvals.LONGEST_WORDS, max(map(len, words))
    if longest > most:
        text = f"what you say has {longest:,} characters, expected at most {most:,}"
        raise Refusal(Problem("too-large", text, field="-m", expected=f"at most {most:,}"))


def on_route(tree: Tree, record: Record) -> Record:
    """With the route of the run, so that a later change by hand is noticed."""
    if record.route or record.event not in approvals.ABOUT_STEPS:
        return record
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    return record._replace(route=approvals.route_text(config.pipeline, config.route))


def with_parts(tree: Tree, record: Record) -> Record:
    """With what is taken back, so that its next approval can be told what changed since; and with
    what is approved, where that is more than one file."""
    approves_several = record.event == "approve" and STEP[record.step].companions
    if record.event not in approvals.OBJECTIONS and not approves_several:
        return record
    steps = dict.fromkeys((record.step, *(one.step for one in record.resets)))
    parts = (part for step in steps for part in text_parts.of_step(tree, step))
    return record._replace(parts=tuple(parts))


def with_safeguards(tree: Tree, record: Record) -> Record:
    """With what config.md asks of reviews: an approval is given under that, and the person has been
    told of what was changed by hand."""
    if record.safeguards or record.event != "approve":
        return record
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    return record._replace(safeguards=safeguards.text(safeguards.asked(config)))


def _beside(who: str, named: str) -> str:
    return f"{who} as {named}" if named else who


def decider(job: Job, named: str = "") -> str:
    return _beside(git_person.at(job.workspace.path), named)


def _what(record: Record) -> str:
    parts = (record.event, record.step, record.finding, record.option)
    return " ".join(part for part in parts if part)


def on_record_for(job: Job, decided: Record, who: str) -> Edit:
    decided = on_route(job.workspace, decided)
    record = decided._replace(who=who, when=clock.now_utc(), surface=job.options.actor)
    what = f"{record.event} {record.step} by {record.who}"
    return Edit("append", approvals.FILE, what, approvals.render(record))


def decision(job: Job, event: str, key: str, number: int, edit: Edit | None = None) -> Record:
    subject = subject_of(key) if key else None
    text = step_text.body_hash(job.workspace, subject) if subject else ""
    digest = hashlib.sha256(edit.data).hexdigest() if edit and edit.kind != "remove" else ""
    return Record(event, key, text, number, file=edit.path if edit else "", file_hash=digest)


def is_newest_record(job: Job, event: str, marked: Mark) -> bool:
    """Whether it says exactly this, left by a command that was killed after it."""
    entry = approvals.newest(job.facts.records, marked.step)
    if entry is None or (entry.event, entry.round) != (event, marked.round):
        return False
    return entry.body_hash == marked.body_hash or (
        marked == mark(job.workspace, marked.step)
        and step_text.is_unchanged(job.workspace, subject_of(marked.step), entry.body_hash)
    )


def is_own_newest_approval(job: Job, marked: Mark, named: str) -> bool:
    """One person's yes never stands for another's."""
    if not is_newest_record(job, "approve", marked):
        return False
    entry = approvals.newest(job.facts.records, marked.step)
    mine = (git_person.at(job.workspace.path), named)
    return entry is not None and (entry.who, entry.named) == mine


def set_fields(tree: Tree, path: str, fields: dict[str, str], what: str) -> Edit | None:
    """Frontmatter fields of a file that people edit too; None when it already has them."""
    data = content(tree, path)
    changed = with_fields(data, fields, path)
    return None if changed == data else Edit("replace", path, what, changed, data)


def content(tree: Tree, path: str) -> bytes:
    """Halts when the file cannot be read: it must be there."""
    data = tree.read(path)
    if isinstance(data, Fault):
        text = f"cannot read {path}: {data.reason}"
        raise Halt(Problem("unreadable", text, file=path))
    return data


def with_fields(data: bytes, fields: dict[str, str], path: str) -> bytes:
    for key, value in fields.items():
        data = accepted(writer.set_field(data, key, value, path))
    return data


def to_draft(tree: Tree, step: str) -> tuple[Edit, ...]:
    """The step's artifact first, since its status is what lets a run go on."""
    edits = (_draft(tree, path) for path in approved_together(tree, step))
    return tuple(edit for edit in edits if edit)


def _draft(tree: Tree, path: str) -> Edit | None:
    if frontmatter.status(tree.head(path), path)[0] not in ("approved", "replan-draft"):
        return None
    return set_fields(tree, path, {"status": "draft"}, "status: draft")


def approved_together(tree: Tree, step: str) -> tuple[str, ...]:
    return (STEP[step].artifact, *(task_files(tree) if step == "plan" else ()))


def task_files(tree: Tree) -> tuple[str, ...]:
    named = (
        entry
        for entry in entries(tree, "tasks")
        if entry.name.startswith("task-")
        and entry.name.endswith(".md")
        and not is_dropping(entry.name)
    )
    return tuple(f"tasks/{entry.name}" for entry in named)


def texts(job: Job, step: str) -> tuple[str, ...]:
    if repo := repository.find(job.workspace.path):
        return review_target.files(job.workspace, subject_of(step), repo)
    return step_text.paths(job.workspace, step)


def is_behind(job: Job, path: str) -> bool:
    """Whether HEAD has the present file and the index does not: git was killed in between."""
    repo = repository.find(job.workspace.path)
    if repo is None or commits.content(repo, "HEAD", path) != job.workspace.read(path):
        return False
    return commits.lags(repo, [path])


def uncommitted(job: Job, steps: Iterable[str], *, approved: bool) -> tuple[str, ...]:
    """Of these steps, those whose approval, or return to draft, git lacks in part."""
    artifacts = {step: STEP[step].artifact for step in steps}
    repo = repository.find(job.workspace.path)
    if repo is None or not job.commits or not artifacts:
        return ()
    stored = commits.contents(repo, "HEAD", tuple(artifacts.values()))
    same = [path for path, data in stored.items() if job.workspace.read(path) == data]
    lags = bool(same) and commits.lags(repo, same)

    def lacks(path: str) -> bool:
        known = path in stored and frontmatter.status(stored[path], path)[0] == "approved"
        return known != approved or (lags and path in same and commits.lags(repo, [path]))

    return tuple(step for step, path in artifacts.items() if lacks(path))


def in_git(job: Job) -> bool:
    return repository.find(job.workspace.path) is not None and job.commits


def commit_files(job: Job, paths: Sequence[str], what: str, link: str = "for") -> str | None:
    """With the engine's own files. None outside git, or when a person commits by hand."""
    repo = repository.find(job.workspace.path)
    if repo is None or not job.commits:
        return None
    from qrspi.handlers.changes import engine_files

    own = engine_files.find(job.workspace, repo)
    message = f"docs(qrspi): {what} {link} {slug_of(job.run)}"
    committed = commits.commit(repo, (*paths, *own.paths), message, own.signatures)
    return committed.commit if isinstance(committed, Committed) else None


def commit_edited(job: Job) -> None:
    """What a person changed in a text is in git before an answer is put over it."""
    paths = step_text.paths(job.workspace, job.facts.step)
    # Answers to questions come with the first summary.
    if exists(job.workspace, paths[0]) and lacks_commit(job, paths):
        commit_files(job, paths, f"edit {job.facts.step}")
