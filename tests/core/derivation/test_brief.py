"""The page that puts somebody in the picture."""

from __future__ import annotations

import pytest

from qrspi.core.derivation import brief
from qrspi.core.derivation.brief import reasons
from qrspi.core.derivation.derive import survey
from qrspi.core.recording_tree import Observation, RecordingTree
from qrspi.core.rounds import pause_file
from tests import runs
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
def test_words_of_a_finding_are_cut_with_a_mark() -> None:
    file = "reviews/goals/round-01/quality-claude.finding-F01.md"
    long = "The second\n  claim " + "contradicts the first " * 20
    files = opened() | SCORED | {file: runs.finding(message=long)}
    (line,) = brief.page(survey(tree(with_engine_files(files))), 10_000).parts[1].lines
    words = "The second claim " + "contradicts the first " * 7 + "contradicts the first"
    assert line == f"- quality-claude.R1-F01 (medium, correctness): {words}…"


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
        b'{"event": "test-command", "step": "test", "body_hash": "", "round": 0, "who": "Ada",'
        b' "option": "make test"}\n'
        b'{"event": "resolve", "step": "goals", "body_hash": "", "round": 1, "option": "loop"}\n'
    )
    files = {"config.md": config(), "goals.md": artifact("approved"), "approvals.jsonl": log}
    parts = brief.page(survey(tree(files)), 10_000).parts
    assert parts[-1].lines == (
        "- goals.md: resolve loop",
        "- what runs the tests: make test, said by Ada",
        "- questions.md: reject",
        "- goals.md: approve by Ada on 2026-01-02",
    )


def test_the_pause_file_keeps_every_other_byte_when_a_decision_is_made() -> None:
    files = with_engine_files(opened() | PAUSED)
    data = files["reviews/goals-loop-pause-round-01.md"]
    decided = pause_file.decide(data, {"scope-claude.R1-F01": "skip"}, "p.md")
    assert decided == data.replace(b"R1-F01: pending", b"R1-F01: skip", 1)


def test_reasons_lead_from_the_route_to_the_action() -> None:
    design = runs.artifact()
    tree = runs.tree(
        {"config.md": runs.config(), **runs.approved("goals", "questions", "research")},
        {
            "design.md": design,
            "reviews/design/round-01/.dispatch-manifest.json": runs.manifest("design", body=design),
            "reviews/design/round-01/quality-claude.clean.md": runs.clean(),
        },
    )
    assert reasons(survey(tree)) == (
        "the route in config.md is goals, questions, research, design, phasing, structure, plan, "
        "parallelize, implement, integrate, test",
        "approved: goals.md, questions.md, research/summary.md",
        "design.md is draft: the first of the route that is not approved",
        "design needs goals.md, research/summary.md: all approved",
        "the newest review of design is round 1: reviewing",
        "scope-claude has written nothing yet",
    )


def test_a_config_that_cannot_be_used_is_the_only_reason() -> None:
    tree = runs.tree({"config.md": runs.config(drop=("route",))})
    (reason,) = reasons(survey(tree))
    assert reason.startswith("config.md: route is missing; expected ")


def test_a_need_that_is_not_met_is_named() -> None:
    config = runs.config(route="[goals, design]")
    tree = runs.tree({"config.md": config, **runs.approved("goals")})
    assert reasons(survey(tree))[3:] == (
        "design needs goals.md, research/summary.md: not approved: research/summary.md",
        "design needs research/summary.md, which is not approved",
    )


def test_a_complete_run_has_nothing_left() -> None:
    tree = runs.tree({"config.md": runs.config(route="[goals]"), **runs.approved("goals")})
    assert reasons(survey(tree))[2:] == (
        "nothing of the route is left, and there is no replan-pending.md",
        "every artifact of the route is approved (1 step)",
    )


def test_a_witness_remembers_the_most_that_was_read_of_each_file() -> None:
    witness = RecordingTree(runs.tree({"a.md": b"a", "b/c.md": b"c"}, in_git=True))
    witness.head("a.md")
    witness.read("a.md")
    witness.head("a.md")
    witness.entries("")
    witness.head("gone.md")
    witness.read("b")
    witness.read("a.md", 0)
    assert (witness.name, witness.in_git) == (runs.RUN, True)
    assert witness.seen == (
        Observation("a.md", "whole", "there"),
        Observation(".", "listing", "there"),
        Observation("gone.md", "start", "absent"),
        Observation("b", "whole", "not-a-file"),
    )
