"""`qrspi schema`: the JSON Schemas of files and of --json output."""

from __future__ import annotations

import json

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Misuse
from qrspi.core.model import Problem
from qrspi.render.terminal import table
from qrspi.world.files import shipped_schemas


@verb("schema")
@click.argument("name", required=False)
def command(session: Session, name: str | None) -> None:
    """List the schemas, or print the one named NAME."""
    if name is not None:
        session.write(shipped_schemas.text(_known(name)))
        return
    known = {each: json.loads(shipped_schemas.text(each)) for each in shipped_schemas.names()}
    listed = [
        {"name": each, "id": schema["$id"], "title": schema["title"]}
        for each, schema in known.items()
    ]
    rows = [(item["name"], item["title"]) for item in listed]
    document = {"schema": "qrspi/schema/v1", "schemas": listed}
    session.answer(document, table(("NAME", "DESCRIBES"), rows, session.width))


def _known(word: str) -> str:
    """`qrspi/status/v1`, as documents call it, is `status`."""
    name = word.removeprefix("qrspi/").removesuffix("/v1")
    names = shipped_schemas.names()
    if name in names:
        return name
    from difflib import get_close_matches

    near = get_close_matches(name, names, 1)
    message = f"there is no schema {word!r}; `qrspi schema` lists them all"
    hint = f"qrspi schema {near[0]}" if near else "qrspi schema"
    raise Misuse(Problem("unknown-schema", message, field="NAME", found=word, hint=hint))
