"""The route and the settings under which decisions were made, and changes that no command made."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.config import safeguards
from qrspi.core.config.reader import Config
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTES
from qrspi.core.records.approvals import Record, route_text
from qrspi.core.text.shell_words import command

CHANGE = "route"  # the event of a change by command
RESET = "settings"  # of one of what reviews are asked for


def changed_by_hand(
    record: Record, pipeline: str, route: tuple[str, ...], run: str, *, free: bool
) -> Problem:
    """`record` was made on another route. While the route is `free`, a command can confirm the
    change."""
    before, _, steps = record.route.partition(": ")
    changes = list(_changes(before, tuple(steps.split()), pipeline, route))
    what = " and ".join(changes) or "the order of the route is another"
    back, confirm = _ways(pipeline, route, run) if free else ("", "")
    ways = f"put it back{back}{f', or run `{confirm}` to put it on record' if confirm else ''}"
    text = f"config.md: {what}, and no command did that since {_when(record)}: {ways}"
    hint = confirm or command("qrspi", "route", "show", run)
    found = route_text(pipeline, route)
    return Problem("route-changed", text, "config.md", "route", found, record.route, hint)


def _ways(pipeline: str, route: tuple[str, ...], run: str) -> tuple[str, str]:
    name = next((name for name, known in ROUTES.items() if known == route), "")
    if not name:
        return "", ""
    way = command("qrspi", "route", "set", run, name)
    return ("", way) if (name == "quick") == (pipeline == "quick") else (f": `{way}`", "")


def _changes(
    before: str, known: tuple[str, ...], pipeline: str, route: tuple[str, ...]
) -> Iterable[str]:
    gone = [step for step in known if step not in route]
    new = [step for step in route if step not in known]
    if gone:
        yield f"{', '.join(gone)} left the route"
    if new:
        yield f"{', '.join(new)} came into the route"
    if before != pipeline:
        yield f"the pipeline became {pipeline}"


def lowered(record: Record, config: Config, run: str) -> Problem | None:
    """`record` knows more to be asked of reviews and gates than is asked now."""
    gone = safeguards.missing(record.safeguards, config)
    if not gone:
        return None
    lost = " and ".join(" is no longer ".join(one.split(": ", 1)) for one in gone)
    put = safeguards.settings(gone, config)
    confirm = command("qrspi", "config", "set", run, *put) if put else ""
    ways = f"put it back{f', or run `{confirm}` to put it on record' if confirm else ''}"
    text = f"config.md: {lost}, and no command did that since {_when(record)}: {ways}"
    hint = confirm or command("qrspi", "config", "show", run)
    field, now = gone[0].partition(": ")[0], safeguards.text(safeguards.asked(config))
    return Problem("settings-changed", text, "config.md", field, now, record.safeguards, hint)


def _when(record: Record) -> str:
    what = " ".join(part for part in (record.event, record.step) if part)
    return f"the last decision of {record.person or 'somebody'} ({what}, {record.when[:10]})"
