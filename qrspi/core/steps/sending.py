"""Whether agents are reached by `qrspi next --dispatch`, and what is said of it beside the way
without."""

from __future__ import annotations

from qrspi.core.config.reader import Config
from qrspi.core.model import Ask
from qrspi.core.steps.facts import Facts


def is_reached(config: Config, *, works: bool = False) -> bool:
    return bool(reached(config, works=works))


def reached(config: Config, *, works: bool = False) -> frozenset[str]:
    """The fields of config.md that say how to send agents to a model that it names. Who `works` in
    a work tree is sent by a program alone."""
    if config.commands is None and config.providers is None:
        return frozenset()
    over_http, by_program = set(config.providers or ()), set(config.commands or ())
    by_program -= over_http
    if not config.trusted_path:  # the models of these roles are in their own files
        models = (*(config.model_routing or {}).values(), config.second_reviewer_model)
        vendors = {model.vendor for model in models if model}
        by_program, over_http = by_program & vendors, over_http & vendors
        if works:
            over_http = set()
    programs = (f"commands.{vendor}" for vendor in by_program)
    return frozenset((*programs, *(f"providers.{vendor}" for vendor in over_http)))


def command(facts: Facts) -> str:
    return f"qrspi next {facts.run} --dispatch"


def ways(facts: Facts, asks: tuple[Ask, ...], *, first: bool = False) -> str:
    """By the engine, or by a host that gives them their prompts. Where no settings say how the
    engine can send them, that is said at the `first` fan-out of a run."""
    agents, whom = ("the agent", "it") if len(asks) == 1 else ("them all", "the first")
    name = asks[0].label
    way = f"`qrspi prompt {facts.run} {name}` prints what to tell {whom}"
    reached = is_reached(facts.config, works=asks[0].kind == "implement")
    if not (reached or first):
        return way
    return f"`{command(facts)}` sends {agents}{'' if reached else _UNSET}; {way}"


def taken_in(facts: Facts, name: str = "") -> str:
    """How what an agent prints gets into its file: whoever looks for facts writes none. `name` says
    whose text it is, where several may be waited for."""
    way = f"`qrspi submit artifact FILE {facts.run} research`"
    if name:
        way = f"`qrspi submit artifact FILE {facts.run} research --name {name}`"
    return f"{way} takes in what it prints"


_UNSET = " once `commands` or `providers` in config.md say how, and prints examples until then"


def named(facts: Facts, asks: tuple[Ask, ...]) -> str:
    """The command, where nothing else says what it does about them."""
    if asks[0].kind == "author":
        return f"`{command(facts)}` has an agent write it."
    if asks[0].kind == "research-question":
        who = "an agent" if len(asks) == 1 else "agents"
        return f"`{command(facts)}` has {who} do it."
    return f"`{command(facts)}` sends {', '.join(ask.label for ask in asks)}."
