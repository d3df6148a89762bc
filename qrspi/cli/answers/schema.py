"""What `schema` says: which JSON Schemas there are, or the text of one."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.errors import Misuse
from qrspi.core.model import Problem
from qrspi.world.files import shipped_schemas


def show(session: Session, name: str | None = None) -> None:
    if name is None:
        _list(session)
    else:
        session.write(shipped_schemas.text(_known(name)))


def _list(session: Session) -> None:
    import json

    from qrspi.render.terminal import table

    known = {each: json.loads(shipped_schemas.text(each)) for each in shipped_schemas.names()}
    listed = [
        {"name": each, "id": schema["$id"], "title": schema["title"]}
        for each, schema in known.items()
    ]
    rows = [(item["name"], item["title"]) for item in listed]
    document = {"schema": "qrspi/schema/v1", "schemas": listed}
    session.answer(document, table(("NAME", "DESCRIBES"), rows, session.width))


def _known(word: str) -> str:
    """`qrspi/status/v1`, as documents call it, is `status`; and so is the path of its file."""
    name = word.removeprefix("qrspi/").removesuffix("/v1")
    name = name.removeprefix("schemas/").removesuffix(".schema.json")
    names = shipped_schemas.names()
    if name in names:
        return name
    from difflib import get_close_matches

    near = get_close_matches(name, names, 1)
    message = f"there is no schema {word!r}; `qrspi schema` lists them all"
    hint = f"qrspi schema {near[0]}" if near else "qrspi schema"
    raise Misuse(Problem("unknown-schema", message, field="NAME", found=word, hint=hint))
