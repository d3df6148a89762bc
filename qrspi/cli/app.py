"""The command group: the table of verbs, each imported when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import click

from qrspi import __version__
from qrspi.cli.session import Session
from qrspi.cli.verb_table import SECTIONS, VERBS
from qrspi.core.errors import Misuse
from qrspi.core.hints import Any
from qrspi.core.model import Problem


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    """A global option may stand before or after the verb; an absent one changes nothing."""
    if value not in (None, False):
        setattr(context.ensure_object(Session), str(option.name), value)


def _shared(*, hidden: bool) -> list[click.Parameter]:
    def option(*names: str, help: str, **more: Any) -> click.Option:
        return click.Option(names, help=help, callback=_keep, expose_value=False, **more)

    where = "The project, its docs/qrspi, or one run."
    wait = "Seconds to wait for a busy run."
    return [
        option("--json", help="One JSON document instead of text.", is_flag=True),
        option("--root", "root_option", help=where, metavar="DIR", hidden=hidden),
        option("--no-color", "plain", help="No colours.", is_flag=True, hidden=hidden),
        option("-q", "--quiet", help="No notes on stderr.", is_flag=True, hidden=hidden),
        option("-v", "--verbose", help="Tracebacks of bugs.", is_flag=True, hidden=hidden),
        option("--lock-timeout", help=wait, type=float, metavar="S", hidden=hidden),
    ]


Body = Callable[..., None]


def verb(name: str) -> Callable[[Body], click.Command]:
    def declared(body: Body) -> click.Command:
        return click.command(name, cls=Verb)(click.pass_obj(body))

    return declared


class Verb(click.Command):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["params"] = [*kwargs.get("params", []), *_shared(hidden=True)]
        super().__init__(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        _refuse_stand_ins(self, ctx)
        return super().invoke(ctx)


_STAND_INS = ("TEXT", "REASON")  # for words of one's own, in the commands that are printed


def _refuse_stand_ins(command: click.Command, ctx: click.Context) -> None:
    """What is said stays on record, and some of it cannot be said again."""
    for option in command.params:
        said = ctx.params.get(str(option.name))
        if said == option.metavar and said in _STAND_INS:
            text = f"{option.opts[0]}: {said} only stands for your own words; say them in its place"
            raise Misuse(Problem("usage", text, field=option.opts[0], found=said))


class VerbGroup(click.Group):
    command_class = Verb

    def action(self, name: str, **attributes: Any) -> Callable[[Body], click.Command]:
        def declared(body: Body) -> click.Command:
            return self.command(name, **attributes)(click.pass_obj(body))

        return declared

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["params"] = [*kwargs.get("params", []), *_shared(hidden=True)]
        super().__init__(*args, **kwargs)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """RUN may stand before the action word too."""
        if len(args) > 1 and args[0] not in self.commands and args[1] in self.commands:
            args = [args[1], args[0], *args[2:]]
        return super().resolve_command(ctx, args)


class DefaultingGroup(VerbGroup):
    """Its first action needs no word: `spend RUN` is `spend show RUN`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for word in args if not word.startswith("-")]
        known = any(word in self.commands for word in words[:2])
        if not known and not {"--help", "-h"} & set(args):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


class Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(f"qrspi.cli.verbs.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not args[0].startswith("-"):
            from qrspi.core.findings.near_names import meant

            raise click.UsageError(f"no such command {args[0]!r}{meant(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(self._in_short(ctx), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def _in_short(self, ctx: click.Context) -> str:
        """One screen: what the commands of a day do, and what the others are called."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        daily, *others = SECTIONS
        with formatter.section(daily):
            formatter.write_dl([_FIRST, *_rows(daily)[1:]])
        with formatter.section("More, which `qrspi --help` explains"):
            formatter.write_dl([(one, ", ".join(name for name, _ in _rows(one))) for one in others])
        return formatter.getvalue().rstrip("\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help begins with the commands of a day."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table alone, so that help does not import every command."""
        for section in SECTIONS:
            with formatter.section(section):
                formatter.write_dl(_rows(section))


_FIRST = ('init "TEXT"', "Start a run: what you want, in your words.")


def _rows(section: str) -> list[tuple[str, str]]:
    return [(name, verb.help) for name, verb in VERBS.items() if verb.section == section]


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"qrspi {__version__}")
        context.exit()


application = Verbs(
    "qrspi",
    params=[
        *_shared(hidden=False),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            help="Print the version.",
            callback=_version,
        ),
    ],
    help="Runs of plans that agents write and review: where each stands, and what is next.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
