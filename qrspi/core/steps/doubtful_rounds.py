"""Open rounds that the engine did not prepare: what a person is asked about them."""

from __future__ import annotations

from qrspi.core.filenames import RUNS
from qrspi.core.model import Next, Option
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps.facts import Facts
from qrspi.core.steps.next_actions import about_round

OPTIONS = (
    Option("take-over", "score and apply its findings; nobody else is sent, a full round follows"),
    Option("close", "leave it as it is; a new round follows"),
)


def is_to_be_taken_over(loop: Loop) -> bool:
    """Whether most would do that."""
    read = loop.round
    return read is not None and bool(read.findings) and not read.violations


def left_open(facts: Facts, loop: Loop) -> Next:
    usual = OPTIONS[0 if is_to_be_taken_over(loop) else 1]
    return about_round(
        facts,
        loop,
        "decide",
        "human",
        "imported-round",
        f"Round {loop.number} of {loop.subject.key} was made elsewhere and is not closed: "
        f"`qrspi resolve {facts.run} take-over|close`.",
        options=OPTIONS,
        command=f"qrspi resolve {facts.run} {usual.key}",
    )


def unprepared(facts: Facts, loop: Loop) -> Next:
    if loop.manifest is not None:
        return _unproven(facts, loop)
    folder, take = loop.paths.directory, f"qrspi import {RUNS}/{facts.run}"
    said = f"{folder} holds files but was never prepared"
    why = f"{folder} has no manifest, so nobody knows who was sent"
    if loop.problem and loop.problem.file == loop.paths.manifest:
        said = f"{loop.problem.message}; {loop.problem.hint}"
        why = f"{loop.problem.file} cannot be read, so nobody knows who was sent"
    ways = f"`{take}` takes it in as made elsewhere, `{_adopt(facts, loop)}` as a round of this run"
    summary = f"precondition-violation: {said}. {ways}."
    return about_round(
        facts, loop, "blocked", "human", "precondition", summary, because=(why,), command=take
    )


def _adopt(facts: Facts, loop: Loop) -> str:
    return f"qrspi round prepare {facts.run} {loop.subject.key} --adopt"


def _unproven(facts: Facts, loop: Loop) -> Next:
    """Nobody's word but a person's makes a round of it."""
    command, why = _adopt(facts, loop), loop.because[0]
    if loop.opening == "tampered":
        ways = f"Restore it, or expect everybody again with `{command}`."
    else:
        ways = f"Take the round up with `{command}`."
    summary = f"Round {loop.number} of {loop.subject.key} is {loop.opening}: {why}. {ways}"
    because = (f"round {loop.number} is {loop.opening}: {why}",)
    return about_round(
        facts, loop, "blocked", "human", "precondition", summary, because=because, command=command
    )
