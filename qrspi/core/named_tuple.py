"""`typing.NamedTuple`, cheap to define: type checkers and callers see no difference.

Python compiles a constructor for each, and the text of every annotation. A command defines a
hundred records and makes values of sixty, so here a constructor is made with the first value, out
of one that was compiled for as many fields, and annotations are left alone.
"""

from __future__ import annotations

from collections import _tuplegetter, namedtuple  # type: ignore[attr-defined]

TYPE_CHECKING = False  # as type checkers know it: nobody imports typing for a record
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NamedTuple, Self

__all__ = ["NamedTuple", "bare"]


def bare(value: Any) -> Any:
    """Records as tuples of no class, also those within others: `marshal` takes nothing else."""
    return tuple(map(bare, value)) if isinstance(value, tuple) else value


def _named(body: dict[str, Any]) -> dict[str, Any]:
    fields = tuple(body.get("__annotations__", ()))
    defaults = {field: body[field] for field in fields if field in body}
    if tuple(defaults) != fields[len(fields) - len(defaults) :]:
        raise TypeError("a field without a default follows one that has one")
    getters = {field: _tuplegetter(at, "") for at, field in enumerate(fields)}
    return {**getters, "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}


_constructors: dict[int, Any] = {}  # by the number of fields


def _constructor(record: Any) -> Any:
    """Python's own, since one that takes any arguments would be three times as slow. It is compiled
    for a number of fields: those of other records differ in the names of their arguments alone."""
    count = len(record._fields)
    if count not in _constructors:
        names = [f"field_{at}" for at in range(count)]
        _constructors[count] = namedtuple("Like", names).__new__
    like = _constructors[count]
    code = like.__code__.replace(co_varnames=("_cls", *record._fields))
    defaults = tuple(record._field_defaults.values())
    new = type(like)(code, like.__globals__, "__new__", defaults)
    new.__qualname__ = f"{record.__name__}.__new__"
    return new


if not TYPE_CHECKING:

    class _Defined(type):
        def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if bases == (NamedTuple,):
                bases = (_Tuple,)  # Python looks for some ninety names in each base of each class
                body |= _named(body)
            return type.__new__(meta, name, bases, {"__slots__": (), **body})

    class _Tuple(tuple):
        __slots__ = ()

        def __new__(cls, *values: Any, **named: Any) -> Self:
            cls.__new__ = staticmethod(_constructor(cls))
            return cls.__new__(cls, *values, **named)

        def __repr__(self) -> str:
            pairs = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({pairs})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, **changes: Any) -> Self:
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

    NamedTuple = type.__new__(_Defined, "NamedTuple", (_Tuple,), {"__slots__": ()})
