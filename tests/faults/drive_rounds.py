"""What the killed processes do to a round."""

from __future__ import annotations

import sys
from collections.abc import Callable

from qrspi import engine
from qrspi.core.errors import Refusal
from qrspi.core.pipeline import subject
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import printed_reply, round_commands
from qrspi.handlers.rounds.printed_reply import Source
from qrspi.world.runs.workspace import Workspace
from tests import runs

GOALS = subject("goals")
assert GOALS is not None
EDGE = b"<<<FINDING-BOUNDARY>>>\n"
REPLY = EDGE.join((b"", runs.finding(), runs.finding(number=2, kind="scope")))


def split(workspace: Workspace) -> None:
    assert GOALS is not None
    printed_reply.split(workspace, Source(GOALS, 1, "quality-claude", REPLY), Options())


def take_in(workspace: Workspace) -> None:
    assert GOALS is not None
    printed_reply.ingest(workspace, Source(GOALS, 1, "quality-claude", REPLY), Options())


def go_on(workspace: Workspace) -> None:
    for done in engine.advance(workspace, Options()).performed:
        print(done.handler, *done.notes, sep="\n")


def commit(workspace: Workspace) -> None:
    assert GOALS is not None
    round_commands.commit(workspace, GOALS, None, Options(), False)


COMMANDS: dict[str, Callable[[Workspace], None]] = {
    "split": split,
    "ingest": take_in,
    "next": go_on,
    "commit": commit,
}

if __name__ == "__main__":
    try:
        COMMANDS[sys.argv[1]](Workspace(sys.argv[2]))
    except Refusal as refusal:
        sys.exit(f"{refusal.exit_code} {refusal}")
