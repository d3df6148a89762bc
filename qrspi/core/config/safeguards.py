"""What config.md asks of reviews and gates beyond the least."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from qrspi.core.config.reader import Config
from qrspi.core.digest import sha256

_NONE = "none"
_BETWEEN = "; "
# What each field says where it asks for the least.
_LEAST = {
    "second_reviewer": "false",
    "review_depth": "quick",
    "review_mode": "single",
    "verifier_enabled": "false",
    "scope_tagger_enabled": "true",  # later rounds may be narrowed
    "visual_fidelity_required": "false",
    "guard": "tolerant",
    "approvals": "marker",
    "cascade": "on",
    "later_rounds": "raisers",
    "evidence": "any",
    "test_writer": "off",
}
_GATES_LEAST = {"quality": "off", "audit": "off", "checkpoints": "off"}


def asked(config: Config) -> tuple[str, ...]:
    return tuple(f"{field}: {value}" for field, value in _asked(config))


def text(asked: Iterable[str]) -> str:
    """As records have it."""
    return _BETWEEN.join(asked) or _NONE


def known(text: str) -> tuple[str, ...]:
    return () if text == _NONE else tuple(text.split(_BETWEEN))


def missing(text: str, config: Config) -> tuple[str, ...]:
    """What was asked, and is not any more."""
    now = asked(config)
    return tuple(one for one in known(text) if one not in now)


def after(before: Iterable[str], now: Config, fields: Collection[str]) -> tuple[str, ...]:
    """What is asked once a command has set these fields; of the others, what was on record."""
    tops = {field.partition(".")[0] for field in fields}
    kept = (one for one in before if _top(one) not in tops)
    return (*kept, *(one for one in asked(now) if _top(one) in tops))


def _asked(config: Config) -> Iterator[tuple[str, str]]:
    for field, least in _LEAST.items():
        value = _value(config, field)
        if value and value != least:
            yield field, value
    for step, tags in config.extra_reviewers.items():
        yield from ((f"extra_reviewers.{step}", tag) for tag in tags)
    if config.validators:
        yield "validators.citation_density_floor", str(config.validators.citation_density_floor)
    for name, least in _GATES_LEAST.items():
        value = _gate(config, name)
        if value != least:
            yield f"gates.{name}", value
    for name, line in (("test", config.test_command), ("ci", _ci_command(config))):
        if line:
            digest = sha256(line.encode(errors="surrogateescape")).hexdigest()
            yield f"gates.{name}_command", f"the one of sha256 {digest[:12]}"


def _value(config: Config, field: str) -> str:
    """'' where nobody has decided, and where it is not known what was meant."""
    match field:
        case "verifier_enabled":
            return _word(config.verifies)
        case "scope_tagger_enabled":
            return _word(config.tags_scope)
        case _:
            value = getattr(config, field)
            return _word(value) if isinstance(value, bool) else value or ""


def _word(value: bool) -> str:
    return "true" if value else "false"


def _gate(config: Config, name: str) -> str:
    if config.gates is None:
        return "off"
    value: str | bool = getattr(config.gates, name)
    return value if isinstance(value, str) else "on" if value else "off"


def _ci_command(config: Config) -> str:
    return (config.gates.ci_command if config.gates else None) or ""


def _top(asked: str) -> str:
    return asked.partition(": ")[0].partition(".")[0]


def settings(asked: Iterable[str], config: Config) -> tuple[str, ...]:
    """The fields with their values now, as a command sets them; () where one has no such value."""
    fields = tuple(dict.fromkeys(one.partition(": ")[0] for one in asked))
    if not all(field in _LEAST and _value(config, field) for field in fields):
        return ()
    return tuple(word for field in fields for word in (field, _value(config, field)))
