"""The one place where errors end: an exit status and one clear line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from qrspi.cli.session import Session
from qrspi.core.model import Problem
from qrspi.core.refusal import Refusal
from qrspi.render import problems


def guarded(session: Session, body: Callable[[], object]) -> int:
    """Runs a command; whatever goes wrong in it becomes an exit status."""
    try:
        body()
        sys.stdout.flush()
    except Refusal as refusal:
        return _report(session, refusal.exit_code, refusal.problem, refusal.more)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except click.ClickException as error:
        return _report(session, 2, _usage(error))
    except BrokenPipeError:
        # The reader has enough (`| head -1`); Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception as bug:
        return _bug(session, bug)
    return 0


def _usage(error: click.ClickException) -> Problem:
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx:
        hint = f"{error.ctx.command_path} --help"
    return Problem("usage", error.format_message(), hint=hint)


def _report(session: Session, status: int, problem: Problem, more: tuple[Problem, ...] = ()) -> int:
    if session.json:
        session.emit(problems.error_document(problem, more))
        return status
    for line in problems.lines(problem):
        click.echo(line, err=True)
    for item in more:
        click.echo(f"  - {problems.lines(item)[0]}", err=True)
    return status


def _bug(session: Session, bug: Exception) -> int:
    import traceback

    line = f"a bug in qrspi: {type(bug).__name__}: {bug}"
    hint = "run it again with -v for the traceback"
    if session.verbose:
        click.echo(traceback.format_exc(), err=True)
        hint = ""
    return _report(session, 1, Problem("bug", line, hint=hint))
