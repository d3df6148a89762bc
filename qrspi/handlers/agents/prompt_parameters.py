"""Fill in what each agent is told: parameters from the run's files, texts for whoever prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from qrspi.core.agents import prompts
from qrspi.core.agents.prompts import Author, Fixer, Reviewer, Source, Verifier
from qrspi.core.agents.roles import Role
from qrspi.core.artifacts import open_questions as inquiry
from qrspi.core.artifacts.questions import Question
from qrspi.core.errors import Halt
from qrspi.core.filenames import sidecar_file
from qrspi.core.model import Finding, Problem
from qrspi.core.pipeline import STEP, prerequisites
from qrspi.core.records import step_text as bodies
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs.job import Job
from qrspi.world.runs import role_files as rolefiles


class Material(NamedTuple):
    """What everybody who works on a step may need: read once, however many are sent."""

    text: tuple[Source, ...]  # the artifact with its companions
    upstream: tuple[Source, ...]
    diff: str  # its path; empty outside git, and for test
    worktree: str = ""  # of a task
    code: tuple[Source, ...] = ()


def material(job: Job) -> Material:
    needs = prerequisites(job.facts.step, job.facts.route)
    upstream = _sources(job.workspace, (STEP[need].artifact for need in needs))
    found = Material(_sources(job.workspace, _text_paths(job)), upstream, _diff(job))
    if job.loop is None or not job.loop.subject.is_task:
        return found
    # Imported here: only runs that implement know of work trees.
    from qrspi.handlers.agents import subject_code

    folder = subject_code.worktree(job)
    return found._replace(worktree=folder, code=subject_code.sources(job, folder))


class Agent(NamedTuple):
    role: Role
    model: str
    prints: bool  # what it may need is in the prompt, and what it hands in is printed
    material: Material


def prompt(job: Job, kind: str, name: str, agent: Agent) -> str:
    parts = rolefiles.shared_parts()
    match kind:
        case "review":
            return prompts.reviewer_prompt(_reviewer(job, name, agent), parts)
        case "verify":
            return prompts.verifier_prompt(_verifier(job, name, agent), parts)
        case "fix":
            return prompts.fixer_prompt(_fixer(job, agent), parts)
        case _:
            return prompts.author_prompt(_author(job, name, agent), parts)


def _reviewer(job: Job, tag: str, agent: Agent) -> Reviewer:
    loop = job.round_loop
    choice = loop.manifest.choice if loop.manifest else None
    given = agent.material
    about_code = bool(given.code)
    upstream = (*given.text, *given.upstream) if about_code else given.upstream
    return Reviewer(
        role=agent.role,
        tag=tag,
        step=loop.subject.key,
        round=loop.number,
        round_subdir=_absolute(job, loop.paths.directory),
        body=given.code or given.text,
        body_name="subject_code" if about_code else "artifact_body",
        artifact_path=_absolute(job, loop.subject.artifact),
        diff_file_path=given.diff,
        upstream_paths=_upstream_paths(job, agent),
        upstream=upstream if agent.prints else (),
        worktree=given.worktree,
        scope_hint=choice.scope_hint if choice and choice.narrow else (),
        actual_model=agent.model,
        prints=agent.prints,
    )


def _verifier(job: Job, name: str, agent: Agent) -> Verifier:
    loop = job.round_loop
    finding = _finding(job, name.removeprefix("verify-"))
    path = f"{loop.paths.directory}/{finding.file}"
    sources = (*_sources(job.workspace, (path,)), *agent.material.text)
    return Verifier(
        role=agent.role,
        finding=finding.name,
        finding_file_path=_absolute(job, path),
        sidecar_path=_absolute(job, f"{loop.paths.directory}/{sidecar_file(finding.stem)}"),
        artifact_path=_absolute(job, loop.subject.artifact),
        diff_file_path=agent.material.diff,
        upstream_paths=_upstream_paths(job, agent),
        sources=(*sources, *agent.material.upstream) if agent.prints else (),
        actual_model=agent.model,
        prints=agent.prints,
    )


def _finding(job: Job, stem: str) -> Finding:
    read = job.round_loop.round
    assert read is not None
    return next(finding for finding in read.findings if finding.stem == stem)


def _fixer(job: Job, agent: Agent) -> Fixer:
    loop = job.round_loop
    files = tuple(f"{loop.paths.directory}/{item.finding.file}" for item in loop.to_apply)
    sources = (*agent.material.text, *_sources(job.workspace, files))
    return Fixer(
        role=agent.role,
        step=loop.subject.key,
        round=loop.number,
        run_dir=_absolute(job, ""),
        artifact_path=_absolute(job, loop.subject.artifact),
        verified_path=_absolute(job, loop.paths.verified),
        dispositions_path=_absolute(job, loop.paths.dispositions),
        finding_file_paths=tuple(_absolute(job, path) for path in files),
        upstream_paths=_upstream_paths(job, agent),
        sources=(*sources, *agent.material.upstream) if agent.prints else (),
        actual_model=agent.model,
        prints=agent.prints,
    )


def _author(job: Job, name: str, agent: Agent) -> Author:
    step, config = job.facts.step, job.facts.config
    question = None if name == "author" else _question(job, name)
    feedback = tuple(path for path in job.next.inputs if path.startswith("feedback/"))
    return Author(
        role=agent.role,
        step=step,
        run_dir=_absolute(job, ""),
        artifact_path=_absolute(job, question.file if question else STEP[step].artifact),
        upstream_paths=_upstream_paths(job, agent),
        feedback_paths=tuple(_absolute(job, path) for path in feedback),
        pipeline=config.pipeline or "",
        phase=job.facts.phase,
        question=question,
        question_budget=config.question_budget,
        visual_fidelity_required=config.visual_fidelity_required is True,
        sources=_for_author(job, agent, feedback) if agent.prints and not question else (),
        actual_model=agent.model,
        prints=agent.prints,
    )


def _question(job: Job, name: str) -> Question:
    asked = inquiry.inquiry(job.workspace, job.facts.config)
    return next(question for question in asked.open if question.name == name)


def _for_author(job: Job, agent: Agent, feedback: tuple[str, ...]) -> tuple[Source, ...]:
    """What an author works from; its own earlier text too, which may only have to be mended."""
    given = agent.material
    return (*given.upstream, *given.text, *_sources(job.workspace, feedback))


def _text_paths(job: Job) -> tuple[str, ...]:
    """The artifact with its companions; of a task its own file."""
    loop = job.loop
    if loop and loop.subject.is_task:
        return (loop.subject.artifact,)
    return bodies.paths(job.workspace, job.facts.step)


def _upstream_paths(job: Job, agent: Agent) -> tuple[str, ...]:
    run = _absolute(job, "")
    return prompts.upstream_paths(job.facts.step, job.facts.route, run, agent.role)


def _diff(job: Job) -> str:
    if job.loop is None:
        return ""
    path = job.loop.paths.diff
    size = job.workspace.size(path)
    return "" if isinstance(size, Fault) else _absolute(job, path)


def _sources(tree: Tree, paths: Iterable[str]) -> tuple[Source, ...]:
    found = []
    for path in paths:
        data = tree.read(path)
        if not isinstance(data, Fault):
            found.append(Source(path, data))
        elif data.kind != "absent":
            text = f"{path} cannot be read: {data.detail or data.kind}"
            raise Halt(Problem("unreadable", text, file=path))
    return tuple(found)


def _absolute(job: Job, path: str) -> str:
    return f"{job.workspace.path}/{path}" if path else job.workspace.path
