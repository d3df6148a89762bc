"""Findings as cards."""

from __future__ import annotations

from typing import Any

from qrspi.core.named_tuple import NamedTuple


class Card(NamedTuple):
    finding: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.finding['tag']}.{self.finding['id']}"

    @property
    def was(self) -> str:
        """The type that its reviewer gave it, where another one counts."""
        given = str(self.finding["change_type"])
        return "" if given == self.finding["effective_type"] else given

    @property
    def has_score(self) -> bool:
        return self.finding["score"] is not None


def there(findings: list[dict[str, Any]]) -> list[Card]:
    return [Card(one) for one in findings if one["lineage"] != "resolved"]


def gone(findings: list[dict[str, Any]]) -> list[Card]:
    """Those of the round before that nobody found again."""
    return [Card(one) for one in findings if one["lineage"] == "resolved"]
