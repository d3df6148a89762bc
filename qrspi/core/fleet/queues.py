"""The queues of a broker: their names, and how the first to use one declares it.

A job goes to its vendor's queue, a worker's word and a job that none could finish to the queue of
the run. A ticket is an empty queue that exists as long as its command wants its jobs done."""

from __future__ import annotations

import re

from qrspi.core.digest import of_parts, sha256
from qrspi.core.named_tuple import NamedTuple

DAY = 24 * 3600
IN_QUEUE = DAY  # seconds that a job waits for a worker
RESULTS_KEPT = 7 * DAY
DELIVERIES = 2

JOBS_EXCHANGE = "qrspi.jobs"
# Through the default exchange, a forged message could be sent back to its origin.
DEAD_EXCHANGE = "qrspi.dead"
REPLY_HEADER = "qrspi-reply"  # the key by which a dead job reaches the queue of its run

VENDOR = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_RUN = re.compile(r"qrspi\.run\.[0-9a-f]{40}")
_TICKET = re.compile(r"qrspi\.ticket\.[0-9a-f]{40}")


class Queue(NamedTuple):
    name: str
    arguments: dict[str, str | int]


def of_vendor(vendor: str) -> Queue:
    arguments: dict[str, str | int] = {
        "x-queue-type": "quorum",
        "x-delivery-limit": DELIVERIES - 1,
        "x-message-ttl": IN_QUEUE * 1000,
        "x-dead-letter-exchange": DEAD_EXCHANGE,
    }
    return Queue(f"qrspi.jobs.{vendor}", arguments)


def of_run(machine: str, path: str) -> Queue:
    """One run on one machine; a copy of it elsewhere is another run."""
    digest = of_parts(part.encode(errors="surrogateescape") for part in (machine, path))
    name = f"qrspi.run.{digest[:40]}"
    return Queue(name, {"x-expires": RESULTS_KEPT * 1000, "x-message-ttl": RESULTS_KEPT * 1000})


def ticket(chance: bytes) -> Queue:
    """A ticket outlives every job that waits for a worker."""
    name = f"qrspi.ticket.{sha256(chance).hexdigest()[:40]}"
    return Queue(name, {"x-expires": 2 * IN_QUEUE * 1000})


def is_run(name: str) -> bool:
    return _RUN.fullmatch(name) is not None


def is_ticket(name: str) -> bool:
    return _TICKET.fullmatch(name) is not None


def is_vendor(name: str) -> bool:
    return re.fullmatch(VENDOR, name) is not None
