"""The page that puts somebody in the picture."""

from __future__ import annotations

import pytest

from qrspi.core.derivation import brief
from qrspi.core.derivation.derive import survey
from qrspi.core.rounds import pause_file
from tests.core.rounds.test_loop import PAUSED, SCORED, opened, with_engine_files
from tests.runs import RUN, artifact, config, tree


@pytest.mark.rule("PPL-01")
def test_the_page_is_whole_when_there_is_room() -> None:
    files = with_engine_files(opened() | SCORED)
    found = brief.page(survey(tree(files, in_git=True), "docs/qrspi/x"), 10_000)
    assert found.left_out == ()
    assert [part.title for part in found.parts] == [
        f"{RUN}: what is next",
        "Open findings",
        "Files to read",
        "Where each step stands",
    ]
    assert found.parts[1].lines == (
        "- quality-claude.R1-F01 (medium, correctness): The second claim contradicts the first.",
    )


@pytest.mark.rule("PPL-01")
@pytest.mark.parametrize("most", [200, 400, 600, 800, 1200, 5000])
def test_whole_parts_are_left_out_to_fit(most: int) -> None:
    files = with_engine_files(opened() | SCORED)
    looked = survey(tree(files, in_git=True))
    found, whole = brief.page(looked, most), brief.page(looked, 10**6)
    assert found.parts == whole.parts[: len(found.parts)]
    assert len(found.parts) + len(found.left_out) == len(whole.parts)
    assert len(found.text) <= most or len(found.parts) == 1
    assert brief.page(looked, most) == found


@pytest.mark.rule("PPL-01")
def test_decisions_are_listed_newest_first() -> None:
    log = (
        b'{"event": "approve", "step": "goals", "body_hash": "a", "round": 1, "who": "Ada",'
        b' "when": "2026-01-02T03:04:05Z"}\n'
        b'{"event": "reject", "step": "questions", "body_hash": "b", "round": 0}\n'
    )
    files = {"config.md": config(), "goals.md": artifact("approved"), "approvals.jsonl": log}
    parts = brief.page(survey(tree(files)), 10_000).parts
    assert parts[-1].lines == ("- questions.md: reject", "- goals.md: approve by Ada on 2026-01-02")


def test_the_pause_file_keeps_every_other_byte_when_a_decision_is_made() -> None:
    files = with_engine_files(opened() | PAUSED)
    data = files["reviews/goals-loop-pause-round-01.md"]
    decided = pause_file.decide(data, {"scope-claude.R1-F01": "skip"}, "p.md")
    assert decided == data.replace(b"R1-F01: pending", b"R1-F01: skip", 1)
