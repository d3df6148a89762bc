"""What each agent is told: parameters, and texts for agents that print."""

from __future__ import annotations

from functools import partial

from qrspi.core.agents import prompt_lines, prompts
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
from qrspi.core.derivation import to_read
from qrspi.core.errors import Halt
from qrspi.core.filenames import sidecar_file, slug_of
from qrspi.core.findings import rejected
from qrspi.core.hints import TYPE_CHECKING, assert_never
from qrspi.core.model import Ask, Finding, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject_of
from qrspi.core.text.shell_words import quoted
from qrspi.core.tree import exists
from qrspi.handlers.agents import material
from qrspi.handlers.agents.material import Material
from qrspi.handlers.jobs.job import Job
from qrspi.world.runs import role_files

if TYPE_CHECKING:
    from qrspi.core.artifacts.inquiry import QuestionGroup
    from qrspi.core.gates.quality.task_spec import Spec
    from qrspi.core.rounds.loop import Loop


class Agent(NamedTuple):
    role: Role
    model: str
    prints: bool  # it opens no files: its prompt has all it needs, and it prints its answer
    material: Material = Material()
    draft: Spec | None = None  # a task that is in no file yet
    rules: str = ""  # for a verifier: the role of the reviewer whose finding it is
    travels: bool = False  # it works on another machine
    rejected: tuple[str, ...] = ()  # why its last answer was of no use
    corrects: bool = False  # a text that is there, and is at fault


def prompt(job: Job, ask: Ask, agent: Agent) -> str:
    parts = role_files.shared_parts()
    # Nobody who works on facts is shown a path: it has the run's name, and leads to the goals.
    apart = ask.subject == material.APART
    agent = agent._replace(prints=True) if apart else agent
    if job.next.action == "blocked":  # by the faults of a text that is there
        agent = agent._replace(rejected=(*job.next.because, *agent.rejected), corrects=True)
    elif job.next.kind == "fix-files" and job.loop and job.loop.files:
        faults = rejected.about(job.loop.files, ask.target)
        mends = bool(faults) and not agent.prints
        agent = agent._replace(rejected=(*faults, *agent.rejected), corrects=mends)
    away = partial(prompt_lines.prepared, agent.travels or apart)
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
        round_subdir=material.absolute(job, loop.paths.directory),
        body=code or given.text,
        body_name="subject_code" if about_code else "artifact_body",
        artifact_path=material.absolute(job, loop.subject.artifact),
        diff_file_path=given.diff,
        since_diff_path=given.since,
        earlier=given.earlier,
        concerns=given.concerns,
        outside=given.outside,
        outside_count=given.outside_count,
        upstream_paths=material.upstream_paths(job),
        upstream=upstream if agent.prints else (),
        worktree=given.worktree,
        worktree_paths=given.worktrees,
        code_path=_code_path(agent),
        test_command=given.tests,
        scope_hint=choice.scope_hint if choice and choice.narrow else (),
        rejected=(*agent.rejected, *rejected.told(job.workspace, loop.paths, tag)),
        corrects=agent.corrects,
        actual_model=agent.model,
        prints=agent.prints,
        travels=agent.travels,
        diffs=_diffs_for_reviewer(agent, loop.subject.key == material.APART),
    )


def _diffs_for_reviewer(agent: Agent, apart: bool) -> tuple[Source, ...]:
    """In a later round of code also what is new. Where that was narrowed, both are the same."""
    shown = _shown_diffs(agent, agent.material.diffs, apart)
    since = agent.material.changed_since if agent.prints and not agent.travels else ()
    known = {one.data for one in shown}
    return (*shown, *(one for one in since if one.data not in known))


def _code_path(agent: Agent) -> str:
    """Who is shown a work tree finds the code there; on another machine the path leads nowhere."""
    given = agent.material
    return "" if agent.travels or given.worktree or given.worktrees else given.code_path


