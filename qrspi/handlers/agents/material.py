"""What agents are given: texts, code, diffs, how tasks came out, what their tests said."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.agents import prompts
from qrspi.core.agents.prompts import Source
from qrspi.core.config.reader import NO_TESTS
from qrspi.core.derivation import to_read
from qrspi.core.errors import Halt
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CODE_STEPS, Subject, subject_of
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs.job import Job

if TYPE_CHECKING:
    from qrspi.core.code_steps.task_state import TaskState

APART = "research"
EVIDENCE_LIMIT = 16 * 1024 * 1024
EVIDENCE_SHOWN = 256 * 1024


class Material(NamedTuple):
    """What all agents of a step may need. It is read once, however many are sent."""

    text: tuple[Source, ...] = ()  # the artifact with its companions
    upstream: tuple[Source, ...] = ()
    diff: str = ""  # its path; empty outside git
    since: str = ""  # in a later round: the path of what changed since the one before
    diffs: tuple[Source, ...] = ()  # both as texts, for an agent on another machine
    earlier: tuple[Source, ...] = ()  # in a later round: what became of each finding so far
    worktree: str = ""  # of a task, or the repository where all tasks are merged
    worktrees: tuple[str, ...] = ()  # of all tasks, before they are merged
    code: tuple[Source, ...] = ()
    merged: tuple[Source, ...] = ()  # of several tasks: the code, for agents that open no files
    changes: tuple[Source, ...] = ()  # what the code's diff says, for the same
    changed_since: tuple[Source, ...] = ()  # in a later round of code: of that, what is new
    tests: str = ""  # the command that runs them, or none
    concerns: tuple[Source, ...] = ()  # of the task's implementer
    outside: tuple[Source, ...] = ()  # names of files that the task does not allow, and changes
    outside_count: int = 0
    code_path: str = ""  # where the code is, when that is not where the run lies


def read(job: Job, *, travels: bool = False) -> Material:
    given = Material(
        text=sources(job.workspace, text_paths(job)),
        upstream=_upstream(job),
        diff=_diff(job, job.loop.paths.diff) if job.loop else "",
        since=_diff(job, job.loop.paths.since) if job.loop else "",
        diffs=_diff_texts(job, travels=travels),
        earlier=_earlier(job),
        code_path=_code_path(job),
    )
    return _of_code(job, given, job.loop.subject) if job.loop else given


def _upstream(job: Job) -> tuple[Source, ...]:
    """Whoever looks for facts is not shown what stands around the questions, a title say."""
    found = sources(job.workspace, _shown_upstream(job))
    return tuple(map(_questions_alone, found)) if job.facts.step == APART else found


def _questions_alone(source: Source) -> Source:
    from qrspi.core.artifacts import questions

    if source.name != questions.ARTIFACT:
        return source
    listed = questions.listing(questions.parse(source.data)[0])
    return Source("questions", listed.encode())


def _shown_upstream(job: Job) -> tuple[str, ...]:
    """Without what the tests said, of which only the end may be shown."""
    apart = frozenset(to_read.evidence(job.facts)) if job.facts.step == "test" else ()
    found = to_read.made_from(job.facts, _subject(job))
    return tuple(path for path in found if path not in apart)


def _of_code(job: Job, given: Material, subject: Subject) -> Material:
    if job.facts.step == "test":
        given = given._replace(upstream=(*given.upstream, *_evidence(job)))
    if subject.is_task or subject.key in ("implement-gate", "integrate", "test"):
        given = given._replace(tests=_said_of_tests(job))
        given = given._replace(changed_since=_text_of_diff(job, job.round_loop.paths.since))
    if subject.key in ("integrate", "test"):
        from qrspi.handlers.changes import as_committed

        as_committed.refuse_other_whole(job)
        given = given._replace(worktree=_merged_place(job))
    if subject.key == "integrate":
        return given._replace(merged=_code(job), changes=_change(job, given))
    if subject.key == "implement-gate":
        return _of_all_tasks(job, given)
    return _of_task(job, given) if subject.is_task else given


def _of_all_tasks(job: Job, given: Material) -> Material:
    from qrspi.handlers.changes import shown_code

    places = tuple(place for _, place in shown_code.worked_on(job))
    code = shown_code.of_tasks(job)
    return given._replace(worktrees=places, merged=code.files, changes=code.diffs)


def _change(job: Job, given: Material) -> tuple[Source, ...]:
    """Who works on another machine has it already."""
    return () if given.diffs else _whole_diff(job)


def _of_task(job: Job, given: Material) -> Material:
    from qrspi.core.records import task_records

    task, folder = task_place(job, job.round_loop.subject.key)
    _refuse_other(job, folder)
    said = (task_records.report_file(task.key),) if task.concerns else ()
    names = "".join(f"{name}\n" for name in task.outside.names)
    outside = (Source("outside-allowed-files", names.encode()),) if names else ()
    return given._replace(
        worktree=folder,
        code=_code(job),
        changes=_change(job, given),
        concerns=sources(job.workspace, said),
        outside=outside,
        outside_count=task.outside.number,
    )


def _refuse_other(job: Job, folder: str) -> None:
    from qrspi.handlers.changes import as_committed, code_repository
    from qrspi.world.git import worktrees

    loop = job.round_loop
    own = worktrees.at(code_repository.repository_of(job), folder) if folder else None
    if own and loop.manifest and loop.manifest.commit:
        as_committed.refuse_other(job, loop.subject.key, own, loop.manifest.commit)


def text_paths(job: Job) -> tuple[str, ...]:
    return to_read.text(job.facts, _subject(job) or subject_of(job.facts.step))


def _subject(job: Job) -> Subject | None:
    return job.loop.subject if job.loop else None


def upstream_paths(job: Job, subject: Subject | None = None) -> tuple[str, ...]:
    found = to_read.made_from(job.facts, subject or _subject(job))
    return prompts.upstream_paths(found, absolute(job, ""))


def _earlier(job: Job) -> tuple[Source, ...]:
    loop = job.loop
    if loop is None or loop.round < 2 or loop.stage not in ("reviewing", "guarded", "verifying"):
        return ()
    from qrspi.core.rounds import convergence, finding_history

    base = convergence.base_of(loop.subject, job.facts.records)
    lines = finding_history.fates(job.workspace, loop, job.facts.config, base)
    text = "".join(f"- {line}\n" for line in lines)
    return (Source("earlier-findings", text.encode(errors="replace")),) if lines else ()


def _diff(job: Job, path: str) -> str:
    size = job.workspace.size(path)
    return "" if isinstance(size, Fault) else absolute(job, path)


def _diff_texts(job: Job, *, travels: bool) -> tuple[Source, ...]:
    """For an agent without paths. The run's folder is left out of facts: its name would tell."""
    apart = job.facts.step == APART
    if job.loop is None or not (travels or apart):
        return ()
    if job.loop.subject.step in CODE_STEPS:
        diffs = {"diff": _whole_diff(job), "since-diff": _text_of_diff(job, job.loop.paths.since)}
        return tuple(one._replace(name=name) for name, texts in diffs.items() for one in texts)
    whole = {} if apart else {"diff": job.loop.paths.diff}
    named = {**whole, "since-diff": job.loop.paths.since}
    found = {name: sources(job.workspace, (path,)) for name, path in named.items()}
    folder = f"docs/qrspi/{job.run}/".encode()
    return tuple(
        Source(name, one.data.replace(folder, b"") if apart else one.data)
        for name, sources in found.items()
        for one in sources
    )


