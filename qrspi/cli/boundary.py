"""The one place where errors end: an exit status and one clear line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from qrspi.cli.session import Enough, NoStdout, Session, say
from qrspi.core.errors import Refusal
from qrspi.core.hints import Any
from qrspi.core.model import Problem
from qrspi.world.runs import project_root


def guarded(session: Session, body: Callable[[], object]) -> int:
    _never_fail_to_encode()
    try:
        return _outcome(session, body)
    except (BrokenPipeError, Enough):
        _forget_stdout()
        return 0
    except NoStdout as halt:
        _forget_stdout()
        say(halt.problem.message)
        return halt.exit_code


def _outcome(session: Session, body: Callable[[], object]) -> int:
    try:
        status = body()
    except NoStdout:
        raise
    except Refusal as refusal:
        if refusal.problem.code == "consent-needed" and session.interactive:
            return _asked(session, body, refusal)
        beside = refusal.beside or _done_before(session, refusal)
        problem = _as_typed(session, refusal.problem)
        return _report(session, refusal.exit_code, problem, refusal.more, beside)
    except KeyboardInterrupt:
        return _interrupted()
    except (BrokenPipeError, Enough):
        raise
    except Exception as error:
        return _from_click(session, error)
    return status if isinstance(status, int) else 0


def _as_typed(session: Session, problem: Problem) -> Problem:
    if problem.code != "usage":
        return problem
    from qrspi.cli import arguments

    return arguments.as_typed(problem, session.words)


def _done_before(session: Session, refusal: Refusal) -> Mapping[str, Any]:
    """Only a document has room for it: in text, an error is one line."""
    if not (refusal.done and session.json):
        return {}
    from qrspi.render import outcomes

    return outcomes.stopped_document(refusal.done, None)


def _asked(session: Session, body: Callable[[], object], refusal: Refusal) -> int:
    """A person is shown what would run, and asked. Since a refusal changes nothing, a yes starts
    the same command again."""
    from qrspi.cli import consent_question

    def again() -> object:
        consent_question.ask(session, refusal)
        return body()

    return _outcome(session, again)


def _never_fail_to_encode() -> None:
    """A terminal that cannot show a character gets its code instead of a traceback."""
    import io

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Otherwise Python would try at exit to write what is left, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _interrupted() -> int:
    say("interrupted")
    return 130


def _from_click(session: Session, error: Exception) -> int:
    """click raises exceptions to end a command and for usage errors; any other is a bug."""
    # Imported here: a plain `status` does without click.
    from click.exceptions import Abort, ClickException, Exit, NoArgsIsHelpError, UsageError

    match error:
        case NoArgsIsHelpError(ctx=context) if context and not session.json:
            say(context.get_help())
            return 2
        case Exit():
            return error.exit_code
        case Abort():
            return _interrupted()
        case UsageError(ctx=context) if context:
            from qrspi.cli import arguments

            return _report(session, 2, arguments.misused(error, context, session.words))
        case ClickException():
            return _report(session, 2, Problem("usage", error.format_message()))
        case FileNotFoundError() if project_root.current_directory() is None:
            return _report(session, 2, project_root.NOWHERE)
        case _:
            return _bug(session, error)


def _report(
    session: Session,
    status: int,
    problem: Problem,
    more: tuple[Problem, ...] = (),
    beside: Mapping[str, Any] = {},
) -> int:
    from qrspi.render import problems

    if session.json:
        session.emit({**problems.error_document(problem, more), **beside})
        return status
    for line in problems.lines(problem):
        say(session.reachable(line))
    for item in more:
        say(f"  - {problems.lines(item)[0]}")
    return status


def _bug(session: Session, bug: Exception) -> int:
    import traceback

    line = f"a bug in qrspi: {type(bug).__name__}: {bug}"
    hint = "run it again with -v for the traceback"
    if session.verbose:
        say(traceback.format_exc())
        hint = ""
    return _report(session, 1, Problem("bug", line, hint=hint))
