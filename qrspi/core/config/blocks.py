"""The optional blocks of config.md.

Imported only when a config has one of them: the ordinary `status` never pays for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from qrspi.core.config.fields import Faults, Fields, is_string, number, string, whole_number
from qrspi.core.config.model_tiers import model, unknown_keys
from qrspi.core.config.problems import invalid, lacking, listed, setting, unknown_key, unshown
from qrspi.core.filenames import TAG
from qrspi.core.hints import TYPE_CHECKING, Literal, TypeVar, cast, get_args
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject
from qrspi.core.yaml.nodes import Node, Scalar, items

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config

Quality = Literal["off", "cache-only", "live", "live-cache-aware"]

QUALITY: tuple[Quality, ...] = get_args(Quality)
SWITCH = ("off", "on")
GATES = {"quality": QUALITY, "audit": SWITCH, "checkpoints": SWITCH}
DENSITY_FLOOR = 0.05


class Validators(NamedTuple):
    citation_density_floor: float = DENSITY_FLOOR


class Limits(NamedTuple):
    """None is no limit; 0 is nothing at all."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None


class Budget(NamedTuple):
    run: Limits = Limits()
    per_step: Limits = Limits()


class Gates(NamedTuple):
    quality: Quality = "off"
    audit: bool = False
    checkpoints: bool = False
    test_command: str | None = None
    ci_command: str | None = None


T = TypeVar("T")


def attach(config: Config, fields: Fields, faults: Faults) -> Config:
    def block(field: str, reader: Callable[[Node, Faults], T]) -> T | None:
        if field not in fields:
            return None
        own_faults: Faults = []
        value = reader(fields[field], own_faults)
        faults.extend(own_faults)
        return None if own_faults else value

    if "providers" in fields or "commands" in fields:
        from qrspi.core.config import vendors  # most runs reach no vendor by themselves

        vendors.one_way_per_vendor(fields, faults)
        config = config._replace(
            providers=block("providers", vendors.providers),
            commands=block("commands", vendors.commands),
        )
    return config._replace(
        trusted_path=block("trusted_path", _trusted_path),
        validators=block("validators", _validators),
        second_reviewer_model=block(
            "second_reviewer_model",
            lambda node, found: model(node, "second_reviewer_model", found),
        ),
        extra_reviewers=block("extra_reviewers", _extra_reviewers) or {},
        budget=block("budget", _budget),
        gates=block("gates", _gates),
    )


def mapping(node: Node, field: str, faults: Faults, expected: str) -> dict[str, Node]:
    if isinstance(node, dict):
        return node
    secret = field.partition(".")[0] == "providers"
    faults.append(
        unshown(field, "is not a block", expected) if secret else invalid(field, node, expected)
    )
    return {}


def one_of(
    block: dict[str, Node], field: str, allowed: tuple[str, ...], faults: Faults
) -> str | None:
    node = block.get(field.rpartition(".")[2])
    if node is None:
        faults.append(lacking(field, listed(allowed)))
    elif isinstance(node, Scalar) and node.text in allowed:
        return node.text
    else:
        ways = (setting(field, value) for value in allowed)
        faults.append(invalid(field, node, listed(allowed), *ways))
    return None


def _trusted_path(node: Node, faults: Faults) -> tuple[str, ...]:
    expected = "a list of role names or paths of role files"
    listing = items(node)
    if listing is None:
        faults.append(invalid("trusted_path", node, expected))
        return ()
    words = (string(item, "trusted_path", faults, expected) for item in listing)
    return tuple(word for word in words if word)


def _validators(node: Node, faults: Faults) -> Validators:
    field = "validators.citation_density_floor"
    block = mapping(node, "validators", faults, "a block with citation_density_floor")
    unknown_keys(block, "validators", Validators._fields, faults)
    if "citation_density_floor" not in block:
        return Validators()
    floor = number(block["citation_density_floor"])
    if floor is None or not 0 <= floor <= 1:
        faults.append(invalid(field, block["citation_density_floor"], "a number from 0 to 1"))
        return Validators()
    return Validators(floor)


_REVIEWED = (*STEP, "implement-gate", "task-NN")


def _extra_reviewers(node: Node, faults: Faults) -> dict[str, tuple[str, ...]]:
    expected = "a block of steps, each with a list of reviewer tags"
    extra: dict[str, tuple[str, ...]] = {}
    for step, tags in mapping(node, "extra_reviewers", faults, expected).items():
        field = f"extra_reviewers.{step}"
        if subject(step) is None:
            faults.append(unknown_key("extra_reviewers", step, _REVIEWED))
        elif (listing := items(tags)) is not None:
            extra[step] = tuple(filter(None, (_tag(tag, field, faults) for tag in listing)))
        else:
            faults.append(invalid(field, tags, "a list of reviewer tags"))
    return extra


def _tag(node: Node, field: str, faults: Faults) -> str | None:
    if isinstance(node, Scalar) and is_string(node) and re.fullmatch(TAG, node.text):
        return node.text
    expected = "a reviewer tag of letters, digits, - and _"
    faults.append(invalid(field, node, expected, verb="holds"))
    return None


def _budget(node: Node, faults: Faults) -> Budget:
    block = mapping(node, "budget", faults, "a block with usd, tokens, calls or per_step")
    unknown_keys(block, "budget", (*Limits._fields, "per_step"), faults)
    expected = "a block with usd, tokens or calls"
    each = mapping(block.get("per_step", {}), "budget.per_step", faults, expected)
    unknown_keys(each, "budget.per_step", Limits._fields, faults)
    return Budget(_limits(block, "budget", faults), _limits(each, "budget.per_step", faults))


def _limits(block: dict[str, Node], field: str, faults: Faults) -> Limits:
    usd = number(block["usd"]) if "usd" in block else None
    if "usd" in block and (usd is None or usd < 0):
        faults.append(invalid(f"{field}.usd", block["usd"], "an amount of 0 or more"))
    counts = {key: block[key] for key in ("tokens", "calls") if key in block}
    for key, node in counts.items():
        if whole_number(node) is None:
            faults.append(invalid(f"{field}.{key}", node, "a whole number of 0 or more"))
    return Limits(usd, **{key: whole_number(node) for key, node in counts.items()})


def _gates(node: Node, faults: Faults) -> Gates:
    block = mapping(node, "gates", faults, "a block with the gates to turn on")
    unknown_keys(block, "gates", Gates._fields, faults)

    def command(key: str) -> str | None:
        return string(block[key], f"gates.{key}", faults, "a command") if key in block else None

    return Gates(
        quality=cast(Quality, _gate(block, "quality", faults)),
        audit=_gate(block, "audit", faults) == "on",
        checkpoints=_gate(block, "checkpoints", faults) == "on",
        test_command=command("test_command"),
        ci_command=command("ci_command"),
    )


def _gate(block: dict[str, Node], key: str, faults: Faults) -> str:
    if key not in block:
        return "off"
    return one_of(block, f"gates.{key}", GATES[key], faults) or "off"
