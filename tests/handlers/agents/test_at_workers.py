from __future__ import annotations

import pytest

from qrspi.core.agents.dispatch_record import Record
from qrspi.core.fleet import queues
from qrspi.handlers.agents import at_workers


@pytest.mark.rule("SEC-14")
@pytest.mark.parametrize("name", ["qrspi.jobs.claude", f"qrspi.run.{'0' * 40}", "other", ""])
def test_only_tickets_are_taken_back(name: str) -> None:
    """Whatever else a record names would be deleted at the broker."""
    ticket = queues.ticket(b"x").name
    records = (Record("1", "a", ticket=ticket), Record("2", "b", ticket=name))
    assert at_workers.tickets(records) == {ticket}
