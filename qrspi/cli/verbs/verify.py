"""`qrspi verify`: that nothing was skipped."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.handlers import history
from qrspi.render.history import proof


@verb("verify")
@arguments.run
@click.option(
    "--format", "shape", type=click.Choice(tuple(proof.FORMATS)), default="text", show_default=True
)
def command(session: Session, run: str | None, shape: str) -> None:
    """Derive every closed round and every approval again; list what must be there and is not.

    Nothing is repaired. Without RUN, every run is looked at.
    """
    if run:
        proofs = [history.prove(session.run(run).path)]
    else:
        proofs = [history.prove_among(one.path) for one in session.runs()]
    folder = session.root.runs_dir.removeprefix(f"{session.root.project.rstrip('/')}/")
    if shape == "json":
        session.emit(proof.document(proofs))
    else:
        session.answer(proof.document(proofs), proof.FORMATS[shape](proofs, folder))
    if any(one.gaps for one in proofs):
        raise click.exceptions.Exit(3)
