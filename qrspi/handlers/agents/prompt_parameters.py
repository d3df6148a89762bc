"""What each agent is told: parameters, and texts for agents that print."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from qrspi.core.agents import prompts
from qrspi.core.agents.prompts import (
    Author,
    Fixer,
    Implementer,
    Reviewer,
    Source,
    TaskQuality,
    Verifier,
)
from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt
from qrspi.core.filenames import sidecar_file
from qrspi.core.findings import rejected
from qrspi.core.hints import TYPE_CHECKING, assert_never
from qrspi.core.model import Ask, Finding, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, Subject, upstream
from qrspi.core.records import feedback, step_text
from qrspi.core.rounds.loop import Loop
from qrspi.core.text.shell_words import quoted
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.agents import code_material
from qrspi.handlers.jobs.job import Job
from qrspi.world.runs import role_files

if TYPE_CHECKING:
    from qrspi.core.artifacts.questions import Question
    from qrspi.core.gates.quality.task_spec import Spec


_APART = "research"
_OVER_TASKS = ("parallelize", "integrate", "test")  # made from the plan with every task of it


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
    merged: tuple[Source, ...] = ()  # of integrate: the code, for agents that open no files
    concerns: tuple[Source, ...] = ()  # of the task's implementer


def material(job: Job, *, travels: bool = False) -> Material:
    given = Material(
        text=_sources(job.workspace, _text_paths(job)),
        upstream=_sources(job.workspace, _made_from(job, job.facts.step)),
        diff=_diff(job, job.loop.paths.diff) if job.loop else "",
        since=_diff(job, job.loop.paths.since) if job.loop else "",
        diffs=_diff_texts(job, travels=travels),
        earlier=_earlier(job),
    )
    return _of_code(job, given, job.loop.subject) if job.loop else given


def _of_code(job: Job, given: Material, subject: Subject) -> Material:
    if job.facts.step == "test":
        given = given._replace(upstream=(*given.upstream, *code_material.evidence(job)))
    if subject.key in ("integrate", "test"):
        given = given._replace(worktree=code_material.merged_place(job))
    if subject.key == "integrate":
        return given._replace(merged=code_material.shown(job, given.worktree))
    if subject.key == "implement-gate":
        outcomes = _sources(job.workspace, code_material.of_tasks(job))
        trees = code_material.work_trees(job)
        return given._replace(upstream=(*given.upstream, *outcomes), worktrees=trees)
    return _of_task(job, given) if subject.is_task else given


def _of_task(job: Job, given: Material) -> Material:
    from qrspi.core.records import task_records

    task, folder = code_material.task_place(job, job.round_loop.subject.key)
    said = (task_records.report_file(task.key),) if task.concerns else ()
    return given._replace(
        worktree=folder,
        code=code_material.shown(job, folder),
        concerns=_sources(job.workspace, said),
    )


class Agent(NamedTuple):
    role: Role
    model: str
    prints: bool  # it opens no files: its prompt has all it needs, and it prints its answer
    material: Material = Material()
    draft: Spec | None = None  # a task that is in no file yet
    rules: str = ""  # for a verifier: the role of the reviewer whose finding it is
    travels: bool = False  # it works on another machine
    rejected: tuple[str, ...] = ()  # why its last answer was of no use


def prompt(job: Job, ask: Ask, agent: Agent) -> str:
    parts = role_files.shared_parts()
    # Nobody who works on facts is shown a path: it has the run's name, and leads to the goals.
    apart = ask.subject == _APART
    agent = agent._replace(prints=True) if apart else agent
    if job.next.action == "blocked":  # by the faults of a text that is there
        agent = agent._replace(rejected=(*job.next.because, *agent.rejected))
    away = partial(prompts.prepared, agent.travels or apart)
    match ask.kind:
        case "review":
            return prompts.reviewer_prompt(away(_reviewer(job, ask.target, agent)), parts)
        case "verify":
            return prompts.verifier_prompt(away(_verifier(job, ask.target, agent)), parts)
        case "fix":
            return prompts.fixer_prompt(away(_fixer(job, agent)), parts)
        case "author" | "research-question":
            return prompts.author_prompt(away(_author(job, ask.target, agent)), parts)
        case "implement":
            return prompts.implementer_prompt(_implementer(job, ask.subject, agent), parts)
        case "quality":
            return prompts.task_quality_prompt(_task_quality(job, ask.target, agent), parts)
        case _:
            assert_never(ask.kind)


def _reviewer(job: Job, tag: str, agent: Agent) -> Reviewer:
    loop = job.round_loop
    choice = loop.manifest.choice if loop.manifest else None
    given = agent.material
    code = given.code or (given.merged if agent.prints else ())
    about_code = bool(code)
    upstream = (*given.text, *given.upstream) if about_code else given.upstream
    return Reviewer(
        role=agent.role,
        tag=tag,
        step=loop.subject.key,
        round=loop.round,
        round_subdir=_absolute(job, loop.paths.directory),
        body=(*(code or given.text), *given.concerns),
        body_name="subject_code" if about_code else "artifact_body",
        artifact_path=_absolute(job, loop.subject.artifact),
        diff_file_path=given.diff,
        since_diff_path=given.since,
        earlier=given.earlier,
        upstream_paths=_upstream_paths(job),
        upstream=upstream if agent.prints else (),
        worktree=given.worktree,
        worktree_paths=given.worktrees,
        scope_hint=choice.scope_hint if choice and choice.narrow else (),
        rejected=(*agent.rejected, *rejected.told(job.workspace, loop.paths, tag)),
        actual_model=agent.model,
        prints=agent.prints,
        travels=agent.travels,
        diffs=given.diffs if agent.travels or loop.subject.key == _APART else (),
    )


def _verifier(job: Job, stem: str, agent: Agent) -> Verifier:
    loop = job.round_loop
    finding = _finding(job, stem)
    path = f"{loop.paths.directory}/{finding.file}"
    given = agent.material
    about = (*given.text, *given.code, *given.merged, *given.concerns, *given.upstream)
    sources = (*_sources(job.workspace, (path,)), *about)
    return Verifier(
        role=agent.role,
        step=loop.subject.key,
        rules=agent.rules,
        finding=finding.name,
        finding_file_path=_absolute(job, path),
        sidecar_path=_absolute(job, f"{loop.paths.directory}/{sidecar_file(finding.stem)}"),
        artifact_path=_absolute(job, loop.subject.artifact),
        companion_paths=_companions(job, loop.subject.artifact),
        worktree=given.worktree,
        worktree_paths=given.worktrees,
        diff_file_path=given.diff,
        upstream_paths=_upstream_paths(job),
        sources=sources if agent.prints else (),
        rejected=(*agent.rejected, *rejected.told(job.workspace, loop.paths, finding.stem)),
        actual_model=agent.model,
        prints=agent.prints,
        travels=agent.travels,
        diffs=given.diffs[:1] if agent.travels else (),
    )


def _finding(job: Job, stem: str) -> Finding:
    read = job.round_loop.files
    assert read is not None
    return next(finding for finding in read.findings if finding.stem == stem)


def _fixer(job: Job, agent: Agent) -> Fixer:
    loop = job.round_loop
    files = tuple(f"{loop.paths.directory}/{item.finding.file}" for item in loop.to_apply)
    sources = (*agent.material.text, *_sources(job.workspace, files))
    return Fixer(
        role=agent.role,
        step=loop.subject.key,
        round=loop.round,
        run_dir=_absolute(job, ""),
        artifact_path=_absolute(job, loop.subject.artifact),
        verified_path=_absolute(job, loop.paths.verified),
        dispositions_path=_absolute(job, loop.paths.dispositions),
        finding_file_paths=tuple(_absolute(job, path) for path in files),
        companion_paths=_companions(job, loop.subject.artifact),
        upstream_paths=_upstream_paths(job),
        sources=(*sources, *agent.material.upstream) if agent.prints else (),
        decisions=_said(loop),
        rejected=agent.rejected,
        actual_model=agent.model,
        prints=agent.prints,
        travels=agent.travels,
    )


def _said(loop: Loop) -> tuple[Source, ...]:
    names = (item.finding.name for item in loop.to_apply)
    decided = {name: loop.decided.findings[name] for name in names if name in loop.decided.findings}
    said = {name: " ".join(one.note.split()) for name, one in decided.items()}
    text = "".join(f"- {name}: {words}\n" for name, words in said.items() if words)
    return (Source("decisions", text.encode(errors="replace")),) if text else ()


def _author(job: Job, asked: str, agent: Agent) -> Author:
    step, config = job.facts.step, job.facts.config
    question = _question(job, asked) if asked else None
    said = tuple(path for path in job.next.inputs if path.startswith("feedback/"))
    return Author(
        role=agent.role,
        step=step,
        run_dir=_absolute(job, ""),
        artifact_path=_absolute(job, question.file if question else STEP[step].artifact),
        upstream_paths=_upstream_paths(job),
        feedback_paths=tuple(_absolute(job, path) for path in said),
        pipeline=config.pipeline or "",
        phase=job.facts.phase,
        question=question,
        question_budget=config.question_budget,
        visual_fidelity_required=config.visual_fidelity_required is True,
        sources=_for_author(job, agent, question, said) if agent.prints else (),
        rejected=agent.rejected,
        actual_model=agent.model,
        prints=agent.prints,
        travels=agent.travels,
    )


def _implementer(job: Job, key: str, agent: Agent) -> Implementer:
    from qrspi.core.code_steps import implementers

    task, worktree = code_material.task_place(job, key)
    assert task.start is not None  # nobody is sent to a task without a work tree
    run = job.workspace.path
    told = job.workspace.read(task.item.file)
    vacuous = (implementers.VACUOUS,) if task.tests and task.tests.is_vacuous else ()
    return Implementer(
        role=agent.role,
        task=key,
        task_file_path=_absolute(job, task.item.file),
        worktree=worktree,
        branch=task.start.branch,
        base=task.start.base_commit,
        # A work tree has its own copy of docs/qrspi, or none, so the run is named by its place.
        report_command=implementers.report_command(
            f"qrspi --root {quoted(run)} task report {job.run}", task
        ),
        tests_commit=task.tests.commit if task.tests and not task.awaits_tests else "",
        tests_seen=task.tests.seen if task.tests else "",
        rejected=(*vacuous, *agent.rejected),
        criteria_of="test" if implementers.is_acceptance(key) else "task",
        cycle=task.cycle,
        test_command=code_material.test_command(job),
        finding_file_paths=tuple(_absolute(job, path) for path in task.findings),
        upstream_paths=_upstream_paths(job),
        sources=() if isinstance(told, Fault) else (Source(task.item.file, told),),
        actual_model=agent.model,
        orchestration_db="" if task.awaits_tests else code_material.database(job, key),
    )


def _question(job: Job, name: str) -> Question:
    from qrspi.core.steps import research_sources

    asked = research_sources.asked(job.facts).inquiry
    return next(question for question in asked.open if question.name == name)


def _for_author(
    job: Job, agent: Agent, question: Question | None, said: tuple[str, ...]
) -> tuple[Source, ...]:
    """An agent that answers a question for the first time sees only the question."""
    if question:
        before = _sources(job.workspace, (question.file, *said)) if said else ()
        return tuple(
            one._replace(data=feedback.words(one.data)) if one.name in said else one
            for one in before
        )
    given = agent.material
    return (*given.upstream, *given.text, *_sources(job.workspace, said))


def _text_paths(job: Job) -> tuple[str, ...]:
    loop = job.loop
    if loop and loop.subject.is_task:
        return (loop.subject.artifact,)
    return step_text.paths(job.workspace, job.facts.step)


def _companions(job: Job, artifact: str) -> tuple[str, ...]:
    return tuple(_absolute(job, path) for path in _text_paths(job) if path != artifact)


def _upstream_paths(job: Job) -> tuple[str, ...]:
    made_from = _made_from(job, job.facts.step)
    if job.facts.step == "test":
        made_from = (*made_from, *code_material.evidence_paths(job))
    if job.loop and job.loop.subject.key == "implement-gate":
        made_from = (*made_from, *code_material.of_tasks(job))
    return prompts.upstream_paths(made_from, _absolute(job, ""))


def _made_from(job: Job, step: str) -> tuple[str, ...]:
    found = upstream(step, job.facts.route, job.facts.names)
    if step not in _OVER_TASKS:
        return found
    tasks = (path for path in step_text.paths(job.workspace, "plan") if path not in found)
    return (*found, *tasks)


def _earlier(job: Job) -> tuple[Source, ...]:
    loop = job.loop
    if loop is None or loop.round < 2 or loop.stage not in ("reviewing", "guarded"):
        return ()
    from qrspi.core.rounds import convergence, finding_history

    base = convergence.base_of(loop.subject, job.facts.records)
    lines = finding_history.fates(job.workspace, loop, job.facts.config, base)
    text = "".join(f"- {line}\n" for line in lines)
    return (Source("earlier-findings", text.encode(errors="replace")),) if lines else ()


def _diff(job: Job, path: str) -> str:
    size = job.workspace.size(path)
    return "" if isinstance(size, Fault) else _absolute(job, path)


def _diff_texts(job: Job, *, travels: bool) -> tuple[Source, ...]:
    """For an agent without paths. The run's folder is left out of facts: its name would tell."""
    apart = job.facts.step == _APART
    if job.loop is None or not (travels or apart):
        return ()
    whole = {} if apart else {"diff": job.loop.paths.diff}
    named = {**whole, "since-diff": job.loop.paths.since}
    found = {name: _sources(job.workspace, (path,)) for name, path in named.items()}
    folder = f"docs/qrspi/{job.run}/".encode()
    return tuple(
        Source(name, one.data.replace(folder, b"") if apart else one.data)
        for name, sources in found.items()
        for one in sources
    )


def _sources(tree: Tree, paths: Iterable[str]) -> tuple[Source, ...]:
    sources = []
    for path in paths:
        data = tree.read(path)
        if not isinstance(data, Fault):
            sources.append(Source(path, data))
        elif data.kind != "absent":
            text = f"{path} cannot be read: {data.reason}"
            raise Halt(Problem("unreadable", text, file=path))
    return tuple(sources)


def _absolute(job: Job, path: str) -> str:
    return f"{job.workspace.path}/{path}" if path else job.workspace.path


def _task_quality(job: Job, key: str, agent: Agent) -> TaskQuality:
    from qrspi.core.gates.quality import quality_gate, task_spec
    from qrspi.handlers.changes import code_repository

    spec = agent.draft or quality_gate.read_spec(job.workspace, key)
    if isinstance(spec, Problem):
        raise Halt(spec)
    text = task_spec.told(spec, code_repository.project_root(job))
    return TaskQuality(agent.role, key, (Source(key, text.encode()),), agent.model)
