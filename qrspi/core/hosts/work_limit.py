"""How much of a tool call is read before it is refused unread, in characters about: a host waits a
few seconds for its hook, and lets the call pass when no answer comes."""

from __future__ import annotations

MOST = 128 * 1024  # an argument of a program is no longer on Linux, so no shell gets more


class TooMuch(Exception):
    """It cannot be seen in time what the call writes."""


class Work:
    def __init__(self) -> None:
        self.done = 0

    def spend(self, amount: int) -> None:
        self.done += amount
        if self.done > MOST:
            raise TooMuch
