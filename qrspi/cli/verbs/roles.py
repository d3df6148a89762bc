"""`qrspi roles`: the texts that agents are sent with, and where each comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import VerbGroup
from qrspi.cli.dispatch_command import ProgressTeller, SendOptions, failed, options
from qrspi.cli.session import Session
from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt, Misuse
from qrspi.core.model import Problem
from qrspi.render.terminal import table, visible
from qrspi.world.machine import clock
from qrspi.world.runs import locate, project_root, role_files

if TYPE_CHECKING:
    from qrspi.handlers.agents.role_trial import Trial

_FOLDER = click.Path(file_okay=False, resolve_path=True)


@click.group("roles", cls=VerbGroup)
def command() -> None:
    """The texts that agents are sent with: reviewers, verifier, authors, fixer, implementer.

    A file `.qrspi/agents/NAME.md` in the run or in the project takes the place of a shipped one.
    """


@command.action("list")
@arguments.run
def list_(session: Session, run: str | None) -> None:
    """Every role with its tier and where it is read."""
    places = _places(session, run)
    listed = [_found(role_files.look_at(name, *places)) for name in role_files.names(*places)]
    document = {"schema": "qrspi/roles-list/v1", "roles": [_document(role) for role in listed]}
    rows: list[tuple[str, ...]] = []
    for role in listed:
        model = f"{role.model.vendor}/{role.model.model}" if role.model else "-"
        rows.append((role.name, role.tier or "-", model, _origin(role, places)))
    session.answer(document, table(("ROLE", "TIER", "MODEL", "FROM"), rows, session.width))


@command.action("show")
@arguments.words("[RUN] NAME")
@click.option("--shipped", is_flag=True, help="The package's, also where there is one of your own.")
def show(session: Session, words: tuple[str, ...], shipped: bool) -> None:
    """One role's file, as it is read for this run.

    To begin one of your own: qrspi roles show --shipped NAME > .qrspi/agents/NAME.md
    """
    run, name = run_words.run_and_name(words, "[RUN] NAME")
    places = _places(session, run)
    role = _found(role_files.shipped(name) if shipped else role_files.look_at(name, *places))
    document = {"schema": "qrspi/roles-show/v1", **_document(role), "text": role.text}
    session.answer(document, visible(role_files.source(role)).rstrip("\n").split("\n"))


@command.action("trial", short_help="Try the texts on planted faults: found, missed, false.")
@arguments.run
@click.option(
    "--prompts",
    type=_FOLDER,
    metavar="DIR",
    help="Write the prompts there, for agents of your own.",
)
@click.option(
    "--answers", type=_FOLDER, metavar="DIR", help="Score the answers there, by the prompts' names."
)
@click.option("--send", is_flag=True, help="Ask the run's own agents; keep what they say in DIR.")
@click.option("--role", "roles", multiple=True, metavar="NAME", help="Only this one; may repeat.")
@click.option("--model", default="", metavar="NAME", help="Which model answers, for the record.")
@options
def trial(
    session: Session,
    run: str | None,
    prompts: str | None,
    answers: str | None,
    send: bool,
    roles: tuple[str, ...],
    model: str,
    asked: SendOptions,
) -> None:
    """How well the texts work: 40 planted faults, and 40 things that only look like one.

    Write the prompts (--prompts DIR), have each answered, score the answers (--answers DIR). Or
    let the engine ask the agents that config.md names: --send --answers DIR. A prompt that has an
    answer in DIR is not sent again.
    """
    from qrspi.handlers.agents import role_trial
    from qrspi.render import role_trial as shown

    if (prompts is None) == (answers is None) or (prompts and send):
        raise click.UsageError("expected --prompts DIR, --answers DIR, or --send --answers DIR")
    if asked.any and not send:
        raise click.UsageError("--jobs, --max-…, --tier-override and --replies need --send")
    if asked.executor == "celery":
        raise click.UsageError("a trial is sent from here: leave out --executor celery")
    texts = role_trial.opened(*_places(session, run), only=roles)
    if prompts is not None:
        names = role_trial.lay_out(texts, prompts, model)
        document, lines = (
            shown.laid_out_document(prompts, names),
            shown.laid_out_lines(prompts, names),
        )
        session.answer(document, lines)
    elif answers is not None:
        failures = _send(session, run, texts, answers, asked) if send else ()
        result = role_trial.score(texts, answers)
        if not (session.json and failures):
            document = shown.document(result, answers, model, clock.now_utc()[:10])
            session.answer(document, shown.lines(result, answers, session.width))
        if failures:
            raise failed(session, failures)


def _send(
    session: Session, run: str | None, texts: Trial, answers: str, asked: SendOptions
) -> tuple[Problem, ...]:
    # Imported here: only who sends starts programs and opens connections.
    from qrspi.handlers.agents.role_trial import Sender
    from qrspi.world.runs.workspace import Workspace

    workspace = Workspace(session.run(run).path)
    sending = asked._replace(executor="local").sending(session.root.project)
    with ProgressTeller(session) as progress:
        sender = Sender(
            trial=texts,
            workspace=workspace,
            sending=sending,
            listener=progress,
            answers=answers,
            lock_timeout=session.lock_timeout,
        )
        return sender.send()


def _places(session: Session, run: str | None) -> tuple[str, str]:
    """The run's folder and the project's; where no run is meant, only the project's, and
    where there is no project yet, this one."""
    here = project_root.current_directory()
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


def _origin(role: Role, places: tuple[str, str]) -> str:
    run, project = places
    if role_files.is_shipped(role):
        return "shipped"
    return "the run" if run != project and role.file.startswith(f"{run}/") else "the project"
