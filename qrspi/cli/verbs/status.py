"""`qrspi status`: where runs stand."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.answers import status
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("status")
@arguments.run
@click.option("--all", "everything", is_flag=True, help="Closed runs too.")
@click.option("--explain", is_flag=True, help="Say why, and which files were read for it.")
@click.option("--checklist", is_flag=True, help="One line a step: [ ], [~] or [x].")
@click.option("--watch", is_flag=True, help="Stay, and draw again whenever something changes.")
def command(
    session: Session,
    run: str | None,
    everything: bool,
    explain: bool,
    checklist: bool,
    watch: bool,
) -> None:
    """Where runs stand: a table, then the next action in one sentence.

    Without RUN all open runs are shown.
    """
    request = status.Request(run, everything, explain, checklist)
    if not watch:
        status.show(session, **request._asdict())
        return
    from qrspi.cli.answers import status_watch

    status_watch.follow(session, request)
