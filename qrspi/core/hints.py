"""The names of `typing` that everyday commands use. At run time they do next to nothing, because
importing typing takes a third as long as starting Python."""

from __future__ import annotations

__all__ = [
    "IO",
    "TYPE_CHECKING",
    "Any",
    "ClassVar",
    "Literal",
    "NoReturn",
    "Protocol",
    "Self",
    "TextIO",
    "TypeAlias",
    "TypeVar",
    "assert_never",
    "cast",
    "get_args",
]

TYPE_CHECKING = False  # as type checkers know it
if TYPE_CHECKING:
    from typing import (
        IO,
        Any,
        ClassVar,
        Literal,
        NoReturn,
        Protocol,
        Self,
        TextIO,
        TypeAlias,
        TypeVar,
        assert_never,
        cast,
        get_args,
    )

else:
    _Alias = type(list[int])

    class Literal:
        """`Literal["a", "b"]` keeps its words, since they are also the choices of an option."""

        def __class_getitem__(cls, said):
            return _Alias(cls, said)

    class Protocol:
        pass

    IO = Any = ClassVar = NoReturn = Self = TextIO = TypeAlias = Literal

    def TypeVar(name, *among, **settings):  # noqa: N802
        return object

    def assert_never(value):
        raise AssertionError(f"expected code to be unreachable, but got: {value!r}")

    def cast(kind, value):
        return value

    def get_args(hint):
        return hint.__args__
