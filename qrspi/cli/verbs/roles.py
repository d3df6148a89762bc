"""`qrspi roles`: the texts agents are sent by, and where each comes from."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt, Misuse
from qrspi.core.model import Problem
from qrspi.render.terminal import table, visible
from qrspi.world.runs import locate, role_files


@click.group("roles", cls=VerbGroup)
def command() -> None:
    """The texts that agents are sent by: reviewers, verifier, authors, fixer, implementer.

    A file `.qrspi/agents/NAME.md` in the run or in the project takes the place of a shipped one.
    """


@command.action("list")
@arguments.run
def list_(session: Session, run: str | None) -> None:
    """Every role with its tier and where it is read."""
    places = _places(session, run)
    found = [_found(role_files.look_at(name, *places)) for name in role_files.names(*places)]
    document = {"schema": "qrspi/roles-list/v1", "roles": [_document(role) for role in found]}
    rows = [(role.name, role.tier or "-", _model(role), _origin(role, places)) for role in found]
    session.answer(document, table(("ROLE", "TIER", "MODEL", "FROM"), rows, session.width))


@command.action("show")
@arguments.words("[RUN] NAME")
@click.option("--shipped", is_flag=True, help="The package's, also where there is one of your own.")
def show(session: Session, words: tuple[str, ...], shipped: bool) -> None:
    """One role's file, as it is read for this run.

    To begin one of your own: qrspi roles show --shipped NAME > .qrspi/agents/NAME.md
    """
    run, name = arguments.run_and_name(words, "[RUN] NAME")
    places = _places(session, run)
    role = _found(role_files.shipped(name) if shipped else role_files.look_at(name, *places))
    document = {"schema": "qrspi/roles-show/v1", **_document(role), "text": role.text}
    session.answer(document, visible(role_files.source(role)).rstrip("\n").split("\n"))


def _places(session: Session, run: str | None) -> tuple[str, str]:
    """The run's folder and the project's; where no run is meant, only the project's, and
    where there is no project yet, this one."""
    here = locate.current_directory()
    if run is None and here and session.root_if_any is None:
        return here, here
    project = session.root.project
    if run is None and session.root.only is None:
        meant = locate.default(session.root, here)
        return (project if isinstance(meant, Problem) else meant.path), project
    return session.run(run).path, project


def _found(role: Role | Problem) -> Role:
    if not isinstance(role, Problem):
        return role
    raise (Misuse if role.code == "role-missing" else Halt)(role)


def _document(role: Role) -> dict[str, object]:
    return {
        "name": role.name,
        "tier": role.tier,
        "model": role.model._asdict() if role.model else None,
        "file": role.file,
        "shipped": role_files.is_shipped(role),
    }


def _model(role: Role) -> str:
    return f"{role.model.vendor}/{role.model.model}" if role.model else "-"


def _origin(role: Role, places: tuple[str, str]) -> str:
    run, project = places
    if role_files.is_shipped(role):
        return "shipped"
    return "the run" if run != project and role.file.startswith(f"{run}/") else "the project"
