"""`qrspi route`: the steps of a run, and changing them."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.answers import route_show
from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.core.pipeline import ROUTES
from qrspi.handlers.runs import change_config
from qrspi.render import config_page

USAGE = "qrspi route set [RUN] quick|full|full-ux"


@click.group("route", cls=VerbGroup)
def command() -> None:
    """Look at the steps of a run, or choose others.

    RUN may stand before or after the action word.
    """


@command.action("show")
@arguments.run
def show(session: Session, run: str | None) -> None:
    """The steps in order, with the state of each artifact."""
    route_show.show(session, run)


@command.action("set")
@arguments.words("[RUN] quick|full|full-ux")
@arguments.dry_run("what would change")
def set_(session: Session, words: tuple[str, ...], dry_run: bool) -> None:
    """Change to another route, as long as the plan is not approved.

    The pipeline and the question budget in config.md change with it, in one write.
    """
    run, name = run_words.run_and(words, ROUTES.__contains__, USAGE)
    if name is None:
        fault = f"{run!r} is not a route" if run else "a route is needed"
        raise run_words.misuse(f"{fault}; expected quick, full or full-ux", hint=USAGE)
    run_dir = session.run(run)
    workspace, change = run_words.workspace(run_dir.path, dry_run), change_config.routing(name)
    edit = change_config.perform(
        workspace, "route set", change, session.lock_timeout, session.surface
    )
    document = {
        "schema": "qrspi/route-set/v1",
        "run": run_dir.name,
        "name": name,
        "route": list(ROUTES[name]),
        **config_page.edit_document(edit, dry_run),
        "commit": edit.commit or None,
    }
    lines = config_page.edit_lines(edit, dry_run)
    session.answer(document, lines + config_page.commit_lines(edit.commit, edit.committed))
