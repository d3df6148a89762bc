"""`qrspi worker`: take dispatches from a broker, make the calls, give the answers back."""

from __future__ import annotations

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session, say
from qrspi.render import fleet as rendered


@verb("worker")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    default=4,
    show_default=True,
    metavar="N",
    help="Calls at once, for each vendor.",
)
@click.option("--print-config", is_flag=True, help="Print a worker.toml to begin with, and end.")
@click.option("--print-unit", type=click.Choice(["systemd"]), help="Print a unit file, and end.")
def command(session: Session, concurrency: int, print_config: bool, print_unit: str | None) -> None:
    """Take dispatches from the broker that QRSPI_BROKER_URL names, make the calls, and give the
    answers back to the engines that wait for them.

    Only what ~/.config/qrspi/worker.toml lists is started or contacted. SIGTERM or Ctrl-C: no new
    job, calls are finished; a second one hands them back.
    """
    if print_config:
        session.write(rendered.CONFIG)
        return
    if print_unit:
        from qrspi.world.processes import own_command

        session.write(rendered.systemd_unit(own_command.words(), concurrency))
        return
    # Imported here: only a worker needs Celery.
    from qrspi.world.worker import serve

    def ready(name: str, vendors: tuple[str, ...]) -> None:
        document = rendered.ready_document(name, vendors, concurrency)
        session.answer(document, rendered.ready_lines(name, vendors, concurrency))

    status = serve.serve(concurrency, ready, say)
    if status:
        raise click.exceptions.Exit(status)
