"""`qrspi frontmatter`: one field of one file."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.answers import frontmatter_get
from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.handlers.runs import frontmatter_field
from qrspi.render import config_page


@click.group("frontmatter", cls=VerbGroup)
def command() -> None:
    """Read one field of a file's frontmatter, or set it and keep every other byte."""


@command.action("get")
@click.argument("file")
@click.argument("key")
def get(session: Session, file: str, key: str) -> None:
    """The value of a field."""
    frontmatter_get.show(session, (file, key))


@command.action("set")
@click.argument("file")
@click.argument("key")
@click.argument("value")
@arguments.dry_run("what would change")
def set_(session: Session, file: str, key: str, value: str, dry_run: bool) -> None:
    """Set a field to VALUE, which is YAML on one line. A new field becomes the last."""
    if dry_run:
        setting = frontmatter_field.rehearse(file, key, value)
    else:
        setting = frontmatter_field.perform(file, key, value, session.lock_timeout)
    if setting.changed and setting.run and (key, value.strip("\"'")) == ("status", "approved"):
        session.note("No approval is on record for this: only the command approve records one.")
    document = {
        "schema": "qrspi/frontmatter-set/v1",
        "file": file,
        "key": key,
        **config_page.edit_document(setting, dry_run),
    }
    lines = config_page.edit_lines(setting, dry_run, file, "the field has this value")
    session.answer(document, lines)