def sources(tree: Tree, paths: Iterable[str]) -> tuple[Source, ...]:
    sources = []
    for path in paths:
        data = tree.read(path)
        if not isinstance(data, Fault):
            sources.append(Source(path, data))
        elif data.kind != "absent":
            text = f"{path} cannot be read: {data.reason}"
            raise Halt(Problem("unreadable", text, file=path))
    return tuple(sources)


def absolute(job: Job, path: str) -> str:
    return f"{job.workspace.path}/{path}" if path else job.workspace.path


def task_place(job: Job, key: str) -> tuple[TaskState, str]:
    """A task and its work tree, which is '' before the task was started."""
    from qrspi.handlers.tasks import reports

    task = reports.state_of(job, key)
    return task, reports.worktree(job, task)


def _code(job: Job) -> tuple[Source, ...]:
    from qrspi.handlers.changes import shown_code

    loop = job.round_loop
    diff = _whole_diff(job)
    return shown_code.of_round(job, loop.manifest, sum(len(one.data) for one in diff))


def _whole_diff(job: Job) -> tuple[Source, ...]:
    """Of code from git, as the code itself: its file lies where others write."""
    from qrspi.handlers.changes import shown_code

    loop = job.round_loop
    data = shown_code.diff_of_round(job, loop.manifest)
    if data is None:
        return _text_of_diff(job, loop.paths.diff)
    return (_with_room(Source(loop.paths.diff, data)),)


