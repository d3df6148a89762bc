"""Sending agents from the command line: its options, and what a person sees meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from qrspi.cli.session import Session
from qrspi.core.config.blocks import Limits
from qrspi.core.config.model_tiers import TIERS
from qrspi.core.errors import Halt, Misuse, accepted
from qrspi.core.model import Next, Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.handlers.agents.dispatch_options import JOBS, Executor, How, Listener, Sending
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.render import outcomes
from qrspi.render.terminal import one_line
from qrspi.world.runs.workspace import Workspace

if TYPE_CHECKING:
    from rich.progress import Progress

    from qrspi.engine_with_agents import Driven
    from qrspi.handlers.agents.fan_out import Dispatcher

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--executor",
        type=click.Choice(list(JOBS)),
        help="Threads of this command, or workers elsewhere.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1, 256),
        help=f"How many at once ({JOBS['local']}; with celery {JOBS['celery']}).",
    ),
    click.option("--max-usd", type=click.FloatRange(min=0), help="Stop at this cost."),
    click.option("--max-calls", type=click.IntRange(min=0), help="Stop after so many calls."),
    click.option("--max-tokens", type=click.IntRange(min=0), help="Stop after so many tokens."),
    click.option("--tier-override", type=click.Choice(TIERS), help="This tier for every role."),
    click.option(
        "--replies",
        type=click.Path(exists=True, file_okay=False, resolve_path=True),
        metavar="DIR",
        help="Take replies from a folder instead of sending.",
    ),
)


class SendOptions(NamedTuple):
    executor: Executor | None
    jobs: int | None
    max_usd: float | None
    max_calls: int | None
    max_tokens: int | None
    tier_override: str | None
    replies: str | None

    def sending(self, project: str, only: tuple[str, ...] = ()) -> Sending:
        limits = Limits(self.max_usd, self.max_tokens, self.max_calls)
        return Sending(self.jobs, limits, only, self.how(project))

    def how(self, project: str) -> How:
        executor = self.executor or default_executor(project)
        return How(self.tier_override, self.replies or "", executor)

    @property
    def any(self) -> bool:
        return any(given is not None for given in self)


def default_executor(project: str) -> Executor:
    # Imported here: only who sends needs them.
    from qrspi.core.fleet import user_settings
    from qrspi.world.files import own_files

    file = f"{own_files.settings_folder(os.environ)}/{user_settings.FILE}"
    settings = accepted(own_files.toml(file, "bad-settings")) or {}
    return cast(Executor, accepted(user_settings.executor(settings, project, file)) or "local")


def options(command: F) -> F:
    """The options of every command that sends; they arrive as one `asked`."""
    from functools import wraps

    @wraps(command)
    def with_asked(*args: Any, **kwargs: Any) -> Any:
        asked = SendOptions(**{name: kwargs.pop(name) for name in SendOptions._fields})
        return command(*args, asked=asked, **kwargs)

    wrapped: Any = with_asked
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]


def refuse_without_dispatch(asked: SendOptions) -> None:
    if asked.any:
        names = "--executor, --jobs, --max-…, --tier-override and --replies"
        text = f"{names} only matter with --dispatch"
        raise Misuse(Problem("usage", text, hint="qrspi next [RUN] --dispatch"))


@contextmanager
def opened(
    session: Session,
    workspace: Workspace,
    options: Options,
    asked: SendOptions,
    only: tuple[str, ...] = (),
) -> Iterator[Dispatcher]:
    """A dispatcher whose progress the person sees."""
    # Imported here: a plain `next` starts no programs and opens no connections.
    from qrspi.handlers.agents import fan_out

    sending = asked.sending(session.root.project, only)
    with (
        ProgressTeller(session) as progress,
        fan_out.opened(workspace, options, sending, progress) as dispatcher,
    ):
        yield dispatcher


def drive(
    session: Session, workspace: Workspace, options: Options, asked: SendOptions, path: str
) -> Driven:
    from qrspi import engine_with_agents

    with opened(session, workspace, options, asked) as dispatcher:
        return engine_with_agents.drive(workspace, options, dispatcher, path)


def failed(
    session: Session,
    failures: tuple[Problem, ...],
    performed: Iterable[Performed] = (),
    following: Next | None = None,
) -> Halt:
    """With --json or --quiet all failures are listed. Otherwise the person has already read each of
    them."""
    if session.json:
        halt = Halt(*(one if one.hint else one._replace(hint=_AGAIN) for one in failures))
        halt.beside = outcomes.stopped_document(performed, following)
        return halt
    if session.quiet:
        return Halt(*failures)
    who = counted(len(failures), "agent")
    text = f"{who} failed, as said above; run the same command again: who has answered is not asked"
    hint = next((problem.hint for problem in failures if problem.hint), "")
    options = next((one.options for one in failures if one.options), ())
    return Halt(Problem(failures[0].code, text, hint=hint, options=options))


_AGAIN = "run the same command again: only whoever is missing is sent"


class ProgressTeller(Listener):
    """Notes on stderr; on a terminal with a bar below them. Used as a context."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._bar: Progress | None = None
        self._sent = self._ended = 0
        self._under_way = ""

    def __enter__(self) -> ProgressTeller:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end()
        if kind is KeyboardInterrupt and self._sent:
            kept = ", which is kept" if self._ended else ""
            self.note(
                f"{self._ended} of {counted(self._sent, 'agent')} had answered{kept}: the same "
                f"command goes on from there{self._under_way}"
            )

    def note(self, text: str) -> None:
        if self._bar:
            self._bar.console.print(one_line(text), markup=False, highlight=False)
        else:
            self._session.note(text)

    def begun(self, names: tuple[str, ...]) -> None:
        self._end()
        self._sent, self._ended = len(names), 0
        if names and self._session.progress:
            self._bar = _bar()
            self._bar.start()
            self._bar.add_task("waiting for agents", total=len(names))

    def ended(self, name: str, problem: Problem | None) -> None:
        self._ended += 1
        if self._bar:
            self._bar.advance(self._bar.task_ids[0])
        if problem:
            self.note(f"failed: {name}: {problem.message}")

    def cut_off(self, run: str, calls: int, going_on: int) -> None:
        if calls:
            how_many = "1 call was" if calls == 1 else f"{calls} calls were"
            counted = f"`qrspi spend {run}` counts {'it' if calls == 1 else 'them'}"
            self._under_way = f". {how_many} under way, at a cost that nobody knows; {counted}"
        if going_on:
            how_many = "1 goes" if going_on == 1 else f"{going_on} go"
            self._under_way += f". {how_many} on at workers, and the rest was taken back"

    def _end(self) -> None:
        if self._bar:
            self._bar.stop()
            self._bar = None


def _bar() -> Progress:
    # It takes 50 ms to import, and only a person at a terminal sees it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
