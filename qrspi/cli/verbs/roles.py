"""`qrspi roles`: the texts agents are sent by, and where each comes from."""

from __future__ import annotations

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt, Misuse
from qrspi.core.model import Problem
from qrspi.render.columns import table
from qrspi.render.safe_text import visible
from qrspi.world.runs import locate
from qrspi.world.runs import role_files as rolefiles


@click.group("roles", cls=VerbGroup)
def command() -> None:
    """The texts that agents are sent by: reviewers, verifier, authors, fixer, implementer.

    A file `.qrspi/agents/NAME.md` in the run or in the project takes the place of a shipped one.
    """


@command.command("list")
@click.argument("run", required=False)
@click.pass_obj
def list_(session: Session, run: str | None) -> None:
    """Every role with its tier and where it is read."""
    places = _places(session, run)
    found = [_found(rolefiles.load(name, *places)) for name in rolefiles.names(*places)]
    document = {"schema": "qrspi/roles-list/v1", "roles": [_document(role) for role in found]}
    rows = [(role.name, role.tier or "-", _model(role), _origin(role, places)) for role in found]
    session.answer(document, table(("ROLE", "TIER", "MODEL", "FROM"), rows, session.width))


@command.command("show")
@click.argument("words", nargs=-1, metavar="[RUN] NAME")
@click.option("--shipped", is_flag=True, help="The package's, also where there is one of your own.")
@click.pass_obj
def show(session: Session, words: tuple[str, ...], shipped: bool) -> None:
    """One role's file, as it is read for this run.

    To begin one of your own: qrspi roles show --shipped NAME > .qrspi/agents/NAME.md
    """
    if not 1 <= len(words) <= 2:
        raise click.UsageError("expected [RUN] NAME")
    *before, name = words
    places = _places(session, before[0] if before else None)
    role = _found(rolefiles.shipped(name) if shipped else rolefiles.load(name, *places))
    document = {"schema": "qrspi/roles-show/v1", **_document(role), "text": role.text}
    session.answer(document, visible(rolefiles.source(role)).rstrip("\n").split("\n"))


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
        "shipped": rolefiles.is_shipped(role),
    }


def _model(role: Role) -> str:
    return f"{role.model.vendor}/{role.model.model}" if role.model else "-"


def _origin(role: Role, places: tuple[str, str]) -> str:
    run, project = places
    if rolefiles.is_shipped(role):
        return "shipped"
    return "the run" if run != project and role.file.startswith(f"{run}/") else "the project"
