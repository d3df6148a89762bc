"""`qrspi config`: show, set, validate, migrate."""

from __future__ import annotations

from collections.abc import Sequence

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.core.config import reader as configs
from qrspi.core.errors import Misuse
from qrspi.core.model import Problem
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.handlers.runs import change_config as configure
from qrspi.handlers.runs.change_config import Change, Edit
from qrspi.render import config_page as pages
from qrspi.render import problems
from qrspi.render.safe_text import one_line
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.locate import RunDir
from qrspi.world.runs.workspace import Workspace


@click.group("config", cls=VerbGroup)
def command() -> None:
    """Look at a run's config.md, check it, and change it.

    RUN may stand before or behind the action word.
    """


def _read(run: RunDir) -> configs.Config:
    config = configs.read(DiskTree(run.path).read("config.md", CONFIG_LIMIT))
    named = (configs.for_run(problem, run.name) for problem in config.problems)
    return config._replace(problems=tuple(named))


@command.command("show")
@click.argument("run", required=False)
@click.pass_obj
def show(session: Session, run: str | None) -> None:
    """Every field with its value."""
    found = session.run(run)
    config = _read(found)
    document = {
        "schema": "qrspi/config-show/v1",
        "run": found.name,
        "fields": pages.fields(config),
        "problems": [problems.violation(item) for item in config.problems],
        "warnings": [problems.warning(item) for item in config.warnings],
    }
    session.answer(document, pages.fields_page(config, session.width))


@command.command("validate")
@click.argument("run", required=False)
@click.pass_obj
def validate(session: Session, run: str | None) -> None:
    """Check every field, whatever step the run is at."""
    found = session.run(run)
    report = configs.validate(_read(found))
    lines = pages.validation_lines(report, session.run_path(found))
    session.answer(pages.validation(report), lines)
    if not report.ok:
        raise click.exceptions.Exit(3)


@command.command("set")
@click.argument("words", nargs=-1, metavar="[RUN] KEY VALUE")
@click.option("--dry-run", is_flag=True, help="Say what would change; change nothing.")
@click.pass_obj
def set_(session: Session, words: tuple[str, ...], dry_run: bool) -> None:
    """Set one field. It is checked first; comments and order stay.

    KEY may be dotted, as in gates.quality. VALUE is YAML: true, [goals, plan], {a: b}.
    """
    run, key, value = _run_key_value(words)
    found = session.run(run)
    edit = _carry_out(session, found, "config set", configure.setting(key, value), dry_run)
    document = {"schema": "qrspi/config-set/v1", "run": found.name, "field": key, "value": value}
    session.answer({**document, **_outcome(edit, dry_run)}, _lines(edit, dry_run))


def _run_key_value(words: Sequence[str]) -> tuple[str | None, str, str]:
    match words:
        case (key, value):
            return None, key, value
        case (run, key, value):
            return run, key, value
        case _:
            usage = "qrspi config set [RUN] KEY VALUE"
            text = f"{len(words)} words; expected a KEY and a VALUE, with a RUN before them or not"
            raise Misuse(Problem("usage", text, hint=usage))


@command.command("migrate")
@click.argument("run", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would change; change nothing.")
@click.pass_obj
def migrate(session: Session, run: str | None, dry_run: bool) -> None:
    """Do what renamed fields need, and nothing else."""
    found = session.run(run)
    edit = _carry_out(session, found, "config migrate", configure.migrating, dry_run)
    document = {"schema": "qrspi/config-migrate/v1", "run": found.name, "plan": list(edit.notes)}
    lines = [one_line(note) for note in edit.notes]
    session.answer({**document, **_outcome(edit, dry_run)}, [*lines, *_lines(edit, dry_run)])


def _carry_out(session: Session, run: RunDir, event: str, change: Change, dry_run: bool) -> Edit:
    if dry_run:
        return configure.rehearse(DiskTree(run.path), change)
    return configure.perform(Workspace(run.path), event, change, session.lock_timeout)


def _outcome(edit: Edit, dry_run: bool) -> dict[str, object]:
    return {
        "changed": edit.changed,
        "lines": pages.changed_lines(edit.before, edit.after),
        "dry_run": dry_run,
    }


def _lines(edit: Edit, dry_run: bool) -> list[str]:
    return pages.edit_lines(pages.changed_lines(edit.before, edit.after), dry_run)
