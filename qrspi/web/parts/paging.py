"""Long lists, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import urlencode

from qrspi.core.named_tuple import NamedTuple

T = TypeVar("T")
PER_PAGE = 50


class Paging(NamedTuple):
    number: int
    last: int
    address: str  # of the list
    query: dict[str, str]  # what else the address says

    @property
    def several(self) -> bool:
        return self.last > 1

    @property
    def before(self) -> str:
        return self._at(self.number - 1) if self.number > 1 else ""

    @property
    def after(self) -> str:
        return self._at(self.number + 1) if self.number < self.last else ""

    def _at(self, number: int) -> str:
        return f"{self.address}?{urlencode({'page': number, **self.query})}"


def cut(items: Sequence[T], wanted: str, address: str, **query: str) -> tuple[Sequence[T], Paging]:
    """The part of a list that an address asks for; the nearest one where there is no such part."""
    last = max(1, -(-len(items) // PER_PAGE))
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 6 else 1
    number = min(max(number, 1), last)
    given = {name: text for name, text in query.items() if text}
    return items[(number - 1) * PER_PAGE : number * PER_PAGE], Paging(number, last, address, given)
