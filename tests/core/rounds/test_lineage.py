from __future__ import annotations

import pytest

from qrspi.core.rounds import lineage
from qrspi.core.rounds.lineage import (
    Course,
    FindingRecord,
    Outlook,
    RoundFindings,
    Sighting,
    similarity,
    words_of,
)

EXPIRY = "Tokens expire after 15 minutes here, but goals.md asks for 30 minutes."
EXPIRY_AGAIN = "Token expiry is still 15 minutes (line 40) while goals.md asks for 30."
CACHE = "The cache has no eviction policy, so memory grows without bound under load."
UPLOAD = "What happens to the partial file when an upload fails is not described."
ARROW = "The diagram's arrow from the worker to the queue is inverted."


def record(
    message: str,
    at: int = 1,
    *,
    section: str = "## Approach",
    tag: str = "quality-claude",
    dropped: bool = False,
    decision: str = "",
) -> FindingRecord:
    verdict = "drop" if dropped else "keep"
    return FindingRecord(tag, f"F{at:02d}", section, message, verdict, decision)  # type: ignore[arg-type]


def rounds(*rows: list[FindingRecord]) -> list[RoundFindings]:
    return [RoundFindings(at, tuple(row)) for at, row in enumerate(rows, 1)]


def states(*rows: list[FindingRecord]) -> list[str]:
    return [one.state for one in lineage.trace(rounds(*rows)).findings]


SAME = [
    (
        "The Approach section says tokens expire after 15 minutes but goals.md requires 30"
        " minutes; the two must agree.",
        "Token expiry is inconsistent: Approach states 15 minutes while goals.md asks for 30"
        " minutes.",
    ),
    (
        "G1's `type` is `known-fix`, but the goal body contradicts that classification.",
        "The body of goal G1 contradicts its declared type `known-fix`; reclassify or rewrite.",
    ),
    (
        "New test expectation for `api_key_env` identifier validation is not covered by tests.",
        "No test exercises `api_key_env` identifier validation although the spec lists it as an"
        " expectation.",
    ),
    (
        "Error handling for a failed upload is not described: what happens to the partial file?",
        "The design still omits what happens to a partial file when an upload fails.",
    ),
    (
        "The cache layer has no eviction policy. Memory grows without bound under load.",
        "Cache eviction remains unspecified, so memory use is unbounded under load.",
    ),
    (
        "Acceptance criteria for offline mode cannot be measured: 'works well' is not testable.",
        "Offline mode's acceptance criterion 'works well' is still not measurable or testable.",
    ),
    ("See design.md:L40-L44: names differ.", "See design.md:L52-L56: names differ."),
    ("Lines 40 to 44 repeat the goal.", "Lines 52-56 repeat the goal."),
    ("不一致", "不一致"),
    ("It is as it was.", "It is as it was."),
]
DIFFERENT = [
    (
        "The cache layer has no eviction policy. Memory grows without bound under load.",
        "The cache layer's key format is not specified; two tenants may collide.",
    ),
    (
        "The Approach section says tokens expire after 15 minutes but goals.md requires 30.",
        "The Approach section does not say how refresh tokens are revoked at logout.",
    ),
    (
        "Error handling for a failed upload is not described: what happens to the partial file?",
        "Upload size limits are not described; what happens to a file over 2 GB?",
    ),
    (
        "New test expectation for `api_key_env` identifier validation is not covered by tests.",
        "Spec expectation misstates actual behavior for empty `api_key_env`.",
    ),
    ("Step 3 of the rollout has no rollback.", "Step 4 of the rollout has no owner."),
    (
        "The design does not specify retry limits for webhook delivery.",
        "The design does not specify the payload format for webhook delivery.",
    ),
    ("It is as it was.", "They are not what he said."),
]


@pytest.mark.rule("EVD-01")
@pytest.mark.parametrize(("first", "second"), SAME)
def test_a_rephrased_finding_is_the_same(first: str, second: str) -> None:
    assert states([record(first)], [record(second)]) == ["persisting"]


@pytest.mark.rule("EVD-01")
@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_another_finding_about_the_section_is_not(first: str, second: str) -> None:
    assert states([record(first)], [record(second)]) == ["new"]


@pytest.mark.rule("EVD-01")
def test_each_finding_of_the_last_round_has_its_state() -> None:
    found = lineage.trace(
        rounds([record(EXPIRY, 1), record(CACHE, 2)], [record(UPLOAD, 1), record(EXPIRY_AGAIN, 2)])
    )
    assert [(one.state, one.because) for one in found.findings] == [
        ("new", "first raised in round 2"),
        ("persisting", "first raised in round 1 and still there"),
    ]
    assert [(one.state, one.because) for one in found.resolved] == [
        ("resolved", "last seen in round 1")
    ]
    assert found.resolved[0].sightings == (Sighting(1, record(CACHE, 2)),)


