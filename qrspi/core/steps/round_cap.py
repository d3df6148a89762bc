"""A review loop that goes on for too long: it stops, and a person says what becomes of it."""

from __future__ import annotations

from qrspi.core.model import Next, Option
from qrspi.core.rounds import finding_history
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.round_list import Cap
from qrspi.core.steps.after_round import Gate
from qrspi.core.steps.facts import Facts
from qrspi.core.steps.next_actions import about_round, by_engine

OPTIONS = (
    Option("present", "end the loop and go to the human gate"),
    Option("continue", "allow as many rounds again"),
    Option("rewind", "go back to an earlier step"),
)


def ask(facts: Facts, loop: Loop, gate: Gate) -> Next:
    assert gate.cap is not None
    if gate.cap.escape and not finding_history.escape_is_written(facts.tree, loop):
        return _write_down(facts, loop, gate.cap)
    outlook = finding_history.outlook(facts.tree, loop, facts.config, facts.base)
    return about_round(
        facts,
        loop,
        "decide",
        "human",
        "cap",
        f"The review loop of {loop.subject.key} stops here: {gate.cap.reason}; it is "
        f"{outlook.word}. `qrspi resolve {facts.run} present|continue|rewind`.",
        because=(gate.cap.reason, gate.review, f"{outlook.word}: {outlook.because}"),
        options=OPTIONS,
        command=f"qrspi resolve {facts.run} present",
    )


def _write_down(facts: Facts, loop: Loop, cap: Cap) -> Next:
    """What is unresolved is written down before anybody is asked."""
    what = (
        f"The review loop of {loop.subject.key} stops here: {cap.reason}. Write down what is "
        "unresolved"
    )
    answer = by_engine(facts, "decide", "escape", what, (cap.reason,), loop=loop)
    return answer._replace(options=OPTIONS)
