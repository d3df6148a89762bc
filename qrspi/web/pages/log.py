"""`/runs/RUN/log`: the trail, newest first."""

from __future__ import annotations

from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.named_tuple import NamedTuple
from qrspi.web.answers import gates
from qrspi.web.html import Page
from qrspi.web.parts import navigation

SHOWN = 500
_FEW = 2  # files that are named without being asked for


class Line(NamedTuple):
    """A line of the trail; `problem` says why it cannot be read."""

    time: str = ""
    who: str = ""
    event: str = ""
    outcome: str = ""  # '' where it was simply done
    step: str = ""
    round: int | None = None
    files: tuple[str, ...] = ()
    problem: str = ""

    @property
    def where(self) -> str:
        """`design, round 2`."""
        number = f", round {self.round}" if self.round else ""
        return f"{self.step or '–'}{number}"

    @property
    def is_long(self) -> bool:
        return len(self.files) > _FEW

    @property
    def key(self) -> str:
        return f"{self.time}{self.event}{self.step}"


def page(commands: Commands, name: str, query: dict[str, str]) -> Page:
    run = commands.ask("status", name)["runs"][0]
    everything = "all" in query
    words = ("--all",) if everything else ("-n", str(SHOWN))
    lines = [_line(one) for one in commands.lines("log", name, *words)]
    context = {
        "run": run,
        "tabs": navigation.run_tabs(name, "/log"),
        "lines": lines[::-1],
        "more": not everything and len(lines) >= SHOWN,
    }
    return Page("log.html", f"Log · {name}", context, name, following=gates.following(run))


def _line(line: dict[str, Any]) -> Line:
    if line["kind"] != "entry":
        return Line(problem=line["message"])
    return Line(
        line["time"],
        line.get("who") or "qrspi",
        line["event"],
        "" if line["outcome"] == "done" else line["outcome"],
        line["step"] or "",
        line["round"],
        tuple(touched["path"] for touched in line["files"]),
    )
