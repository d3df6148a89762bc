"""`qrspi report`: a whole run as one file."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.render.terminal import one_line
from qrspi.world.files import atomic_write
from qrspi.world.runs.locate import RunDir


@verb("report")
@arguments.run
@click.option("--html", metavar="FILE", help="Write it as one HTML file, without script.")
@click.option("--md", metavar="FILE", help="Write it as Markdown.")
def command(session: Session, run: str | None, html: str | None, md: str | None) -> None:
    """The whole run as one file: track, rounds with findings, decisions, spend, proof.

    Without --html or --md, Markdown is printed. The same files give the same bytes.
    """
    if html and md:
        raise click.UsageError("--html and --md cannot go together")
    run_dir = session.run(run)
    text = _text(session, run_dir, html=bool(html))
    file = html or md
    if file:
        atomic_write.write_named(file, text.encode())
    document = {
        "schema": "qrspi/report/v1",
        "run": run_dir.name,
        "format": "html" if html else "markdown",
        "file": file,
        "text": None if file else text,
    }
    lines = [f"Wrote {one_line(file)}."] if file else text.rstrip("\n").split("\n")
    session.answer(document, lines)


def _text(session: Session, run_dir: RunDir, *, html: bool) -> str:
    from qrspi.web import libraries, report

    if html:
        libraries.must_be_there()
    from qrspi.cli.in_process import Commands

    gathered = report.gather(Commands(session, "web"), run_dir.name, run_dir.path)
    if not html:
        return report.markdown(gathered)
    from qrspi.web import html as pages

    return pages.report(gathered)
