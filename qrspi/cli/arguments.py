"""What verbs take: the options and arguments that several share, and what is wrong with those that
were given."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import BinaryIO

import click
from click.core import ParameterSource
from click.exceptions import BadOptionUsage, BadParameter, NoArgsIsHelpError, NoSuchOption

from qrspi.core.hints import Any
from qrspi.core.model import Problem
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


def name_of(file: BinaryIO) -> str:
    """As it was typed; standard input is -."""
    name = getattr(file, "name", "-")
    return "-" if name == "<stdin>" else str(name)


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


_FOUND = re.compile(r"^'([^']*)'|\(([^()]*)\)$|^no such command '([^']*)'")


def misused(error: click.UsageError, context: click.Context, words: Sequence[str]) -> Problem:
    alone = isinstance(error, NoArgsIsHelpError)
    text = "Missing command." if alone else " ".join(error.format_message().split())
    match = _FOUND.search(error.message)
    found = next(filter(None, match.groups()), "") if match else ""
    return Problem(
        "usage",
        text,
        field=_field(error, words),
        found=found,
        expected=_expected(error),
        hint=f"{context.command_path} --help",
    )


def _field(error: click.UsageError, words: Sequence[str]) -> str:
    match error:
        case NoSuchOption() | BadOptionUsage():
            return error.option_name
        case BadParameter(param=click.Option() as option):
            return typed((*option.opts, *option.secondary_opts), words)
        case BadParameter(param=click.Parameter() as argument):
            return argument.human_readable_name
        case BadParameter(param_hint=str() as name):
            return name
        case _:
            return "COMMAND" if error.message.startswith("no such command ") else ""


def _expected(error: click.UsageError) -> str:
    param = error.param if isinstance(error, BadParameter) else None
    if param is None:
        return ""
    if isinstance(param.type, click.Choice):
        return ", ".join(map(str, param.type.choices))
    return "a value" if isinstance(error, click.MissingParameter) else param.type.name


def typed(names: Sequence[str], words: Sequence[str]) -> str:
    """Which of an option's names was used; the longest where none was."""
    used = (name for name in names if any(_is_name(name, word) for word in words))
    return next(used, max(names, key=len))


def _is_name(name: str, word: str) -> bool:
    if name.startswith("--"):
        return word.partition("=")[0] == name
    return word.startswith(name) and not word.startswith("--")


_MESSAGE = ("--message", "--reason")  # also called -m


def as_typed(refused: Problem, words: Sequence[str]) -> Problem:
    """A refusal that is about -m, to somebody who used its long name."""
    long = next((one for one in _MESSAGE if any(_is_name(one, word) for word in words)), "")
    if not long:
        return refused
    field = long if refused.field == "-m" else refused.field
    return refused._replace(field=field, message=re.sub(r"(?<!\S)-m\b", long, refused.message))
