"""Who is expected to review what. The table itself is data/reviewers.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from qrspi.core import plain_json
from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config

FILE = "data/reviewers.json"


class Matrix(NamedTuple):
    first: str  # vendor
    second: str
    steps: Mapping[str, tuple[str, ...]]
    task: Mapping[str, tuple[str, ...]]  # by review depth
    optional: tuple[str, ...]
    visual: str  # a whole tag


def read(text: str | bytes) -> Matrix:
    table = plain_json.loads(text)
    return Matrix(
        first=table["vendors"]["first"],
        second=table["vendors"]["second"],
        steps={step: tuple(names) for step, names in table["steps"].items()},
        task={depth: tuple(names) for depth, names in table["task"].items()},
        optional=tuple(table["optional"]),
        visual=table["visual"],
    )


@cache
def shipped() -> Matrix:
    # The package's own loader reads its data like its code. Nothing of the user's is touched, and
    # importlib.resources would cost half a cold start.
    loader: Any = __spec__.loader
    return read(loader.get_data(f"{__file__.rpartition('/core/')[0]}/{FILE}"))


def expected_tags(subject: Subject, config: Config, *, visual: bool = False) -> tuple[str, ...]:
    """Without their output the round is incomplete. `visual`: the task asks for that reviewer."""
    optional = optional_tags(subject)
    needed = [tag for tag in _row(subject, config) if tag not in optional]
    if visual and subject.is_task:
        needed.append(shipped().visual)
    return tuple(dict.fromkeys((*needed, *_extra(subject, config))))


def routed_tags(subject: Subject, config: Config) -> frozenset[str]:
    visual = (shipped().visual,) if subject.is_task else ()
    return frozenset((*_row(subject, config), *visual, *_extra(subject, config)))


def optional_tags(subject: Subject) -> frozenset[str]:
    """Reviewers that are sent only when there is work for them, and are never missing."""
    matrix = shipped()
    vendors = (matrix.first, matrix.second)
    return frozenset(_tags(matrix.optional, vendors)) if subject.is_task else frozenset()


def visual_tag() -> str:
    return shipped().visual


def _row(subject: Subject, config: Config) -> tuple[str, ...]:
    matrix = shipped()
    if subject.is_task:
        names = matrix.task["deep" if config.review_depth == "deep" else "quick"]
    else:
        names = matrix.steps[_gate(subject)]
    both = config.second_reviewer is True
    return tuple(_tags(names, (matrix.first, matrix.second) if both else (matrix.first,)))


def _gate(subject: Subject) -> str:
    """A review of `implement` as a whole belongs to its gate."""
    return "implement-gate" if subject.key == "implement" else subject.key


def _tags(names: Iterable[str], vendors: tuple[str, ...]) -> Iterable[str]:
    names = tuple(names)
    return (f"{name}-{vendor}" for vendor in vendors for name in names)


def _extra(subject: Subject, config: Config) -> tuple[str, ...]:
    """Under `implement` they review every task, under `task-03` that one."""
    keys = ("implement", subject.key) if subject.is_task else (_gate(subject),)
    return tuple(tag for key in keys for tag in config.extra_reviewers.get(key, ()))


def _tier(tag: str) -> int:
    """In which order a task's reviewers are sent: spec, then correctness, then thoroughness.
    Reviewers that only a deep review has come last; reviewers that a user added, in between."""
    name = tag.rpartition("-")[0]
    table = shipped()
    if name == "spec":
        return 0
    return 2 if name in table.task["deep"] and name not in table.task["quick"] else 1


def due(silent: Iterable[str]) -> tuple[str, ...]:
    """Of those who have written nothing yet, the ones to send now."""
    tags = tuple(silent)
    lowest = min(map(_tier, tags), default=0)
    return tuple(tag for tag in tags if _tier(tag) == lowest)


def is_second(tag: str) -> bool:
    """Whether it is the second reviewer of its kind, from another vendor."""
    return tag.endswith(f"-{shipped().second}")
