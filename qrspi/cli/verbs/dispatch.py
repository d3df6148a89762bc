"""`qrspi dispatch`: the agents a run waits for, and sending them."""

from __future__ import annotations

import click

from qrspi.cli import arguments, dispatch_command
from qrspi.cli.app import VerbGroup
from qrspi.cli.dispatch_command import SendOptions
from qrspi.cli.session import Session
from qrspi.handlers.agents import awaited_agents, ledger
from qrspi.handlers.agents.awaited_agents import Waiting
from qrspi.handlers.agents.dispatch_options import AS_CONFIGURED
from qrspi.handlers.jobs.job import Options
from qrspi.render import agents, problems
from qrspi.world.runs.locate import RunDir
from qrspi.world.runs.workspace import Workspace


@click.group("dispatch", cls=VerbGroup)
def command() -> None:
    """The agents that a run waits for: who they are, and sending them.

    RUN may stand before or after the action word.
    """


@command.action("list", short_help="Who is waited for, and how far each is.")
@arguments.run
def list_(session: Session, run: str | None) -> None:
    """The agents that the run waits for: model, transport, and how far each is."""
    run_dir = session.run(run)
    executor = dispatch_command.default_executor(session.root.project)
    how = AS_CONFIGURED._replace(executor=executor)
    _list(session, run_dir, awaited_agents.line(Workspace(run_dir.path), how))


@command.action("run", short_help="Send the agents that the run waits for.")
@arguments.run
@click.option("--only", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@arguments.no_commit
@arguments.dry_run("who would be sent", "send nobody")
@dispatch_command.options
def run_(
    session: Session,
    run: str | None,
    only: tuple[str, ...],
    no_commit: bool,
    dry_run: bool,
    asked: SendOptions,
) -> None:
    """Send the agents that the run waits for now, and put their answers into files.

    An agent that has answered is not asked again. `qrspi next --dispatch` goes on from there.
    """
    run_ = session.run(run)
    workspace = Workspace(run_.path)
    if dry_run:
        line = awaited_agents.line(workspace, asked.how(session.root.project))
        _list(session, run_, tuple(one for one in line if not only or one.name in only))
        return
    settings = Options("cli", no_commit, lock_timeout=session.lock_timeout)
    with dispatch_command.opened(session, workspace, settings, asked, only) as dispatcher:
        sent = dispatcher.fan_out()
    failures = sent.failures if sent else ()
    if not (session.json and failures):
        session.answer(agents.sent_document(run_.name, sent), agents.sent_lines(run_.name, sent))
    if sent and failures:
        raise dispatch_command.failed(session, failures, (sent.performed,))


def _list(session: Session, run: RunDir, awaited: tuple[Waiting, ...]) -> None:
    tree = Workspace(run.path)
    broken = awaited_agents.broken_logs(tree, awaited)
    session.note(*problems.marked("warning", broken))
    session.note(*agents.unanswered_lines(ledger.unanswered(tree, ledger.read(tree))))
    lines = agents.awaited_lines(run.name, awaited, session.width)
    session.answer(agents.awaited_document(run.name, awaited), lines)
