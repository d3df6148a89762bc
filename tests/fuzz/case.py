"""What a kind of fuzz is: how a case is made from chance, and what must hold of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple


class Fuzz(NamedTuple):
    name: str
    count: int  # of cases, when nobody says otherwise
    make: Callable[[Random], Any]
    check: Callable[[Any], str]  # how the case was answered, in a word; AssertionError when wrongly

    @property
    def setting(self) -> str:
        return f"QRSPI_FUZZ_{self.name.upper()}"


def chance(seed: int, name: str, number: int) -> Random:
    """Every case has its own, so that one of a million can be made again by itself."""
    digest = hashlib.blake2b(f"{seed}/{name}/{number}".encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big"))
