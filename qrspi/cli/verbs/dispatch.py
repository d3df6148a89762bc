"""`qrspi dispatch`: the agents a run waits for, and sending them."""

from __future__ import annotations

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.dispatch_command import Asked, Teller, failed, options
from qrspi.cli.session import Session
from qrspi.handlers.agents import awaited_agents as waiting
from qrspi.handlers.agents import fan_out as dispatch
from qrspi.handlers.agents.dispatch_options import How
from qrspi.handlers.jobs.job import Options
from qrspi.render import dispatches
from qrspi.world.runs.locate import RunDir
from qrspi.world.runs.workspace import Workspace


@click.group("dispatch", cls=VerbGroup)
def command() -> None:
    """The agents that a run waits for: who they are, and sending them.

    RUN may stand before or behind the action word.
    """


@command.command("list", short_help="Who is waited for, and how far each is.")
@click.argument("run", required=False)
@click.pass_obj
def list_(session: Session, run: str | None) -> None:
    """Who is waited for, which model that is, over which wire, and how far it is."""
    found = session.run(run)
    line = waiting.line(Workspace(found.path))
    document = {"schema": "qrspi/dispatch-list/v1", **dispatches.document(found.name, line)}
    session.answer(document, dispatches.lines(line, session.width))


@command.command("run", short_help="Send whoever the run waits for now.")
@click.argument("run", required=False)
@click.option("--only", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--no-commit", is_flag=True, help="Leave committing to you.")
@click.option("--dry-run", is_flag=True, help="Say who would be sent; send nobody.")
@options
@click.pass_obj
def run_(
    session: Session,
    run: str | None,
    only: tuple[str, ...],
    no_commit: bool,
    dry_run: bool,
    asked: Asked,
) -> None:
    """Send whoever the run waits for now, and put their answers into files.

    Whoever has answered already is not asked again. `qrspi next --dispatch` goes on from there.
    """
    found = session.run(run)
    if dry_run:
        _rehearse(session, found, only, asked)
        return
    workspace = Workspace(found.path)
    settings = Options("cli", no_commit, lock_timeout=session.lock_timeout)
    with (
        Teller(session) as teller,
        dispatch.opened(workspace, settings, asked.sending(only), teller) as desk,
    ):
        sent = desk.fan_out()
    document = {"schema": "qrspi/dispatch-run/v1", **dispatches.sent_document(found.name, sent)}
    failures = sent.failures if sent else ()
    if not (session.json and failures):
        session.answer(document, dispatches.sent_lines(sent))
    if failures:
        raise failed(session, failures)


def _rehearse(session: Session, found: RunDir, only: tuple[str, ...], asked: Asked) -> None:
    how = How(asked.tier_override, asked.replies or "")
    line = waiting.line(Workspace(found.path), how)
    chosen = tuple(one for one in line if not only or one.name in only)
    document = {"schema": "qrspi/dispatch-list/v1", **dispatches.document(found.name, chosen)}
    session.answer(document, dispatches.lines(chosen, session.width))
