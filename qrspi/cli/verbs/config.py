"""`qrspi config`: show, set, validate, migrate."""

from __future__ import annotations

from collections.abc import Sequence

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.answers import config_show
from qrspi.cli.app import Verb, VerbGroup
from qrspi.cli.session import Session
from qrspi.core.config import reader as configs
from qrspi.core.config.problems import COMMANDS
from qrspi.core.text.shell_words import command as command_line
from qrspi.handlers.runs import change_config, consent
from qrspi.render import config_page
from qrspi.render.terminal import one_line


@click.group("config", cls=VerbGroup)
def command() -> None:
    """Look at a run's config.md, check it, and change it.

    RUN may stand before or after the action word.
    """


@command.action("show")
@arguments.run
def show(session: Session, run: str | None) -> None:
    """Every field with its value."""
    config_show.show(session, run)


@command.action("validate")
@arguments.run
def validate(session: Session, run: str | None) -> None:
    """Check every field, whatever step the run is at."""
    run_dir = session.run(run)
    report = configs.validate(config_show.read(run_dir))
    lines = config_page.validation_lines(report, session.run_path(run_dir))
    session.answer(config_page.validation(report), lines)
    if not report.ok:
        raise click.exceptions.Exit(3)


class _Set(Verb):
    """Many commands have options of their own, which click would take for options of this verb."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, list(args))
        except click.NoSuchOption:
            _refuse_unquoted(args)
            raise


@command.action("set", cls=_Set)
@arguments.words("[RUN] KEY VALUE [KEY VALUE]...")
@arguments.dry_run("what would change")
def set_(session: Session, words: tuple[str, ...], dry_run: bool) -> None:
    """Set a field, or several. They are checked first; comments and order stay.

    KEY may be dotted, as in gates.quality. VALUE is YAML: true, [goals, plan], {a: b}.
    """
    run, pairs = _run_and_pairs(words)
    run_dir = session.run(run)
    workspace, change = run_words.workspace(run_dir.path, dry_run), change_config.setting(*pairs)
    edit = change_config.perform(
        workspace, "config set", change, session.lock_timeout, session.surface
    )
    if not dry_run:
        keys = [key for key, _ in pairs]
        project = session.root.project
        session.note(*consent.allow_settings(project, keys, edit.before, edit.after))
    key, value = (" ".join(words) for words in zip(*pairs, strict=True))
    document = {"schema": "qrspi/config-set/v1", "run": run_dir.name, "field": key, "value": value}
    document |= config_page.edit_document(edit, dry_run) | {"commit": edit.commit or None}
    lines = config_page.edit_lines(edit, dry_run)
    session.answer(document, lines + config_page.commit_lines(edit.commit, edit.committed))


def _refuse_unquoted(words: Sequence[str]) -> None:
    """A command of several words came as several words."""
    at = next((at for at, word in enumerate(words[:2]) if word in COMMANDS), None)
    if at is None:
        return
    key, line = words[at], words[at + 1 :]
    others = line[1::2]
    if len(line) < 2 or all(other.partition(".")[0] in configs.KNOWN for other in others):
        return
    value = " ".join(line)
    text = f"{key} takes one VALUE, found {len(line)} words: put the command in quotes"
    hint = command_line("qrspi", "config", "set", *words[:at], key, value)
    raise run_words.misuse(text, field=key, found=value, expected="one word", hint=hint)


def _run_and_pairs(words: Sequence[str]) -> tuple[str | None, list[tuple[str, str]]]:
    _refuse_unquoted(words)
    if len(words) < 2:
        usage = "qrspi config set [RUN] KEY VALUE"
        text = "expected a KEY and a VALUE, with a RUN before them or not"
        raise run_words.misuse(text, field="KEY", found=" ".join(words), hint=usage)
    first, second = (word.partition(".")[0] in configs.KNOWN for word in words[:2])
    if len(words) == 2 and second and not first:
        hint = command_line("qrspi", "config", "set", *words)
        raise run_words.misuse(f"{words[1]} needs a VALUE", field=words[1], hint=f"{hint} VALUE")
    rest = words[len(words) % 2 :]
    run = words[0] if len(words) % 2 else None
    return run, list(zip(rest[::2], rest[1::2], strict=True))


@command.action("migrate")
@arguments.run
@arguments.dry_run("what would change")
def migrate(session: Session, run: str | None, dry_run: bool) -> None:
    """Do what renamed fields need, and nothing else."""
    run_dir = session.run(run)
    workspace, change = run_words.workspace(run_dir.path, dry_run), change_config.migrating
    edit = change_config.perform(
        workspace, "config migrate", change, session.lock_timeout, session.surface
    )
    document = {"schema": "qrspi/config-migrate/v1", "run": run_dir.name, "plan": list(edit.notes)}
    document |= config_page.edit_document(edit, dry_run) | {"commit": edit.commit or None}
    lines = [*map(one_line, edit.notes), *config_page.edit_lines(edit, dry_run)]
    session.answer(document, lines + config_page.commit_lines(edit.commit, edit.committed))
