"""What is asked where config.md cannot be used, so that nobody knows the steps of the run."""

from __future__ import annotations

from qrspi.core.config import problems as config_problems
from qrspi.core.filenames import RUNS
from qrspi.core.model import Next, Option, Problem
from qrspi.core.tree import Tree, entries


def ask(tree: Tree, errors: tuple[Problem, ...]) -> Next:
    first, take = errors[0], f"qrspi import {RUNS}/{tree.name}"
    elsewhere = _made_elsewhere(tree, errors)
    ways = (f"Take the run in, which was made elsewhere: {take}",) if elsewhere else ()
    way = f"`{take}` takes the run in" if elsewhere else _how(first, tree)
    answers = filter(None, map(config_problems.command_of, (*ways, *first.options)))
    return Next(
        action="blocked",
        who="human",
        summary=f"{first.message.rstrip('.')}. {way}." if way else first.message,
        because=tuple(error.message for error in errors),
        missing=tuple(dict.fromkeys(error.file for error in errors if error.file)),
        options=tuple(Option(str(at), text) for at, text in enumerate((*ways, *first.options), 1)),
        command=next(answers, "") or first.hint or f"qrspi config validate {tree.name}",
        kind="config",
    )


def _how(first: Problem, tree: Tree) -> str:
    """How to answer, where each way out but the last is a command."""
    ways = first.options[:-1]
    whole = bool(ways) and all(map(config_problems.command_of, ways))
    return f"Answer with `qrspi resolve {tree.name} NUMBER`" if whole else ""


def _made_elsewhere(tree: Tree, errors: tuple[Problem, ...]) -> bool:
    """What no command of this engine leaves behind: a renamed field, or rounds without one for
    models."""
    from qrspi.core.records import import_record

    names = {entry.name for entry in entries(tree, "")}
    retired = any(error.code == "field-renamed" for error in errors)
    bare = any(error.field == "model_routing" and not error.found for error in errors)
    return import_record.FILE not in names and (retired or (bare and "reviews" in names))
