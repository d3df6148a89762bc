"""Our records behave as Python's own."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.named_tuple import NamedTuple


class Ours(NamedTuple):
    name: str
    number: int = 3
    more: tuple[str, ...] = ()

    @property
    def twice(self) -> int:
        return self.number * 2


class Theirs(typing.NamedTuple):
    name: str
    number: int = 3
    more: tuple[str, ...] = ()

    @property
    def twice(self) -> int:
        return self.number * 2


class Below(Ours):
    """A record with more to it."""


@given(st.text(), st.integers(), st.lists(st.text()).map(tuple))
def test_a_value_is_what_it_would_be(name: str, number: int, more: tuple[str, ...]) -> None:
    ours, theirs = Ours(name, more=more, number=number), Theirs(name, more=more, number=number)
    assert ours == theirs == (name, number, more)
    assert (hash(ours), [*ours]) == (hash(theirs), [*theirs])
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours", 1)
    assert ours._asdict() == theirs._asdict()
    assert ours._replace(number=1) == theirs._replace(number=1)
    assert (ours.name, ours.twice, ours[2]) == (theirs.name, theirs.twice, theirs[2])
    assert Ours._make(iter(theirs)) == ours
    for same in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert (same, type(same)) == (ours, Ours)


def test_the_class_is_what_it_would_be() -> None:
    assert Ours._fields == Theirs._fields == Ours.__match_args__
    assert Ours._field_defaults == Theirs._field_defaults
    assert Ours("a") == Theirs("a")
    match Ours("a", 5):
        case Ours(name, number=5):
            assert name == "a"
        case _:
            pytest.fail("a record is matched by place and by name")


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a", 1, (), 2), {}), (("a",), {"name": "b"}), (("a",), {"nothing": 1})],
)
def test_what_python_refuses_is_refused(
    values: tuple[object, ...], named: dict[str, object]
) -> None:
    made: list[str] = []
    for kind in (Ours, Theirs):
        with pytest.raises(TypeError) as refused:
            kind(*values, **named)  # type: ignore[arg-type]
        made.append(str(refused.value).replace("Theirs", "Ours"))
    assert made[0].partition("()")[2] == made[1].partition("()")[2]


def test_changes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="unexpected field names: \\['nothing'\\]"):
        Ours("a")._replace(nothing=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Expected 3 arguments, got 2"):
        Ours._make(["a", 1])
    with pytest.raises(TypeError, match="a field without a default"):
        type(Ours)("Odd", (NamedTuple,), {"__annotations__": {"a": int, "b": int}, "a": 1})


def test_a_record_is_frozen_and_small() -> None:
    with pytest.raises(AttributeError):
        Ours("a").name = "b"  # type: ignore[misc]
    assert not hasattr(Ours("a"), "__dict__")


def test_a_class_below_a_record_is_one_too() -> None:
    found = Below("a", 4)
    assert (type(found._replace(number=5)), found._replace(number=5)) == (Below, ("a", 5, ()))
    assert repr(found) == "Below(name='a', number=4, more=())"
