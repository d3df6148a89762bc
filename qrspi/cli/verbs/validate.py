"""`qrspi validate`: check files of a run, each by its kind."""

from __future__ import annotations

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.handlers.runs import validate_files
from qrspi.handlers.runs.validate_files import Checked
from qrspi.render import problems
from qrspi.world.runs import locate


@verb("validate")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
def command(session: Session, paths: tuple[str, ...]) -> None:
    """Check files of a run, each by its kind: config, artifacts, tasks, findings, scores and more.

    A folder stands for every file of a run below it. The name of a run will do too.
    """
    checked = [item for path in paths for item in _checked(session, path)]
    session.answer(problems.files_document(checked), problems.files_lines(checked))
    if any(item.problems for item in checked):
        raise click.exceptions.Exit(3)


def _checked(session: Session, path: str) -> list[Checked]:
    checked = validate_files.check(path)
    bad = [(item.kind, item.problems[0].code) for item in checked if item.problems]
    if bad == [("other", "absent")]:
        run = _run(session, path)
        checked = validate_files.check(run) if run else checked
    if not checked:
        message = f"{path} holds no file of a run: expected a run, a part of one, or a file"
        raise Misuse(Problem("nothing-to-check", message, file=path))
    return checked


def _run(session: Session, word: str) -> str | None:
    """The folder of the run that the word names, if there are runs and it names one."""
    try:
        run = locate.resolve(session.root, word)
    except Refusal:
        return None
    return None if isinstance(run, Problem) else session.run_path(run)
