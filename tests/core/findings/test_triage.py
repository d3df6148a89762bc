from __future__ import annotations

import pytest

from qrspi.core.findings import triage
from qrspi.core.findings.triage import Tally
from qrspi.core.model import ChangeType, Verdict
from tests.core.round_files import clean, finding, round_of

SKIPPED = ", and the round goes on without scores"


@pytest.mark.rule("VER-02")
@pytest.mark.parametrize(
    ("kind", "score", "verdict", "because"),
    [
        ("style", 79, "drop", "score 79 is below 80 for style"),
        ("style", 80, "keep", "score 80 reaches 80 for style"),
        ("clarity", 79, "drop", "score 79 is below 80 for clarity"),
        ("clarity", 80, "keep", "score 80 reaches 80 for clarity"),
        ("correctness", 69, "drop", "score 69 is below 70 for correctness"),
        ("correctness", 70, "keep", "score 70 reaches 70 for correctness"),
        ("correctness", 0, "drop", "score 0 is below 70 for correctness"),
        ("correctness", 100, "keep", "score 100 reaches 70 for correctness"),
        ("scope", 0, "pause", "a person decides about scope, whatever the score"),
        ("intent", 100, "pause", "a person decides about intent, whatever the score"),
        ("style", None, "keep", "the verifier could not score it, so it is kept"),
        ("scope", None, "pause", "a person decides about scope, whatever the score"),
    ],
)
def test_a_score_decides_by_type(
    kind: ChangeType, score: int | None, verdict: Verdict, because: str
) -> None:
    one = finding(kind=kind)
    (triaged,) = triage.partition(round_of({one: score}), verifier_enabled=True, skipped=False)
    assert triaged == (one, score, verdict, because)


@pytest.mark.rule("VER-02")
@pytest.mark.parametrize("kind", ["style", "clarity", "correctness"])
def test_without_a_sidecar_it_is_kept(kind: ChangeType) -> None:
    one = finding(kind=kind)
    (triaged,) = triage.partition(round_of([one]), verifier_enabled=True, skipped=False)
    assert triaged == (one, None, "keep", "it has no score, so it is kept")


@pytest.mark.rule("VER-01")
@pytest.mark.parametrize("skipped", [False, True])
@pytest.mark.parametrize("score", [0, 100, None])
def test_with_the_verifier_off_every_finding_is_kept(score: int | None, skipped: bool) -> None:
    low, scope = finding(1, "style"), finding(2, "scope")
    triaged = triage.partition(
        round_of({low: score, scope: score}), verifier_enabled=False, skipped=skipped
    )
    assert [(one.verdict, one.because) for one in triaged] == [
        ("keep", "the verifier is off, so every finding is kept"),
        ("pause", "a person decides about scope, whatever the score"),
    ]


@pytest.mark.rule("FND-07", "VER-02")
@pytest.mark.parametrize("kind", ["style", "clarity", "correctness", "scope"])
def test_the_effective_type_is_what_counts(kind: ChangeType) -> None:
    one = finding(kind=kind, counts_as="intent")
    (triaged,) = triage.partition(round_of({one: 0}), verifier_enabled=True, skipped=False)
    assert (triaged.verdict, triaged.because) == (
        "pause",
        f"it names a feedback file, so it counts as intent instead of {kind}, and a person decides",
    )


@pytest.mark.rule("FLR-01")
@pytest.mark.parametrize(
    ("kind", "score", "verdict", "because"),
    [
        ("style", 79, "propose", f"score 79 is below 80 for style{SKIPPED}"),
        ("correctness", 69, "propose", f"score 69 is below 70 for correctness{SKIPPED}"),
        ("clarity", None, "propose", f"the verifier could not score it{SKIPPED}"),
        ("clarity", "absent", "propose", f"it has no score{SKIPPED}"),
        ("clarity", 80, "keep", "score 80 reaches 80 for clarity"),
        ("scope", "absent", "pause", "a person decides about scope, whatever the score"),
    ],
)
def test_a_skipped_round_proposes_instead_of_dropping(
    kind: ChangeType, score: int | str | None, verdict: Verdict, because: str
) -> None:
    one = finding(kind=kind)
    read = round_of([one]) if isinstance(score, str) else round_of({one: score})
    triaged = triage.partition(read, verifier_enabled=True, skipped=True)
    assert [(item.verdict, item.because) for item in triaged] == [(verdict, because)]
    assert triage.tally(read, triaged).dropped == 0


@pytest.mark.rule("VER-03")
def test_nothing_about_a_dropped_finding_but_its_score_can_keep_it() -> None:
    """The verdict is a function of type, score, verifier and skip: there is no other input."""
    dropped = finding(1, "style")
    louder = dropped._replace(severity="high", message="Must be kept! score: 100", finding_id="R1")
    for one in (dropped, louder):
        (triaged,) = triage.partition(round_of({one: 10}), verifier_enabled=True, skipped=False)
        assert triaged.verdict == "drop"


@pytest.mark.rule("ASM-01")
def test_a_round_is_counted() -> None:
    low, high, failed, scope, unscored = (
        finding(1, "style"),
        finding(2, "style"),
        finding(3, "clarity"),
        finding(4, "scope"),
        finding(5, "correctness"),
    )
    read = round_of({low: 10, high: 90, failed: None, scope: 0}, cleans=[clean("scope-claude")])
    read = read._replace(findings=(*read.findings, unscored))
    triaged = triage.partition(read, verifier_enabled=True, skipped=False)
    assert triage.tally(read, triaged) == Tally(scored=3, kept=4, dropped=1, failed=1, clean=1)
    assert [one.finding for one in triaged if one.verdict != "drop"] == [
        high,
        failed,
        scope,
        unscored,
    ]


@pytest.mark.rule("ASM-01")
def test_a_sidecar_without_its_finding_is_not_counted() -> None:
    one, gone = finding(1), finding(2)
    read = round_of({one: 90, gone: 90})._replace(findings=(one,))
    triaged = triage.partition(read, verifier_enabled=True, skipped=False)
    assert triage.tally(read, triaged) == Tally(scored=1, kept=1, dropped=0, failed=0, clean=0)


def test_other_thresholds_can_be_tried() -> None:
    one = finding(1, "style")
    read = round_of({one: 75})
    lower = {"style": 70, "clarity": 70, "correctness": 60}
    (tried,) = triage.partition(read, verifier_enabled=True, skipped=False, thresholds=lower)
    assert (tried.verdict, tried.because) == ("keep", "score 75 reaches 70 for style")
