"""`qrspi verify`: that nothing was skipped."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.handlers.runs import prove_run
from qrspi.render.history import proof
from qrspi.world.runs import locate
from qrspi.world.runs.locate import RunDir


@verb("verify")
@arguments.run
@click.option(
    "--format", "shape", type=click.Choice(tuple(proof.FORMATS)), default="text", show_default=True
)
def command(session: Session, run: str | None, shape: str) -> None:
    """Derive every closed round and every approval again; list what must be there and is not.

    Nothing is repaired. Without RUN, every run is looked at.
    """
    runs = (session.run(run),) if run else _all(session)
    proofs = [prove_run.prove(one.path) for one in runs]
    folder = session.root.runs_dir.removeprefix(f"{session.root.project.rstrip('/')}/")
    if shape == "json":
        session.emit(proof.document(proofs))
    else:
        session.answer(proof.document(proofs), proof.FORMATS[shape](proofs, folder))
    if any(one.gaps for one in proofs):
        raise click.exceptions.Exit(3)


def _all(session: Session) -> tuple[RunDir, ...]:
    found = locate.list_runs(session.root)
    if isinstance(found, Fault):
        text = f"cannot list {session.root.runs_dir}: {found.reason}"
        raise Halt(Problem("unreadable", text, file=session.root.runs_dir))
    return found
