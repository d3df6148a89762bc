"""`qrspi show`: the findings of a round, and why each was kept or dropped."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.answers import show
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("show")
@arguments.words("[RUN] [STEP]")
@arguments.round_number()
@click.option("--dropped", is_flag=True, help="Only what scored too low, with the verifier's word.")
@click.option("--since-approval", is_flag=True, help="Instead: what was edited after approval.")
def command(
    session: Session,
    words: tuple[str, ...],
    number: int | None,
    dropped: bool,
    since_approval: bool,
) -> None:
    """The findings of a round: scores, what was kept or dropped, why, and since when.

    Without STEP the run's current step is shown, without --round its newest round.
    """
    show.show(session, words, number, dropped, since_approval)
