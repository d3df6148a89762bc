"""The fields of config.md one by one, by small typed getters.

A getter takes the fields and a list of faults. It gives the value, or None after it appended what
is wrong. It compares what was written, not what YAML makes of it: `yes`, `"true"` and `05` stay
what they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core import patterns
from qrspi.core.config.problems import (
    ABORT,
    FILE,
    FOUND_LIMIT,
    invalid,
    listed,
    missing,
    quoted,
    says,
    setting,
    written,
)
from qrspi.core.hints import TypeAlias
from qrspi.core.model import Problem
from qrspi.core.pipeline import ORDER, ROUTABLE
from qrspi.core.yaml.nodes import Node, Scalar, items

BUDGET_LIMIT = 50
BUDGET_DEFAULT = 5
DIGITS_LIMIT = 18

Fields: TypeAlias = Mapping[str, Node]
Faults: TypeAlias = list[Problem]

BOOLEAN = ("true", "false")
CHOICES: dict[str, tuple[str, ...]] = {
    "pipeline": ("full", "quick"),
    "second_reviewer": BOOLEAN,
    "review_depth": ("quick", "deep"),
    "review_mode": ("single", "loop"),
    "verifier_enabled": BOOLEAN,
    "scope_tagger_enabled": BOOLEAN,
    "visual_fidelity_required": BOOLEAN,
    "guard": ("tolerant", "strict"),
    "approvals": ("recorded", "marker"),
    "cascade": ("on", "off"),
    "commit": ("on", "off"),
    "later_rounds": ("all", "raisers"),
    "evidence": ("any", "dispatched"),
    "light_implementer": ("on", "off"),
    "test_writer": ("on", "off"),
}


def is_empty(fields: Fields, field: str) -> bool:
    node = fields.get(field)
    return node is None or (isinstance(node, Scalar) and not node.raw)


def choice(fields: Fields, field: str, faults: Faults, *, required: bool = False) -> str | None:
    if _absent(fields, field, faults, required):
        return None
    node = fields[field]
    if isinstance(node, Scalar) and node.text in CHOICES[field]:
        return node.text
    faults.append(invalid(field, node, listed(CHOICES[field]), *_choice_ways(field)))
    return None


def boolean(fields: Fields, field: str, faults: Faults, *, required: bool = False) -> bool | None:
    if _absent(fields, field, faults, required):
        return None
    node = fields[field]
    if isinstance(node, Scalar) and node.raw in BOOLEAN:
        return node.raw == "true"
    faults.append(invalid(field, node, listed(BOOLEAN), *_choice_ways(field)))
    return None


def _absent(fields: Fields, field: str, faults: Faults, required: bool) -> bool:
    """Where a field is required, an empty value counts as missing. Elsewhere it is invalid: the
    engine does not complete a line that somebody began."""
    if not required:
        return field not in fields
    if is_empty(fields, field):
        faults.append(missing_choice(field))
        return True
    return False


def missing_choice(field: str) -> Problem:
    return missing(field, listed(CHOICES[field]), *_choice_ways(field))


def _choice_ways(field: str) -> tuple[str, ...]:
    if field == "pipeline":
        return (
            "Set it to full, without question_budget: qrspi config set pipeline full",
            f"Set it to quick, with question_budget {BUDGET_DEFAULT} unless there is one: "
            "qrspi config set pipeline quick",
        )
    return tuple(setting(field, value) for value in CHOICES[field])


def date(fields: Fields, field: str, faults: Faults) -> str | None:
    if field not in fields:
        return None
    node = fields[field]
    if isinstance(node, Scalar) and is_date(node.text):
        return node.text
    faults.append(invalid(field, node, "a date such as 2026-05-17"))
    return None


_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_date(text: str) -> bool:
    digits = text[:4] + text[5:7] + text[8:]
    if len(text) != 10 or text[4] + text[7] != "--" or not _is_digits(digits):
        return False
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:])
    if year == 0 or not 1 <= month <= 12:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _MONTH_DAYS[month - 1] + (month == 2 and leap)


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def path(fields: Fields, field: str, faults: Faults) -> str | None:
    return string(fields[field], field, faults, "a path") if field in fields else None


def branch(fields: Fields, field: str, faults: Faults) -> str | None:
    """A name that git accepts for a branch. Only git knows whether the branch exists."""
    if field not in fields:
        return None
    from qrspi.core.text import branch_names

    expected = "the name of a branch"
    name = string(fields[field], field, faults, expected)
    reason = branch_names.unsafe(name) if name else ""
    if not reason:
        return name
    faults.append(invalid(field, fields[field], expected, why=f"which has {reason}"))
    return None


_OTHER_TYPES = frozenset("~ null Null NULL true True TRUE false False FALSE".split()) | {""}
_NUMBER = (
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)


def is_string(node: Node) -> bool:
    """Whether YAML takes it for text: quoted, or plain and no number, truth value or null."""
    if not isinstance(node, Scalar):
        return False
    if not node.plain:
        return True
    if node.text in _OTHER_TYPES:
        return False
    return node.text[0] not in "-+.0123456789" or not patterns.fullmatch(_NUMBER, node.text)


def string(
    node: Node, field: str, faults: Faults, expected: str = "a non-empty text on one line"
) -> str | None:
    if isinstance(node, Scalar):
        text = node.text.rstrip("\n")
        if is_string(node) and text.strip() and text.isprintable():
            return text
    unquoted = isinstance(node, Scalar) and node.raw and not is_string(node)
    why = "which is not text unless it stands in quotes" if unquoted else ""
    faults.append(invalid(field, node, expected, why=why))
    return None


def number(node: Node) -> float | None:
    """A plain, finite decimal number."""
    if not isinstance(node, Scalar) or len(node.raw) > 40:
        return None
    if not patterns.fullmatch(r"-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,2})?", node.raw):
        return None
    return float(node.raw)


def whole_number(node: Node) -> int | None:
    """Zero or more, in plain digits."""
    if not isinstance(node, Scalar) or not _is_plain_integer(node.raw):
        return None
    return int(node.raw) if len(node.raw) <= DIGITS_LIMIT else None


def _is_plain_integer(digits: str) -> bool:
    return _is_digits(digits) and (digits == "0" or digits[0] != "0")


_ROUTE_EXPECTED = "a list of different steps in pipeline order that starts with goals"
_ROUTE_WAYS = (
    "Take the quick route: qrspi route set quick",
    "Take the full route: qrspi route set full",
    "Take the full route with ux: qrspi route set full-ux",
    f"Write the list of steps into {FILE} by hand, then check it: qrspi config validate",
)


def route(fields: Fields, faults: Faults) -> tuple[str, ...] | None:
    if is_empty(fields, "route") or fields["route"] == ():
        faults.append(missing("route", _ROUTE_EXPECTED, *_ROUTE_WAYS))
        return None
    node = fields["route"]
    listing = items(node) or ()
    steps = tuple(item.text if isinstance(item, Scalar) else written(item) for item in listing)
    why = _route_fault(steps) if steps else "which is not a list"
    if why:
        faults.append(invalid("route", node, _ROUTE_EXPECTED, *_ROUTE_WAYS, why=why))
        return None
    return steps


def _route_fault(steps: tuple[str, ...]) -> str:
    before = ""
    for step in steps:
        if step == "replan":
            return "where replan is never part of a route"
        if step not in ROUTABLE:
            return f"where {quoted(step)} is not a step"
        if step == before or (before and steps.count(step) > 1):
            return f"where {step} stands twice"
        if before and ORDER[step] < ORDER[before]:
            return f"where {step} belongs before {before}"
        before = step
    return "" if steps[0] == "goals" else f"which starts with {steps[0]}"


_BUDGET_EXPECTED = f"a whole number from 1 to {BUDGET_LIMIT}"
_BUDGET_WAYS = (
    setting("question_budget", str(BUDGET_DEFAULT)),
    f"Set another number from 1 to {BUDGET_LIMIT}: qrspi config set question_budget N",
)


def question_budget(fields: Fields, pipeline: str | None, faults: Faults) -> int | None:
    """Required on quick, forbidden on full. Each of the six mistakes has its own message."""
    field = "question_budget"
    if pipeline == "full":
        if field in fields:
            faults.append(_forbidden_budget(fields[field]))
        return None
    if is_empty(fields, field):
        if pipeline == "quick":
            expected = f"{_BUDGET_EXPECTED}, because pipeline is quick"
            faults.append(missing(field, expected, *_BUDGET_WAYS))
        return None
    node = fields[field]
    if why := _budget_fault(written(node)):
        faults.append(invalid(field, node, _BUDGET_EXPECTED, *_BUDGET_WAYS, why=why))
        return None
    return int(written(node))


def _budget_fault(raw: str) -> str:
    digits = raw.removeprefix("-")
    if not _is_plain_integer(digits):
        return "which is not a whole number in plain digits"
    if len(digits) > DIGITS_LIMIT:
        return "which has far too many digits"
    if int(raw) < 1:
        return "which is zero or less"
    if int(raw) > BUDGET_LIMIT:
        return f"which is more than {BUDGET_LIMIT} researchers at once"
    return ""


def _forbidden_budget(node: Node) -> Problem:
    found, field = written(node), "question_budget"
    text = (
        f"{FILE}: {field} {says(found)}, but pipeline is full, where no such limit applies; "
        f"expected no {field}"
    )
    ways = (
        f"Remove the {field} line from {FILE} by hand",
        "Take the quick route, which has the limit: qrspi route set quick",
        ABORT,
    )
    expected = f"no {field} when pipeline is full"
    found = found[:FOUND_LIMIT]
    return Problem("field-forbidden", text, FILE, field, found, expected, options=ways)
