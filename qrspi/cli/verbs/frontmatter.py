"""`qrspi frontmatter`: one field of one file."""

from __future__ import annotations

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.core.config.problems import written
from qrspi.core.yaml.json_values import value as json_value
from qrspi.core.yaml.nodes import Scalar
from qrspi.handlers.runs import frontmatter_field as field
from qrspi.render.config_page import changed_lines
from qrspi.render.safe_text import one_line


@click.group("frontmatter", cls=VerbGroup)
def command() -> None:
    """Read one field of a file's frontmatter, or set it and keep every other byte."""


@command.command("get")
@click.argument("file")
@click.argument("key")
@click.pass_obj
def get(session: Session, file: str, key: str) -> None:
    """The value of a field."""
    node = field.read(file, key)
    text = node.text if isinstance(node, Scalar) else written(node)
    document = {"schema": "qrspi/frontmatter-get/v1", "value": json_value(node)}
    session.answer(document, [one_line(text)])


@command.command("set")
@click.argument("file")
@click.argument("key")
@click.argument("value")
@click.option("--dry-run", is_flag=True, help="Say what would change; change nothing.")
@click.pass_obj
def set_(session: Session, file: str, key: str, value: str, dry_run: bool) -> None:
    """Set a field to VALUE, which is YAML on one line. A new field becomes the last."""
    if dry_run:
        done = field.rehearse(file, key, value)
    else:
        done = field.perform(file, key, value, session.lock_timeout)
    if done.changed and done.run and (key, value.strip("\"'")) == ("status", "approved"):
        session.note(
            "No approval is on record for this: `qrspi approve` asks for one and keeps it."
        )
    lines = changed_lines(done.before, done.after)
    document = {
        "schema": "qrspi/frontmatter-set/v1",
        "file": file,
        "key": key,
        "changed": done.changed,
        "lines": lines,
        "dry_run": dry_run,
    }
    session.answer(document, _lines(file, lines, dry_run))


def _lines(file: str, changed: list[str], dry_run: bool) -> list[str]:
    if not changed:
        return [f"{one_line(file)} stays as it is: the field has this value."]
    verb = "Would change" if dry_run else "Changed"
    return [f"{verb} {one_line(file)}:", *(f"  {line}" for line in changed)]
