"""An attack as a test: who makes it, what it tries, and in which ways.

A module is a class of attacks, and its first line says what whoever attacks is after. The page
docs/security.md and the table of `make attacks` are made from these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

import pytest

Who = Literal["a clone", "an agent", "a reply", "another user", "a provider", "a broker"]
Test = TypeVar("Test", bound=Callable[..., object])


class Attack(NamedTuple):
    who: Who
    tries: str
    ways: tuple[str, ...] = ()
    no_more: str = ""  # why there are no more, where there are fewer than four


def attack(
    who: Who, tries: str, ways: Mapping[str, Any] | None = None, no_more: str = ""
) -> Callable[[Test], Test]:
    """With `ways` the test is run once for the value of each."""

    def marked(test: Test) -> Test:
        if ways:
            rows = [pytest.param(value, id=name) for name, value in ways.items()]
            test = pytest.mark.parametrize("way", rows)(test)
        return pytest.mark.attack(Attack(who, tries, tuple(ways or ()), no_more))(test)

    return marked
