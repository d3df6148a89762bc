"""What changed since a text was taken back: sections of the artifact, and companions by name."""

from __future__ import annotations

import pytest

from qrspi.core.steps import text_parts
from tests import runs
from tests.runs import artifact

BODY = "# Plan\n\nIn short.\n\n## Speed\n\nFast.\n\n## Notes\n\nOne.\n\n## Notes\n\nTwo.\n"
BEFORE = {"plan.md": artifact(body=BODY), "tasks/task-01.md": artifact(body="# First\n")}

CHANGES = {
    "nothing": ({}, ()),
    "only the status": ({"plan.md": artifact("approved", BODY)}, ()),
    "white space at line ends": ({"plan.md": artifact(body=BODY.replace("Fast.", "Fast. "))}, ()),
    "a section": ({"plan.md": artifact(body=BODY.replace("Fast", "Faster"))}, ("plan.md Speed",)),
    "the second of two with one title": (
        {"plan.md": artifact(body=BODY.replace("Two", "Three"))},
        ("plan.md Notes (2)",),
    ),
    "what stands before the first section": (
        {"plan.md": artifact(body=BODY.replace("In short", "At length"))},
        ("plan.md ",),
    ),
    "a section that is gone": (
        {"plan.md": artifact(body=BODY.replace("## Speed\n\nFast.\n\n", ""))},
        ("plan.md Speed",),
    ),
    "a companion": ({"tasks/task-01.md": artifact(body="# Other\n")}, ("tasks/task-01.md ",)),
    "one more companion": ({"tasks/task-02.md": artifact()}, ("tasks/task-02.md ",)),
}


@pytest.mark.rule("LIV-10")
@pytest.mark.parametrize(("changes", "named"), CHANGES.values(), ids=CHANGES.keys())
def test_parts_that_changed_are_named(changes: dict[str, bytes], named: tuple[str, ...]) -> None:
    before, now = (
        text_parts.of_step(runs.tree(files), "plan") for files in (BEFORE, BEFORE | changes)
    )
    changed = text_parts.changed(before, now)
    assert tuple(f"{one.file} {one.section}" for one in changed) == named


def test_of_several_steps_only_the_parts_of_one_are_compared() -> None:
    files = {**BEFORE, "goals.md": artifact()}
    parts = [
        part for step in ("goals", "plan") for part in text_parts.of_step(runs.tree(files), step)
    ]
    assert text_parts.about("plan", parts) == text_parts.of_step(runs.tree(files), "plan")
    assert text_parts.of_step(runs.tree({}), "plan") == ()
