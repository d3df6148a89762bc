"""Fields of JSON that somebody may have changed: a value of another type counts as absent."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core import plain_json
from qrspi.core.hints import Any, TypeVar

Object = Mapping[str, Any]
T = TypeVar("T")


def parsed(text: str | bytes) -> Any:
    """The document; None when it is not JSON, or too deep to be read."""
    try:
        return plain_json.loads(text)
    except (ValueError, RecursionError):
        return None


def table(text: str | bytes) -> dict[str, Any] | None:
    document = parsed(text)
    return document if isinstance(document, dict) else None


def string(holder: Object, key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def whole(holder: Object, key: str) -> int | None:
    value = holder.get(key)
    return value if type(value) is int else None


def items(holder: Object, key: str, kind: type[T]) -> tuple[T, ...]:
    value = holder.get(key)
    return tuple(one for one in value if isinstance(one, kind)) if isinstance(value, list) else ()


def nested(holder: Object, key: str) -> Object:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}
