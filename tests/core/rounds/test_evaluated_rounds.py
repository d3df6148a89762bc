"""What the loop says of single rounds, the newest and older ones, and what is still to write."""

from __future__ import annotations

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.derivation.derive import survey
from qrspi.core.pipeline import subject_of
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round
from qrspi.core.tree import MemoryTree
from qrspi.world.files import json_log
from tests.core.rounds import test_provenance as elsewhere
from tests.core.rounds.test_loop import (
    CHANGED,
    CLEAN,
    FOUND,
    PAUSED,
    ROUND,
    SCORED,
    SKIP,
    Files,
    evaluated,
    goals,
    on_record,
    opened,
    with_engine_files,
)
from tests.runs import artifact, clean, config, manifest, score

BOTH = opened() | FOUND | opened(2)
SCOPES = f"{ROUND}-scope-set.txt"
BAD = {f"{ROUND}/quality-claude.finding-F02.md": b"no frontmatter\n"}
FAILED = {f"{ROUND}/quality-claude.finding-F01.score.yml": score("VERIFY_FAILED")}


def at(files: Files, number: int) -> Loop:
    return loops.at(MemoryTree(files), goals(), configs.read(files["config.md"]), number)


@pytest.mark.rule("RND-03")
def test_a_round_that_another_follows_is_closed_and_the_newest_is_as_it_stands() -> None:
    first, second = at(BOTH, 1), at(BOTH, 2)
    assert (first.stage, first.because, first.kept) == ("closed", ("a later round follows",), 1)
    assert (second.stage, second.round) == ("reviewing", 2)
    each = loops.each(MemoryTree(BOTH), goals(), configs.read(config()), (1, 2))
    assert [(one.round, one.stage) for one in each] == [(1, "closed"), (2, "reviewing")]
    (only,) = loops.each(MemoryTree(opened()), goals(), configs.read(config()), (1,))
    assert only.stage == "reviewing"


@pytest.mark.rule("IMPT-05", "RND-03")
def test_a_foreign_round_that_another_follows_is_called_closed_by_it() -> None:
    later = {**elsewhere.FINDING, f"{elsewhere.FOLDER}/round-05/x.md": b"x"}
    tree = elsewhere.run(later, 4, 5, round_05="close")
    found = loops.at(tree, subject_of("questions"), configs.read(config("quick")), 4)
    assert (found.stage, found.because) == ("closed", ("closed by a later round",))


@pytest.mark.rule("SEC-22", "RND-03")
def test_only_of_the_newest_round_is_it_asked_what_vanished() -> None:
    gone = Touched(f"{ROUND}/scope-claude.clean.md", None, "a" * 64)
    line = Line("2026-05-17T09:30:00Z", "cli", "dispatch-review", files=(gone,))
    trail = {audit_trail.FILE: json_log.encode(audit_trail.render(line))}
    files = opened() | {f"{ROUND}/quality-claude.clean.md": clean()} | trail
    assert [one.file for one in evaluated(files).warnings] == [gone.path]
    assert at(files | opened(2), 1).warnings == ()


@pytest.mark.rule("EVD-01")
def test_only_in_the_newest_round_must_an_answer_have_been_dispatched() -> None:
    strict = {"config.md": config(evidence="dispatched")}
    newest, older = (
        evaluated(opened() | CLEAN | strict),
        at(opened() | CLEAN | opened(2) | strict, 1),
    )
    assert newest.files and {one.code for one in newest.files.violations} == {"not_dispatched"}
    assert older.files and older.files.violations == ()


@pytest.mark.rule("SEC-22")
def test_a_round_that_nothing_proves_is_not_clean() -> None:
    files = with_engine_files(opened() | CLEAN)
    read = configs.read(files["config.md"])
    found = loops.evaluate(MemoryTree(files, signs=False), goals(), read)
    assert (found.stage, found.clean) == ("guarded", False)


def test_without_a_round_nobody_has_answered_and_nothing_is_settled() -> None:
    found = evaluated({"config.md": config(), "goals.md": artifact()})
    assert (found.answered, found.settled) == ((), False)


@pytest.mark.rule("ST-10")
def test_results_of_tests_are_compared_by_commit_and_not_by_text() -> None:
    """Somebody who writes into the results does not ask for other reviewers."""
    text = artifact(body="# Results\n")
    files = {"config.md": config(), "test-results.md": artifact(body="# Results\n\nMine.\n")}
    files["reviews/test/round-01/.dispatch-manifest.json"] = manifest("test", body=text)
    found = loops.evaluate(MemoryTree(files), subject_of("test"), configs.read(config()))
    assert (found.fresh, found.is_outdated) == (False, False)
    assert evaluated(opened() | CHANGED).is_outdated


