"""The forms of next actions: the engine goes on, an agent or a person acts on a round, or a person
must correct something first."""

from __future__ import annotations

from collections.abc import Container, Mapping

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Action, Ask, Next, NextKind, Option, Problem, Who
from qrspi.core.pipeline import REQUEST
from qrspi.core.steps import sending
from qrspi.core.steps.facts import Facts

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop


def by_engine(
    facts: Facts,
    action: Action,
    kind: NextKind,
    what: str,
    because: tuple[str, ...] = (),
    *,
    loop: Loop | None = None,
    missing: tuple[str, ...] = (),
    inputs: tuple[str, ...] = (),
) -> Next:
    """What `qrspi next` does: about the newest round of a loop, or about the current step."""
    return Next(
        action=action,
        who="engine",
        summary=f"{what}: run `qrspi next {facts.run}`.",
        because=because or (loop.because if loop else ()),
        step=loop.subject.key if loop else facts.step,
        round=loop.round if loop else 0,
        missing=missing,
        inputs=inputs,
        command=f"qrspi next {facts.run}",
        kind=kind,
    )


# What an agent or a person does about a loop's newest round.
_OF_ROUND: Mapping[NextKind, tuple[Action, Who]] = {
    "review": ("review", "agent"),
    "verify": ("verify", "agent"),
    "fix": ("apply-fixes", "agent"),
    "fix-files": ("review", "agent"),
    "implement": ("apply-fixes", "agent"),
    "approve": ("approve", "human"),
    "pause": ("decide", "human"),
    "failure": ("decide", "human"),
    "loop": ("decide", "human"),
    "cap": ("decide", "human"),
    "imported-round": ("decide", "human"),
    "precondition": ("blocked", "human"),
}


def about_round(
    facts: Facts,
    loop: Loop,
    kind: NextKind,
    summary: str,
    *,
    because: tuple[str, ...] = (),
    missing: tuple[str, ...] = (),
    inputs: tuple[str, ...] = (),
    asks: tuple[Ask, ...] = (),
    options: tuple[Option, ...] = (),
    command: str = "",
) -> Next:
    action, who = _OF_ROUND[kind]
    return Next(
        action=action,
        who=who,
        summary=summary,
        because=because or loop.because,
        step=loop.subject.key,
        round=loop.round,
        missing=missing,
        inputs=inputs,
        asks=asks,
        options=options,
        command=command or f"qrspi next {facts.run}",
        kind=kind,
    )


def blocked_by(
    facts: Facts,
    kind: NextKind,
    problems: tuple[Problem, ...],
    loop: Loop | None = None,
    asks: tuple[Ask, ...] = (),
) -> Next:
    """Files that a person corrects, or has corrected by the agents in `asks`."""
    more = f" (+{len(problems) - 1} more)" if len(problems) > 1 else ""
    return Next(
        action="blocked",
        who="human",
        summary=f"{problems[0].message}{more}. Correct it, then run `qrspi next {facts.run}`.",
        because=tuple(problem.message for problem in problems),
        step=loop.subject.key if loop else facts.step,
        round=loop.round if loop else 0,
        missing=tuple(dict.fromkeys(problem.file for problem in problems)),
        asks=asks,
        command=f"qrspi next {facts.run}",
        kind=kind,
    )


def yes_or_no(facts: Facts, step: str, approve: str) -> tuple[Option, ...]:
    """Options, so that no program takes the yes for the command that goes on."""
    return (
        Option("approve", "a person has read it and says yes", approve),
        Option("reject", "TEXT says why, to whoever writes it again", reject(facts, step)),
    )


def reject(facts: Facts, step: str) -> str:
    return f"qrspi reject {facts.run} {step} -m TEXT"


def author_of(loop: Loop) -> tuple[Ask, ...]:
    """Who wrote what the round is about; code has no author."""
    step = loop.subject.step
    return (Ask("author", step),) if loop.subject.key == step else ()


def fixer_of(loop: Loop) -> tuple[Ask, ...]:
    return (Ask("fix", loop.subject.key, loop.round),)


def can_be_sent(following: Next, names: Container[str]) -> bool:
    """Agents that the run waits for; also an author of what a person could write as well, and
    decides about in any case: of goals, from a request, and of the way to the next phase."""
    drafts = following.kind == "replan" or (following.kind == "author" and REQUEST in names)
    return bool(following.asks) and (following.who == "agent" or drafts)


def as_sent(facts: Facts, following: Next) -> Next:
    """Where agents can be sent, sending them is what goes on."""
    works = following.kind == "implement"
    if not can_be_sent(following, facts.names) or not sending.is_reached(facts.config, works=works):
        return following
    command, summary = sending.command(facts), following.summary
    if command not in summary:
        summary = f"{summary} {sending.named(facts, following.asks)}"
    return following._replace(command=command, summary=summary)
