"""Which model a role is sent to: config.md names it for the role's tier. No other tier is used
instead."""

from __future__ import annotations

from qrspi.core.agents.roles import Role, kind_of
from qrspi.core.config.model_tiers import TIERS, Model
from qrspi.core.config.reader import Config
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple

FALLBACK = "medium"


class Route(NamedTuple):
    model: Model
    tier: str
    why: str
    warnings: tuple[str, ...] = ()


class _Tier(NamedTuple):
    name: str
    why: str
    warnings: tuple[str, ...] = ()


def resolve(
    role: Role, config: Config, *, tier_override: str | None = None, second: bool = False
) -> Route | Problem:
    tier = _tier(role, config, tier_override)
    if isinstance(tier, Problem):
        return tier
    if second:
        return _second(config, tier)
    entries = config.trusted_path or ()
    if match := next((entry for entry in entries if _means(entry, role)), None):
        return _trusted(role, tier, match)
    return _looked_up(config, tier, role)


def trusted(role: Role) -> Route | Problem:
    """The role's own model, for a second try that must not follow the table."""
    if role.model:
        return Route(role.model, role.tier or FALLBACK, f"{role.name} names its own model")
    return _halt(
        f"the role {role.name} ({role.file}) names no model of its own; expected "
        "'model: {vendor: …, model: …}' in its frontmatter",
        field="model",
        expected="{vendor: …, model: …}",
        hint=own_file(role),
    )


def own_file(role: Role) -> str:
    """How to get a file of this role that the user may change."""
    if "/.qrspi/agents/" in role.file:
        return f"edit {role.file}"
    own = f".qrspi/agents/{role.name}.md"
    return f"mkdir -p .qrspi/agents && qrspi roles show --shipped {role.name} > {own}"


def _means(entry: str, role: Role) -> bool:
    """An entry of trusted_path is the name of a role, its family, or its file."""
    if entry == role.name or (entry in ("reviewer", "author") and kind_of(role.name) == entry):
        return True
    path = entry.removeprefix("./")
    return path.endswith(".md") and f"/{role.file}".endswith(f"/{path.removeprefix('/')}")


def _tier(role: Role, config: Config, override: str | None) -> _Tier | Problem:
    if override is not None:
        if override in TIERS:
            return _Tier(override, "--tier-override")
        expected = f"one of {', '.join(TIERS)}"
        return _halt(
            f"--tier-override: found {override!r}, expected {expected}",
            field="tier-override",
            found=override,
            expected=expected,
        )
    if role.tier:
        return _Tier(role.tier, f"the role {role.name}")
    if config.default_tier:
        return _Tier(config.default_tier, "default_tier in config.md")
    warning = (
        f"the role {role.name} ({role.file}) has no tier and config.md has no default_tier: "
        f"using tier {FALLBACK}"
    )
    return _Tier(FALLBACK, "the last resort", (warning,))


def _second(config: Config, tier: _Tier) -> Route | Problem:
    if config.second_reviewer_model:
        why = f"second_reviewer_model in config.md, tier {tier.name} from {tier.why}"
        return Route(config.second_reviewer_model, tier.name, why, tier.warnings)
    return _halt(
        "config.md: second_reviewer_model is missing; expected {vendor: …, model: …} to send a "
        "second reviewer",
        field="second_reviewer_model",
        expected="{vendor: …, model: …}",
        hint="qrspi config set second_reviewer_model '{vendor: VENDOR, model: MODEL}'",
    )


def _trusted(role: Role, tier: _Tier, match: str) -> Route | Problem:
    if role.model:
        why = f"trusted_path in config.md lists {match}: the role's own model"
        return Route(role.model, tier.name, why)
    return _halt(
        f"config.md: trusted_path lists {match!r}, but the role {role.name} ({role.file}) names no "
        "model of its own; expected 'model: {vendor: …, model: …}' in its frontmatter",
        field="trusted_path",
        found=match,
        expected="a role with 'model: {vendor: …, model: …}'",
        hint=own_file(role),
    )


def _looked_up(config: Config, tier: _Tier, role: Role) -> Route | Problem:
    table = config.model_routing
    if table is None or tier.name not in table:
        return _halt(
            f"config.md: model_routing has no usable row for tier {tier.name}, which the role "
            f"{role.name} needs",
            field="model_routing",
            expected=f"a row {tier.name}: {{vendor: …, model: …}}",
            hint="qrspi config validate",
        )
    model = table[tier.name]
    if model:
        why = f"model_routing.{tier.name} in config.md, tier from {tier.why}"
        return Route(model, tier.name, why, tier.warnings)
    return _halt(
        f"config.md: model_routing.{tier.name} is none, and the role {role.name} needs tier "
        f"{tier.name} (from {tier.why}); no other tier is used in its place",
        field=f"model_routing.{tier.name}",
        found="none",
        expected="{vendor: …, model: …}",
        hint=f"qrspi config set model_routing.{tier.name} '{{vendor: VENDOR, model: MODEL}}'",
    )


def _halt(
    message: str, *, field: str, expected: str = "", found: str = "", hint: str = ""
) -> Problem:
    return Problem(
        "no-model",
        message,
        file="config.md",
        field=field,
        found=found,
        expected=expected,
        hint=hint,
    )
