"""By which command each option of a menu is taken. Most are answered by `qrspi resolve`. Where a
terminal would ask once more, whoever has no terminal says yes with it."""

from __future__ import annotations

from qrspi.core.config import problems as config_problems
from qrspi.core.model import HeldFinding, Next, Option


def named(run: str, following: Next) -> Next:
    options = (
        one._replace(command=one.command or _command(run, following, one))
        for one in following.options
    )
    return following._replace(options=tuple(options))


def _command(run: str, following: Next, option: Option) -> str:
    resolve = f"qrspi resolve {run} {option.key}"
    match following.kind:
        case "config":
            return _of_config(resolve, option)
        case "pause":
            return _about_first(run, following, option)
        case "task":
            return _about_task(run, following, option.key)
        case "replan":
            to = " --to STEP --yes" if option.key == "major" else ""
            return f"qrspi replan {option.key} {run}{to}"
        case "cap" | "escape" if option.key == "rewind":
            return f"{resolve} --to STEP --yes"
        case "test" if "--failing" in option.label:
            return f"{resolve} --failing -m REASON"
        case _:
            return resolve


def _of_config(resolve: str, option: Option) -> str:
    """'' for what is left to the person: an edit by hand, or a value to think of."""
    if option.label == config_problems.ABORT:
        return resolve
    return config_problems.command_of(option.label)


def _about_first(run: str, following: Next, option: Option) -> str:
    """The next answer has the others."""
    each = (about_finding(run, held, (option,)) for held in following.held)
    return next((one.command for options in each for one in options), "")


def about_finding(run: str, held: HeldFinding, options: tuple[Option, ...]) -> tuple[Option, ...]:
    """A finding that is only proposed does not lead back."""
    to = " --yes" if len(held.targets) == 1 else " --to STEP --yes"
    return tuple(
        option._replace(
            command=f"qrspi decide {run} {held.name} {option.key}"
            f"{to if option.key == 'loop-back' else ''}"
        )
        for option in options
        if option.key != "loop-back" or held.verdict == "pause"
    )


def _about_task(run: str, following: Next, key: str) -> str:
    if following.command.startswith(f"qrspi task {key} "):
        return following.command
    reason = "" if key == "retry" else " --reason TEXT"
    return f"qrspi task {key} {run} {following.step}{reason}"
