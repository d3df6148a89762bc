"""`qrspi import`: a run that was made elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Misuse
from qrspi.core.importing.config_import import Question
from qrspi.core.importing.import_plan import ImportPlan
from qrspi.core.model import Problem
from qrspi.core.text import shell_words
from qrspi.handlers import importing as import_run
from qrspi.handlers.importing import Source
from qrspi.render.history import importing


@verb("import")
@click.argument("folder", metavar="DIR")
@click.option("--as", "name", metavar="NAME", help="Name of the copy. Default: that of DIR.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Answer a question beforehand."
)
@click.option("--yes", is_flag=True, help="Take the recommended answers.")
@arguments.dry_run("what was found and would be written")
def command(
    session: Session,
    folder: str,
    name: str | None,
    settings: tuple[str, ...],
    yes: bool,
    dry_run: bool,
) -> None:
    """Take in a run that the prompt-only plugin made, or somebody by hand.

    In docs/qrspi it stays where it is, from elsewhere it is copied. Its rounds are unproven, its
    files stay as they are, and it goes on from where it stands.
    """
    source = _source(session, folder, name)
    answers = dict(map(_setting, settings))
    plan = import_run.plan(source, answers)
    open_ = _to_ask(plan, yes=yes)
    if open_ and session.interactive and not dry_run:
        answers |= {question.key: _answer(session, question) for question in open_}
        plan = import_run.plan(source, answers)
        open_ = _to_ask(plan, yes=yes)
    if open_ and not dry_run:
        document = importing.document(source, plan, None, open_)
        lines = importing.question_lines(open_, _said(folder, name, settings))
        session.answer(document, ["Nothing was changed.", *lines])
        raise click.exceptions.Exit(3)
    done = None if dry_run else import_run.carry_out_plan(source, plan, session.lock_timeout)
    lines = importing.lines(source, plan, done)
    if dry_run and plan.questions:
        lines += ["", *importing.question_lines(plan.questions, _said(folder, name, settings))]
    session.answer(importing.document(source, plan, done, plan.questions if dry_run else ()), lines)


def _source(session: Session, folder: str, name: str | None) -> Source:
    """DIR is a path, or a run as other commands name it from anywhere in the project."""
    root = session.use_new_root()
    places = (folder, f"{root.project}/{folder}", f"{root.runs_dir}/{folder.rpartition('/')[2]}")
    path = next((place for place in places if Path(place).is_dir()), None)
    if path is None:
        text = f"{folder} is not there: expected the folder of a run"
        raise Misuse(Problem("no-directory", text, file=folder, expected="a directory"))
    return import_run.find(root, path, folder, name)


def _said(folder: str, name: str | None, settings: tuple[str, ...]) -> str:
    """The command as it was given, to be run again with more."""
    words = ["qrspi", "import", folder, *(("--as", name) if name else ())]
    return shell_words.command(*words, *(word for one in settings for word in ("--set", one)))


def _setting(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if separator and key:
        return key, value
    raise Misuse(Problem("usage", f"--set is KEY=VALUE, not {text!r}", field="--set", found=text))


def _to_ask(plan: ImportPlan, *, yes: bool) -> tuple[Question, ...]:
    """With --yes only what nobody can know."""
    return tuple(question for question in plan.questions if not (yes and question.recommended))


def _answer(session: Session, question: Question) -> str:
    if not question.options:
        return str(click.prompt(question.ask, err=True))
    usual = question.recommended
    ways = [f"{one} (recommended)" if one == usual else one for one in question.options]
    return question.options[session.choose(question.ask, ways)]
