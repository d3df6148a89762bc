"""What verbs take: the options and arguments that several share."""

from __future__ import annotations

import io
from collections.abc import Callable

import click
from click.core import ParameterSource

from qrspi.core.hints import Any
from qrspi.core.text import shell_words

Declaration = Callable[[Callable[..., Any]], Callable[..., Any]]

run = click.argument("run", required=False)
no_commit = click.option("--no-commit", is_flag=True, help="Leave committing to you.")
failing = click.option(
    "--failing", is_flag=True, help="Although tests or findings speak against it; needs -m."
)
reason = click.option("-m", "--message", "reason", default="", metavar="REASON", help="Why.")

text = click.option(
    "--text", default="", metavar="HASH", help="Only if this is the text's hash still."
)


class InputFile(click.File):
    """A file, or what this process was given in place of its standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        handed = ctx.obj.handed if ctx and value == "-" else None
        return super().convert(value, param, ctx) if handed is None else io.BytesIO(handed)


file = click.argument("file", type=InputFile("rb"))
message_file = click.option(
    "-F", "--file", type=InputFile("rb"), help="The same from a file, or - for stdin."
)


def given_again(*more: str) -> str:
    """The command as it was given, with more words."""
    context = click.get_current_context()
    words: list[str] = []
    for one in context.command.params:
        name = one.name or ""
        value = context.params.get(name)
        if value is None or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if isinstance(one, click.Option) and one.is_flag:
            words.append((one.opts if value else one.secondary_opts)[0])
        else:
            words += [*one.opts[:1], str(value)] if isinstance(one, click.Option) else [str(value)]
    return shell_words.command("qrspi", str(context.info_name), *words, *more)


def words(metavar: str) -> Declaration:
    return click.argument("words", nargs=-1, metavar=metavar)


def dry_run(says: str = "what would be done", instead: str = "change nothing") -> Declaration:
    return click.option("--dry-run", is_flag=True, help=f"Say {says}; {instead}.")


def person(says: str = "so") -> Declaration:
    help = f"Who says {says}; kept beside what git knows."
    return click.option("--as", "who", default="", metavar="NAME", help=help)


def round_number(
    help: str | None = "This round, not the newest.", *, required: bool = False
) -> Declaration:
    kind = click.IntRange(1)
    return click.option("--round", "number", type=kind, required=required, metavar="N", help=help)