LOOPED_BACK = with_engine_files(opened() | PAUSED)
PAUSE = "reviews/goals-loop-pause-round-01.md"


@pytest.mark.rule("BWL-01")
def test_a_decision_to_loop_back_leaves_the_round() -> None:
    assert evaluated(LOOPED_BACK).stage == "paused"
    decided = LOOPED_BACK[PAUSE].replace(b"pending", b"loop-back")
    found = evaluated(LOOPED_BACK | {PAUSE: decided})
    assert (found.stage, found.because) == ("abandoned", ("a loop back left this round",))


@pytest.mark.rule("FLR-03", "FLR-04")
@pytest.mark.parametrize(
    ("files", "codes"),
    [
        (opened(), ("missing_output", "missing_output")),
        (opened() | SCORED | FAILED, ("verify_failed",)),
        (opened() | SCORED | FAILED | SKIP, ()),
        (opened() | SCORED | SKIP | BAD, ("malformed_yaml",)),
    ],
    ids=["nobody wrote", "a verifier failed", "that was skipped", "no skip covers it"],
)
def test_what_failed(files: Files, codes: tuple[str, ...]) -> None:
    assert tuple(one.code for one in evaluated(files).failures) == codes


@pytest.mark.rule("CNV-01")
@pytest.mark.parametrize(
    ("step", "tagger", "kept"),
    [("goals", "true", True), ("goals", "false", False), ("test", "true", False)],
)
def test_who_keeps_a_scope_set(step: str, tagger: str, kept: bool) -> None:
    settings = configs.read(config(scope_tagger_enabled=tagger))
    assert loops.keeps_scope_set(subject_of(step), settings) is kept


WRITTEN = with_engine_files(opened() | SCORED)
OFF = {"config.md": config(scope_tagger_enabled="false")}
MISSING = {path: data for path, data in WRITTEN.items() if path != SCOPES}
STALE = {SCOPES: WRITTEN[SCOPES].replace(b"kept: 1", b"kept: 5")}
MALFORMED = {SCOPES: b"###### \n"}
LACKS = "the scope set is missing or stale"


@pytest.mark.rule("CNV-01", "FLR-04")
@pytest.mark.parametrize(
    ("files", "stage", "because"),
    [
        (WRITTEN, "fixing", "1 finding to be applied"),
        (MISSING, "scored", LACKS),
        (WRITTEN | STALE, "scored", LACKS),
        (WRITTEN | MALFORMED, "failed", ""),
        (MISSING | {f"{SCOPES}/x": b""}, "failed", ""),
        (MISSING | OFF, "fixing", "1 finding to be applied"),
        (WRITTEN | MALFORMED | OFF, "fixing", "1 finding to be applied"),
        (
            {path: data for path, data in LOOPED_BACK.items() if path != PAUSE},
            "scored",
            "findings wait for a person and the pause file is not written",
        ),
        (with_engine_files(opened() | CLEAN), "closed", "no finding was kept"),
        (
            with_engine_files(opened() | SKIP),
            "closed",
            f"{ROUND}-verifier-disabled.md is there",
        ),
    ],
    ids="whole missing stale malformed folder off off-malformed no-pause clean skipped".split(),
)
def test_what_the_engine_still_has_to_write(files: Files, stage: str, because: str) -> None:
    found = evaluated(files)
    assert (found.stage, found.because[0] if because else "") == (stage, because)


@pytest.mark.rule("FLR-04", "CNV-01")
def test_a_skip_covers_a_malformed_scope_set() -> None:
    files = with_engine_files(opened() | SCORED | SKIP) | MALFORMED
    assert evaluated(files).stage == "fixing"


@pytest.mark.rule("CSC-06")
@pytest.mark.parametrize("fields", [{}, {"cascade": "off"}])
def test_only_where_a_round_could_approve_is_it_said_why_it_does_not(
    fields: dict[str, str],
) -> None:
    """A person approves goals in any run, whether somebody went back to them or not."""
    files = with_engine_files(opened() | CLEAN) | {"config.md": config(**fields)}
    facts = survey(MemoryTree(files | on_record("reject"))).facts
    loop = evaluated(files)
    assert facts is not None
    assert (loop.clean, after_round.to_know(facts, loop)) == (True, ())
