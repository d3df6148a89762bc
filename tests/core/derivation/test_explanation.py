from __future__ import annotations

from qrspi.core.derivation.derive import survey
from qrspi.core.derivation.explanation import reasons
from qrspi.core.recording_tree import RecordingTree, Seen
from tests import runs


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
        "every artifact of the route is approved (1 steps)",
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
        Seen("a.md", "whole", "there"),
        Seen(".", "listing", "there"),
        Seen("gone.md", "start", "absent"),
        Seen("b", "whole", "not-a-file"),
    )
