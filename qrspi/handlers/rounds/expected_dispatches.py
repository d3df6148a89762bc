"""Who is sent: the reviewers a round expects, each with its role and model."""

from __future__ import annotations

import os

from qrspi.core import reviewers as matrix
from qrspi.core.agents import model_choice as routing
from qrspi.core.agents import roles, transports
from qrspi.core.agents.model_choice import Route
from qrspi.core.agents.roles import Role
from qrspi.core.filenames import RoundPaths, round_name
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.rounds.manifest import Dispatch
from qrspi.handlers.jobs.job import Job
from qrspi.world.machine import hosts
from qrspi.world.runs import role_files as rolefiles


def prompt_file(subject: Subject, paths: RoundPaths, tag: str) -> str:
    """Run-relative. Not part of the record: `.qrspi` is ignored by git."""
    return f".qrspi/dispatch/{subject.key}/{round_name(paths.number)}/{tag}.md"


def dispatches(
    job: Job, subject: Subject, paths: RoundPaths, tags: tuple[str, ...]
) -> tuple[Dispatch, ...]:
    return tuple(_dispatch(job, subject, paths, tag) for tag in tags)


def _dispatch(job: Job, subject: Subject, paths: RoundPaths, tag: str) -> Dispatch:
    name = roles.for_tag(tag)
    role = rolefiles.load(name, job.workspace.path, job.project)
    found = None if isinstance(role, Problem) else route(job, role, tag)
    chosen = found.model if isinstance(found, Route) else None
    ours = chosen is not None and transports.means(chosen.vendor, job.facts.config).prints
    return Dispatch(
        tag=tag,
        agent=name,
        mode="background" if ours else "first_party",
        host=hosts.detect(os.environ),
        vendor=chosen.vendor if chosen else "",
        model=chosen.model if chosen else "",
        prompt_file=prompt_file(subject, paths, tag),
    )


def is_second(tag: str) -> bool:
    return tag.endswith(f"-{matrix.shipped().second}")


def route(job: Job, role: Role, tag: str) -> Route | Problem:
    return routing.resolve(role, job.facts.config, second=is_second(tag))
