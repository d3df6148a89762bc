"""`qrspi watch`: the daemon that does for all runs what `next` does for one."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import attempt
from qrspi.render import daemon as rendered
from qrspi.world.machine import clock
from qrspi.world.processes import own_command

if TYPE_CHECKING:
    from qrspi.daemon import Report
    from qrspi.world.processes.side_processes import SideProgram
    from qrspi.world.watch.watcher import Watcher

HOOK_SECONDS = 60.0

_STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@verb("watch")
@click.option("--dispatch", is_flag=True, help="Also send the agents that runs wait for.")
@click.option(
    "--executor",
    type=click.Choice(["local", "celery"]),
    help="With --dispatch: threads of a command, or workers elsewhere.",
)
@arguments.no_commit
@click.option("--poll", is_flag=True, help="Look every second instead of listening for events.")
@click.option(
    "--sweep",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Seconds between looks at everything.",
)
@click.option("--on-human", metavar="CMD", help="Run this when a person is needed; JSON on stdin.")
@click.option(
    "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option(
    "--print-unit", type=click.Choice(list(rendered.UNITS)), help="Print a unit file, and end."
)
def command(
    session: Session,
    dispatch: bool,
    executor: str | None,
    no_commit: bool,
    poll: bool,
    sweep: float,
    on_human: str | None,
    log_format: str,
    print_unit: str | None,
) -> None:
    """Do for all runs what `qrspi next` does for one, whenever their files change.

    One daemon for each docs/qrspi. It answers no question that is for a person.
    """
    hook = _words(on_human)
    if executor and not dispatch:
        raise click.UsageError("--executor only matters with --dispatch")
    if print_unit:
        flags = {"--dispatch": dispatch, "--no-commit": no_commit, "--poll": poll}
        given = {"--executor": executor, "--sweep": f"{sweep:g}", "--on-human": on_human}
        given["--log-format"] = log_format
        argv = _argv(session, flags, given)
        session.write(rendered.UNITS[print_unit](argv, session.root.project))
        return
    _must_be_there(hook)
    # Imported here: only the daemon needs watchdog; a unit is printed without it.
    from qrspi.daemon import Settings, watch
    from qrspi.handlers.jobs.job import Options
    from qrspi.world.git import command as git
    from qrspi.world.watch.watcher import Watcher

    session.json = session.json or log_format == "json"
    watcher = Watcher(session.root.runs_dir, sweep=sweep, poll=poll)
    settings = Settings(
        session.root,
        Options("watch", no_commit, lock_timeout=0.0),
        dispatch,
        executor or "",
        partial(_errand, hook) if hook else None,
    )
    git.detach()
    with _stopped_by_signals(watcher):
        for report in watch(settings, watcher, attempt):
            _log(session, report, watcher)


def _words(command: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command or ""))
    except ValueError as error:
        raise click.BadParameter(f"{error}: {command}", param_hint="--on-human") from None


def _must_be_there(hook: tuple[str, ...]) -> None:
    """Refused at the start: at the first question nobody may be looking."""
    if hook and shutil.which(hook[0]) is None:
        text = f"there is no command {hook[0]!r}"
        raise click.BadParameter(text, param_hint="--on-human")


def _argv(session: Session, flags: dict[str, bool], given: dict[str, str | None]) -> list[str]:
    """This command, for a supervisor that knows neither our PATH nor our directory."""
    only = session.root.only
    root = f"{session.root.runs_dir}/{only}" if only else session.root.runs_dir
    words = [*own_command.words(), "--root", root, "watch"]
    words += [flag for flag, on in flags.items() if on]
    return words + [word for name, value in given.items() if value for word in (name, value)]


@contextmanager
def _stopped_by_signals(watcher: Watcher) -> Iterator[None]:
    before = {sign: signal.signal(sign, lambda *_: watcher.stop()) for sign in _STOPPING}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _errand(hook: tuple[str, ...], report: Report) -> SideProgram:
    from qrspi.daemon import HOOK
    from qrspi.world.processes.side_processes import SideProgram

    given = json.dumps(rendered.document(report, clock.now_utc()))
    return SideProgram(HOOK, report.run, hook, given.encode() + b"\n", HOOK_SECONDS)


def _log(session: Session, report: Report, watcher: Watcher) -> None:
    place = rendered.DaemonPlace(watcher.folder, os.getpid(), watcher.manner)
    now = clock.now_utc()
    if session.json:
        session.emit(rendered.document(report, now, place))
    else:
        session.show(rendered.lines(report, now, place))
