"""The daemon: what it tells, and the unit file by which a system starts it and keeps it running."""

from __future__ import annotations

import plistlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from qrspi.core.named_tuple import NamedTuple
from qrspi.render import outcomes, problems, run_page
from qrspi.render.terminal import one_line

if TYPE_CHECKING:
    from qrspi.daemon import Report

_WAITING = {"human": "a person", "agent": "agents", "engine": "qrspi next", "nobody": "nobody"}


class DaemonPlace(NamedTuple):
    """What the daemon says of itself when it starts."""

    root: str = ""
    pid: int = 0
    manner: str = ""  # of noticing changes


NOWHERE = DaemonPlace()


def document(report: Report, time: str, place: DaemonPlace = NOWHERE) -> dict[str, Any]:
    document: dict[str, Any] = {"schema": "qrspi/watch/v1", "time": time, "event": report.event}
    if report.run:
        document["run"] = report.run
    if report.event == "started":
        document |= place._asdict()
    if report.event == "looked":
        document |= {"waiting": dict(report.waiting), "failed": report.failed}
    if report.performed:
        document |= outcomes.performed(report.performed)
    if report.state:
        document |= {"path": report.state.path, "next": run_page.next_document(report.state.next)}
    if report.problem:
        document |= problems.violation(report.problem)
    return document


def lines(report: Report, time: str, place: DaemonPlace = NOWHERE) -> list[str]:
    who = f"{one_line(report.run)}: " if report.run else ""
    notes = report.performed.notes if report.performed else ()
    if report.problem and report.problem.hint:
        notes = (f"  {report.problem.hint}",)
    return [f"{time} {who}{text}" for text in (_words(report, place), *map(one_line, notes))]


def _words(report: Report, place: DaemonPlace) -> str:
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
            following = report.state.next
            return f"waits for {_WAITING[following.who]}: {one_line(following.summary)}"
        case "failed":
            assert report.problem
            return f"failed: {one_line(report.problem.message)}"
        case "stale":
            assert report.problem
            return f"silent: {one_line(report.problem.message)}"
        case "sent":
            return "the agents it waited for were sent"
        case "gone":
            return "is gone"
        case "stopped":
            return "stopped"


def _counts(report: Report) -> str:
    counts = [f"{number} for {_WAITING[who]}" for who, number in report.waiting if number]
    parts = [f"runs that wait: {', '.join(counts)}"] if counts else []
    parts += [f"runs that failed: {report.failed}"] if report.failed else []
    return "; ".join(parts) or "there is no open run"


_SYSTEMD = """\
# ~/.config/systemd/user/qrspi-watch.service
#   systemctl --user daemon-reload && systemctl --user enable --now qrspi-watch
[Unit]
Description=qrspi watch {shown}

[Service]
ExecStart={command}
Restart=on-failure
# 5: another daemon watches these runs already.
RestartPreventExitStatus=5
KillMode=mixed
TimeoutStopSec=10

[Install]
WantedBy=default.target
"""


def systemd(argv: Sequence[str], root: str) -> str:
    command = " ".join(map(_systemd_word, argv))
    return _SYSTEMD.format(command=command, shown=_specifiers(root))


def _systemd_word(word: str) -> str:
    escaped = _specifiers(word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$"))
    return f'"{escaped}"' if not word or set(word) & set(" \t'\";") else escaped


def _specifiers(text: str) -> str:
    return text.replace("%", "%%").replace("\n", "\\n")


def launchd(argv: Sequence[str], root: str) -> str:
    """To be kept as ~/Library/LaunchAgents/qrspi.watch.plist."""
    job = {
        "Label": "qrspi.watch",
        "ProgramArguments": list(argv),
        "WorkingDirectory": root,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
    }
    return plistlib.dumps(job, sort_keys=False).decode()


UNITS: dict[str, Callable[[Sequence[str], str], str]] = {"systemd": systemd, "launchd": launchd}
