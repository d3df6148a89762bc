"""A run's state made again of bare tuples, for the cache of `status` and for what another process
has derived. The types of the fields say which tuple is what."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType

from qrspi.core.hints import Any
from qrspi.core.model import RunState

Build = Callable[[Any], Any]
_STEPS = RunState._fields.index("steps")


def load(value: Any, *, steps: bool = True) -> RunState | None:
    """None for anything that is not a state: a cache that cannot be read counts as no cache."""
    build = _builder(RunState)
    assert build is not None
    try:
        fields = value if steps else (*value[:_STEPS], (), *value[_STEPS + 1 :])
        state: RunState = build(fields)
    except (TypeError, ValueError):
        return None
    return state


@cache
def _builder(kind: Any) -> Build | None:
    """What builds a value of this type; None when the bare one will do."""
    if hasattr(kind, "_fields"):
        return _record(kind)
    if getattr(kind, "__origin__", None) is tuple:
        inner = _builder(kind.__args__[0])
        return (lambda items: tuple(map(inner, items))) if inner else tuple
    if isinstance(kind, UnionType):  # a record, or None
        either = _builder(kind.__args__[0])
        return (lambda item: None if item is None else either(item)) if either else None
    return None


def _record(kind: Any) -> Build:
    parts = [(at, _builder(type_)) for at, type_ in enumerate(kind.__annotations__.values())]
    nested = [(at, build) for at, build in parts if build]

    def build(value: Any) -> Any:
        fields = list(value)
        if len(fields) != len(parts):
            raise ValueError(f"{kind.__name__} has {len(parts)} fields, not {len(fields)}")
        for at, make in nested:
            if fields[at] != ():  # as most are
                fields[at] = make(fields[at])
        return kind._make(fields)

    return build