def _verifier(job: Job, stem: str, agent: Agent) -> Verifier:
    loop = job.round_loop
    finding = _finding(job, stem)
    path = f"{loop.paths.directory}/{finding.file}"
    given = agent.material
    about = (*given.text, *given.code, *given.merged, *given.concerns, *given.upstream)
    sources = (*material.sources(job.workspace, (path,)), *about)
    return Verifier(
        role=agent.role,
        step=loop.subject.key,
        rules=agent.rules,
        finding=finding.name,
        finding_file_path=material.absolute(job, path),
        sidecar_path=material.absolute(job, f"{loop.paths.directory}/{sidecar_file(finding.stem)}"),
        artifact_path=material.absolute(job, loop.subject.artifact),
        companion_paths=_companions(job, loop.subject.artifact),
        worktree=given.worktree,
        worktree_paths=given.worktrees,
        code_path=_code_path(agent),
        test_command=given.tests,
        diff_file_path=given.diff,
        upstream_paths=material.upstream_paths(job),
        sources=sources if agent.prints else (),
        earlier=given.earlier,
        rejected=(*agent.rejected, *rejected.told(job.workspace, loop.paths, finding.stem)),
        corrects=agent.corrects,
        actual_model=agent.model,
        prints=agent.prints,
        travels=agent.travels,
        diffs=_shown_diffs(agent, given.diffs[:1]),
    )


def _shown_diffs(
    agent: Agent, texts: tuple[Source, ...], apart: bool = False
) -> tuple[Source, ...]:
    """Whoever is given no path, or opens no files, is given what a diff says."""
    whole = texts if agent.travels or apart else ()
    return (*whole, *agent.material.changes) if agent.prints else whole


def _finding(job: Job, stem: str) -> Finding:
    read = job.round_loop.files
    assert read is not None
    return next(finding for finding in read.findings if finding.stem == stem)