def _text_of_diff(job: Job, path: str) -> tuple[Source, ...]:
    """Only there is what was taken away."""
    return tuple(map(_with_room, sources(job.workspace, (path,))))


def _with_room(diff: Source) -> Source:
    from qrspi.core.text import plain_diff

    return diff._replace(data=plain_diff.shown(diff.data).text)


def _merged_place(job: Job) -> str:
    from qrspi.handlers.changes import code_repository

    return code_repository.repository_of(job).root


def _evidence(job: Job) -> tuple[Source, ...]:
    """What the tests said, with the diff, for an agent that opens no files; of a long file, its
    end."""
    named = to_read.evidence(job.facts)
    read = ((path, job.workspace.read(path, EVIDENCE_LIMIT)) for path in named)
    found = (_end(path, data) for path, data in read if not isinstance(data, Fault))
    return (*found, *_whole_diff(job))


def _end(name: str, data: bytes) -> Source:
    if len(data) <= EVIDENCE_SHOWN:
        return Source(name, data)
    cut = data.find(b"\n", len(data) - EVIDENCE_SHOWN - 1) + 1
    return Source(name, b"[the first %d bytes are not shown]\n" % cut + data[cut:])


def test_command(job: Job) -> str:
    """An agent that is told of it will run it, so the user must have allowed it."""
    line = job.facts.config.test_command
    if not line:
        return ""
    from qrspi.core import trust
    from qrspi.world.consent import permits

    named = trust.shell("gates.test_command", line)
    return permits.permit(job.project, job.run, named).named.text


def _code_path(job: Job) -> str:
    """The same of a repository elsewhere: who is told of it will open it."""
    place = job.facts.config.code_path
    if not place:
        return ""
    from qrspi.handlers.changes import code_repository
    from qrspi.world.git import repository

    if not repository.is_allowed(job.project, place):
        return ""
    return code_repository.project_root(job)


def _said_of_tests(job: Job) -> str:
    """For who may run them. What the user has not allowed is kept from it: it works without."""
    said = job.facts.config.said_of_tests
    if said in ("", NO_TESTS):
        return said
    from qrspi.core import trust
    from qrspi.world.consent import permits

    return "" if permits.lacking(job.project, (trust.shell("gates.test_command", said),)) else said


def database(job: Job, key: str) -> str:
    """Where an implementer asks for review while it works; '' for a task without a row."""
    if not job.facts.config.has_checkpoints or key not in job.facts.tasks:
        return ""
    from qrspi.core.gates.checkpoints.checkpoint_tables import FILE

    return f"{job.workspace.path}/{FILE}"
