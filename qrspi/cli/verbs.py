"""Every command: its module, its line of help, its place in `qrspi --help`."""

from __future__ import annotations

from typing import NamedTuple


class VerbEntry(NamedTuple):
    module: str
    help: str
    section: str


_RUNS = "Runs"
_GATES = "Decisions"
_PARTS = "Parts of a round"
_WORK = "Agents and code"
_HELP = "Help and checks"

VERBS: dict[str, VerbEntry] = {
    "init": VerbEntry("init", "Start a run.", _RUNS),
    "status": VerbEntry("status", "Where runs stand, and what is next.", _RUNS),
    "next": VerbEntry("next", "Do what can be done now, then say who is needed.", _RUNS),
    "inbox": VerbEntry("inbox", "Everything that waits for a person.", _RUNS),
    "brief": VerbEntry("brief", "One page that puts somebody in the picture.", _RUNS),
}