def _fixer(job: Job, agent: Agent) -> Fixer:
    loop = job.round_loop
    files = tuple(f"{loop.paths.directory}/{item.finding.file}" for item in loop.to_apply)
    record = (loop.paths.dispositions,) if agent.corrects else ()
    sources = (*agent.material.text, *material.sources(job.workspace, (*files, *record)))
    return Fixer(
        role=agent.role,
        step=loop.subject.key,
        round=loop.round,
        run_dir=material.absolute(job, ""),
        artifact_path=material.absolute(job, loop.subject.artifact),
        verified_path=material.absolute(job, loop.paths.verified),
        dispositions_path=material.absolute(job, loop.paths.dispositions),
        finding_file_paths=tuple(material.absolute(job, path) for path in files),
        companion_paths=_companions(job, loop.subject.artifact),
        code_path=_code_path(agent),
        upstream_paths=material.upstream_paths(job),
        sources=(*sources, *agent.material.upstream) if agent.prints else (),
        decisions=_said(loop),
        rejected=agent.rejected,
        corrects=agent.corrects,
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
    is_replanned = to_read.is_replanned(job.facts)
    questions = _asked(job, asked) if asked else None
    said = tuple(path for path in job.next.inputs if path.startswith("feedback/"))
    given = _for_author(job, agent, questions, said) if agent.prints else ()
    return Author(
        role=agent.role,
        step=step,
        run_dir=material.absolute(job, ""),
        artifact_path=material.absolute(job, questions.file if questions else STEP[step].artifact),
        upstream_paths=material.upstream_paths(job),
        feedback_paths=tuple(material.absolute(job, path) for path in said),
        existing_paths=_existing(job, agent, said),
        pipeline=config.pipeline or "",
        slug=slug_of(job.run) if step == "parallelize" else "",
        phase=job.facts.phase + is_replanned,
        is_replanned=is_replanned,
        asked=questions,
        question_budget=config.question_budget if step == "questions" else None,
        visual_fidelity_required=config.visual_fidelity_required is True,
        code_path=_code_path(agent),
        sources=given,
        said=_is_spoken_of(questions, given, said),
        rejected=agent.rejected,
        corrects=agent.corrects,
        actual_model=agent.model,
        prints=agent.prints,
        travels=agent.travels,
    )


def _asked(job: Job, name: str) -> QuestionGroup:
    from qrspi.core.steps import research_sources

    return research_sources.asked_of(job.facts, name)


def _is_spoken_of(
    asked: QuestionGroup | None, given: tuple[Source, ...], said: tuple[str, ...]
) -> bool:
    return bool(given if asked else said)


def _existing(job: Job, agent: Agent, said: tuple[str, ...]) -> tuple[str, ...]:
    """The text that was sent back, or is at fault."""
    there = [path for path in material.text_paths(job) if exists(job.workspace, path)]
    stays = agent.corrects or to_read.is_replanned(job.facts)
    named = there if stays else [path for path in there if said]
    return tuple(material.absolute(job, path) for path in named)


def _implementer(job: Job, key: str, agent: Agent) -> Implementer:
    from qrspi.core.code_steps import blocked_tasks, implementers
    from qrspi.core.records import task_records

    task, worktree = material.task_place(job, key)
    assert task.start is not None  # nobody is sent to a task without a work tree
    run = job.workspace.path
    tests = None if task.awaits_tests else implementers.recalled(job.facts, task).tests
    reported = (task_records.tests_file(key),) if tests and tests.commit else ()
    blocked = blocked_tasks.report_of(task)
    said = (blocked, task_records.again_file(key)) if blocked else ()
    vacuous = (implementers.VACUOUS,) if task.tests and task.tests.is_vacuous else ()
    return Implementer(
        role=agent.role,
        task=key,
        run_dir=run,
        task_file_path=material.absolute(job, task.item.file),
        worktree=worktree,
        branch=task.start.branch,
        base=task.start.base_commit,
        # A work tree has its own copy of docs/qrspi, or none, so the run is named by its place.
        report_command=implementers.report_command(
            f"qrspi --root {quoted(run)} task report {job.run}", task
        ),
        tests_commit=tests.commit if tests else "",
        tests_seen=tests.seen if tests else "",
        rejected=(*vacuous, *agent.rejected),
        blocked=material.sources(job.workspace, said),
        criteria_of="test" if implementers.is_acceptance(key) else "task",
        cycle=task.cycle,
        test_command=material.test_command(job),
        finding_file_paths=tuple(material.absolute(job, path) for path in task.findings),
        upstream_paths=material.upstream_paths(job, subject_of(key)),
        sources=material.sources(job.workspace, (task.item.file, *reported)),
        decisions=_said(task.loop) if task.loop and not task.loop.clean else (),
        actual_model=agent.model,
        orchestration_db="" if task.awaits_tests else material.database(job, key),
    )


def _for_author(
    job: Job, agent: Agent, asked: QuestionGroup | None, said: tuple[str, ...]
) -> tuple[Source, ...]:
    if asked:
        return _to_researcher(job, asked, said)
    given = agent.material
    return (*given.upstream, *given.text, *material.sources(job.workspace, said))


def _to_researcher(job: Job, asked: QuestionGroup, said: tuple[str, ...]) -> tuple[Source, ...]:
    """Only the question, unless a person has found its answer wanting: then that too, with as much
    of their words as names it."""
    from qrspi.core.artifacts import inquiry
    from qrspi.core.records import feedback

    about = partial(inquiry.names_one_of, asked)
    read = material.sources(job.workspace, said)
    told = (Source(one.name, feedback.paragraphs(one.data, about)) for one in read)
    heard = tuple(one for one in told if one.data)
    return (*material.sources(job.workspace, (asked.file,)), *heard) if heard else ()


def _companions(job: Job, artifact: str) -> tuple[str, ...]:
    return tuple(
        material.absolute(job, path) for path in material.text_paths(job) if path != artifact
    )


def _task_quality(job: Job, key: str, agent: Agent) -> TaskQuality:
    from qrspi.core.gates.quality import quality_gate, task_spec
    from qrspi.handlers.changes import code_repository

    spec = agent.draft or quality_gate.read_spec(job.workspace, key)
    if isinstance(spec, Problem):
        raise Halt(spec)
    text = task_spec.told(spec, code_repository.project_root(job))
    return TaskQuality(agent.role, key, (Source(key, text.encode()),), agent.model)