@pytest.mark.rule("EVD-02")
@pytest.mark.parametrize(
    ("dropped", "decision", "fate"),
    [(True, "", "dropped by the verifier"), (False, "skip", "skipped")],
)
@pytest.mark.parametrize("gap", [0, 2])
def test_a_settled_finding_that_comes_back_is_re_raised(
    dropped: bool, decision: str, fate: str, gap: int
) -> None:
    settled = record(EXPIRY, dropped=dropped, decision=decision)
    between: list[list[FindingRecord]] = [[] for _ in range(gap)]
    found = lineage.trace(rounds([settled], *between, [record(EXPIRY_AGAIN)]))
    (one,) = found.findings
    assert (one.state, one.because) == (
        "re-raised",
        f"quality-claude.F01 was {fate} in round 1",
    )
    assert one.earlier == Sighting(1, settled)
    assert lineage.history(one) == (
        f"round 1: quality-claude.F01 {fate}; round {gap + 2}: quality-claude.F01 kept"
    )


@pytest.mark.rule("EVD-01")
@pytest.mark.parametrize("decision", ["apply", "loop-back", "pending", ""])
def test_a_decision_to_act_settles_nothing(decision: str) -> None:
    assert states([record(EXPIRY, decision=decision)], [record(EXPIRY)]) == ["persisting"]


@pytest.mark.rule("EVD-01")
def test_a_resolved_finding_that_comes_back_is_re_raised() -> None:
    found = lineage.trace(rounds([record(EXPIRY)], [record(CACHE)], [record(EXPIRY)]))
    assert [(one.state, one.because) for one in found.findings] == [
        ("re-raised", "gone after round 1, back in round 3")
    ]
    assert found.findings[0].earlier == Sighting(1, record(EXPIRY))


@pytest.mark.rule("EVD-02")
def test_once_kept_again_it_persists() -> None:
    rows = [[record(EXPIRY, dropped=True)], [record(EXPIRY)], [record(EXPIRY)]]
    assert states(*rows) == ["persisting"]


@pytest.mark.rule("EVD-01")
def test_what_was_settled_and_stays_away_is_not_resolved() -> None:
    found = lineage.trace(
        rounds([record(EXPIRY, dropped=True), record(CACHE, 2, decision="skip")], [])
    )
    assert (found.findings, found.resolved) == ((), ())


@pytest.mark.rule("EVD-01")
def test_two_reviewers_report_one_defect() -> None:
    both = [record(EXPIRY), record(EXPIRY_AGAIN, tag="quality-codex")]
    found = lineage.trace(rounds(both, [record(EXPIRY, tag="quality-codex")]))
    assert [one.state for one in found.findings] == ["persisting"]
    assert found.resolved == ()


@pytest.mark.rule("EVD-01")
def test_one_reviewer_does_not_report_a_defect_twice() -> None:
    twice = [record(EXPIRY_AGAIN, 1), record(EXPIRY, 2)]
    assert states([record(EXPIRY)], twice) == ["new", "persisting"]


@pytest.mark.rule("EVD-01")
def test_the_section_is_part_of_a_finding() -> None:
    first, second = SAME[4]
    assert states([record(first)], [record(second, section="## Rollout")]) == ["new"]


@pytest.mark.rule("EVD-01")
def test_a_near_copy_is_known_under_another_heading() -> None:
    moved = record(EXPIRY.replace("here", "now"), section="## Token lifetime")
    assert states([record(EXPIRY)], [moved]) == ["persisting"]


@pytest.mark.rule("EVD-01")
def test_of_two_copies_the_one_in_the_same_section_is_meant() -> None:
    row = [record(EXPIRY, section="## A"), record(EXPIRY, section="## B", tag="quality-codex")]
    found = lineage.trace(rounds(row, row))
    assert [one.state for one in found.findings] == ["persisting", "persisting"]
    assert found.resolved == ()


@pytest.mark.rule("EVD-01")
def test_a_fingerprint_stays_when_lines_move() -> None:
    first = lineage.fingerprint("design", "## A", "Line 12 contradicts design.md:L3.")
    assert first == lineage.fingerprint("design", "## A", "Line 99 contradicts design.md:L40-L50.")
    assert len(first) == 16
    others = {
        lineage.fingerprint("plan", "## A", "Line 12 contradicts design.md:L3."),
        lineage.fingerprint("design", "## B", "Line 12 contradicts design.md:L3."),
        lineage.fingerprint("design", "## A", "Line 12 repeats design.md:L3."),
    }
    assert len(others | {first}) == 4


