"""What the daemon tells, as lines and as documents."""

from __future__ import annotations

from typing import Any, NamedTuple

from qrspi.daemon import Report
from qrspi.render import outcomes, problems
from qrspi.render import run_page as states
from qrspi.render.safe_text import one_line

SCHEMA = "qrspi/watch/v1"

_WAITING = {"human": "a person", "agent": "agents", "engine": "qrspi next", "nobody": "nobody"}


class Place(NamedTuple):
    """What the daemon says of itself when it starts."""

    root: str = ""
    pid: int = 0
    manner: str = ""


NOWHERE = Place()


def document(report: Report, time: str, place: Place = NOWHERE) -> dict[str, Any]:
    told: dict[str, Any] = {"schema": SCHEMA, "time": time, "event": report.event}
    if report.run:
        told["run"] = report.run
    if report.event == "started":
        told |= place._asdict()
    if report.event == "looked":
        told |= {"waiting": dict(report.waiting), "failed": report.failed}
    if report.performed:
        told |= outcomes.performed(report.performed)
    if report.state:
        told |= {"path": report.state.path, "next": states.next_document(report.state.next)}
    if report.problem:
        told |= problems.violation(report.problem)
    return told


def lines(report: Report, time: str, place: Place = NOWHERE) -> list[str]:
    who = f"{one_line(report.run)}: " if report.run else ""
    notes = report.performed.notes if report.performed else ()
    if report.problem and report.problem.hint:
        notes = (f"  {report.problem.hint}",)
    return [f"{time} {who}{text}" for text in (_words(report, place), *map(one_line, notes))]


def _words(report: Report, place: Place) -> str:
    match report.event:
        case "started":
            return f"watching {one_line(place.root)}, {place.manner}"
        case "looked":
            return _counts(report)
        case "performed":
            assert report.performed
            return f"done: {outcomes.title(report.performed)}"
        case "waits":
            assert report.state
            return f"waits for {_WAITING[report.state.next.who]}: " + one_line(
                report.state.next.summary
            )
        case "failed":
            assert report.problem
            return f"failed: {one_line(report.problem.message)}"
        case "sent":
            return "the agents it waited for were sent"
        case "gone":
            return "is gone"
        case "stopped":
            return "stopped"


def _counts(report: Report) -> str:
    counts = [f"{number} for {_WAITING[who]}" for who, number in report.waiting if number]
    told = [f"runs that wait: {', '.join(counts)}"] if counts else []
    told += [f"runs that failed: {report.failed}"] if report.failed else []
    return "; ".join(told) or "there is no open run"
