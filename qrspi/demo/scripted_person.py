"""The person's part: what nobody else may say."""

from __future__ import annotations

from qrspi.core.steps import permits
from qrspi.demo import narration as telling
from qrspi.demo.narration import Beat, first_sentence
from qrspi.demo.stage import Answer, Beats, Stage


def approve(stage: Stage, now: Answer) -> Beats:
    alone = ", as nobody else may" if now["step"] in permits.PERSONAL else ""
    yield Beat("person", f"reads {telling.about(now).artifact} and agrees{alone}", now["step"])
    if now["options"]:
        yield from stage.type("resolve", stage.story.menus[now["kind"]])
    else:
        yield from stage.type("approve", now["step"])


def decide(stage: Stage, now: Answer) -> Beats:
    """Each finding that a round paused for, as the story has it."""
    read = telling.loop(stage.tree, now).round
    assert now["kind"] == "pause" and read is not None, now
    messages = {finding.name: finding.message for finding in read.findings}
    for name in now["missing"]:
        said = stage.story.decisions[f"{now['step']}/{name}"]
        yield Beat(
            "person",
            f"decides to {said} it: {first_sentence(messages[name])}",
            now["step"],
            now["round"],
        )
        yield from stage.type("decide", name, said)


def configure(stage: Stage, now: Answer) -> Beats:
    """What is only chosen when the code steps begin."""
    assert now["kind"] == "config", now
    yield Beat("person", "says how tasks are reviewed, and how the code is tested", now["step"])
    for key, value in stage.story.settings.items():
        yield from stage.type("config", "set", key, value)
    yield from stage.commit("Say how tasks are reviewed")