@pytest.mark.rule("EVD-01")
def test_a_lineage_has_the_fingerprint_of_its_first_sighting() -> None:
    found = lineage.trace(rounds([record(EXPIRY)], [record(EXPIRY_AGAIN)]), "design")
    assert found.findings[0].fingerprint == lineage.fingerprint("design", "## Approach", EXPIRY)


@pytest.mark.rule("EVD-03")
@pytest.mark.parametrize(
    ("rows", "outlook", "because"),
    [
        ([[EXPIRY]], None, "a single round has nothing to be compared with"),
        ([[EXPIRY], []], "converging", "nothing is open after round 2"),
        (
            [[EXPIRY, CACHE, UPLOAD, ARROW], [EXPIRY]],
            "converging",
            "from round 1 to 2: 3 resolved, 1 persisting, 0 re-raised, 0 new",
        ),
        (
            [[EXPIRY, CACHE], [EXPIRY, CACHE], [EXPIRY, CACHE]],
            "stagnant",
            "from round 1 to 3: 0 resolved, 4 persisting, 0 re-raised, 0 new",
        ),
        (
            [[EXPIRY], [CACHE], [UPLOAD], [ARROW]],
            "stagnant",
            "from round 1 to 4: 3 resolved, 0 persisting, 0 re-raised, 3 new",
        ),
        (
            [[EXPIRY], [CACHE], [EXPIRY], [CACHE]],
            "oscillating",
            "from round 1 to 4: 3 resolved, 0 persisting, 2 re-raised, 1 new",
        ),
        (
            [[EXPIRY], [CACHE], [EXPIRY], [CACHE], [EXPIRY], [CACHE]],
            "oscillating",
            "from round 3 to 6: 3 resolved, 0 persisting, 3 re-raised, 0 new",
        ),
    ],
)
def test_the_outlook_comes_from_lineage(
    rows: list[list[str]], outlook: Outlook | None, because: str
) -> None:
    found = lineage.trace(
        rounds(*([record(text, at) for at, text in enumerate(row, 1)] for row in rows))
    )
    assert (found.outlook, found.because) == (outlook, because)


@pytest.mark.rule("EVD-03")
def test_equal_counts_have_different_outlooks() -> None:
    """Two findings in every round: counts alone cannot tell these apart."""
    a, b, c, d = (record(text, at) for at, text in enumerate([EXPIRY, CACHE, UPLOAD, ARROW], 1))
    stays = lineage.trace(rounds([a, b], [a, b], [a, b]))
    comes_back = lineage.trace(rounds([a, b], [c, d], [a, b]))
    assert (stays.outlook, comes_back.outlook) == ("stagnant", "oscillating")


@pytest.mark.rule("EVD-03")
def test_dropped_and_skipped_findings_are_not_open() -> None:
    noise = [record(CACHE, 2, dropped=True), record(UPLOAD, 3, decision="skip")]
    found = lineage.trace(rounds([record(EXPIRY), *noise], noise))
    assert (found.outlook, found.because) == ("converging", "nothing is open after round 2")


@pytest.mark.parametrize(
    ("course", "outlook"),
    [
        (Course(resolved=4, persisting=1, re_raised=1, new=1), "converging"),
        (Course(resolved=3, persisting=1, re_raised=1, new=1), "stagnant"),
        (Course(resolved=2, persisting=1, re_raised=1, new=1), "oscillating"),
        (Course(resolved=0, persisting=0, re_raised=1, new=0), "oscillating"),
        (Course(resolved=0, persisting=2, re_raised=1, new=0), "stagnant"),
        (Course(resolved=0, persisting=0, re_raised=0, new=2), "stagnant"),
    ],
)
@pytest.mark.rule("EVD-03")
def test_the_balance_that_decides(course: Course, outlook: Outlook) -> None:
    assert lineage.judged(course) == outlook


def test_no_rounds_have_no_lineage() -> None:
    assert lineage.trace([]) == ((), (), None, "no round yet")


def test_rounds_may_have_gaps_in_their_numbers() -> None:
    """A loop that starts anew after a rejection goes on with higher numbers."""
    found = lineage.trace(
        [RoundFindings(4, (record(EXPIRY),)), RoundFindings(7, (record(EXPIRY),))]
    )
    assert [(one.state, one.because) for one in found.findings] == [
        ("persisting", "first raised in round 4 and still there")
    ]


def test_similarity_is_between_none_and_all() -> None:
    assert similarity(words_of(EXPIRY), words_of(EXPIRY)) == 1.0
    assert similarity(words_of(CACHE), words_of(ARROW)) == 0.0
    assert similarity(words_of(""), words_of("")) == 1.0
