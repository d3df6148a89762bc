"""`qrspi trust`: what a run names that would be run or contacted, and allowing it."""

from __future__ import annotations

import os

import click

from qrspi.cli import arguments, consent_question
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.handlers.runs import consent
from qrspi.render import consent_page
from qrspi.render.terminal import one_line
from qrspi.world.consent import allowed_things, permits


@verb("trust")
@arguments.run
@click.option("--yes", is_flag=True, help="Do not ask.")
@arguments.dry_run("what would be allowed")
@click.option("--list", "list_", is_flag=True, help="All that you have allowed, in all projects.")
@click.option("--forget", is_flag=True, help="Allow nothing any more here, or in the project RUN.")
def command(
    session: Session, run: str | None, yes: bool, dry_run: bool, list_: bool, forget: bool
) -> None:
    """Show the programs, addresses, folders and role texts that a run's files name, and allow them.

    Until then nothing of it is run, contacted or given a key. A changed text is asked about again.
    What you set with `qrspi config set` is allowed by that. On a terminal this asks; elsewhere all
    of it is printed, and running the command is the yes.
    """
    if list_:
        entries = allowed_things.entries(allowed_things.folder(os.environ))
        allowed = [entry._asdict() for entry in entries]
        document = {"schema": "qrspi/trust-list/v1", "allowed": allowed}
        session.answer(document, consent_page.entry_lines(entries))
    elif forget:
        _forget(session, run)
    else:
        _allow(session, run, yes=yes, dry_run=dry_run)


def _forget(session: Session, project: str | None) -> None:
    """A project that is gone can be named as the list names it."""
    place = allowed_things.folder(os.environ)
    where = os.path.realpath(project or session.root.project)
    gone = allowed_things.forget(place, where)
    document = {
        "schema": "qrspi/trust-forget/v1",
        "project": where,
        "forgotten": [entry._asdict() for entry in gone],
    }
    were = "1 thing was" if len(gone) == 1 else f"{len(gone)} things were"
    session.answer(document, [one_line(f"{were} allowed in {where}; nothing is any more.")])


def _allow(session: Session, run: str | None, *, yes: bool, dry_run: bool) -> None:
    run_dir, project = session.run(run), session.root.project
    named = consent.named_by(run_dir.path, project)
    new = permits.lacking(project, named)
    known = frozenset(named) - frozenset(new)
    lines = consent_page.lines(named, known)
    if session.interactive and new and not (yes or dry_run):
        session.tell([*lines, ""])
        consent_question.must_allow(session, project, new)
    elif lines and not session.json:
        session.show([*lines, ""])
    document = {
        "schema": "qrspi/trust/v1",
        "run": run_dir.name,
        "project": os.path.realpath(project),
        "dry_run": dry_run,
        "named": [consent_page.document(one, one in known) for one in named],
        "remembered": 0 if dry_run else len(new),
    }
    # Before anything is allowed: who cannot print it allows nothing.
    if session.json:
        session.emit(document)
    if not dry_run:
        consent.allow(project, new, "trust")
    if not session.json:
        session.show([_verdict(named, new, dry_run)])


def _verdict(named: tuple[object, ...], new: tuple[object, ...], dry_run: bool) -> str:
    if not named:
        return "This run names nothing that would need your leave."
    if not new:
        return "All of it is allowed already."
    many = "exactly this" if len(new) == 1 else f"exactly these {len(new)}"
    if dry_run:
        return f"Would allow {many}."
    return f"Allowed: {many}, for you and in this project; another text is asked about again."
