"""A finding and its score become a verdict, with the reason in words."""

from collections.abc import Iterable, Mapping

from qrspi.core.model import ChangeType, Finding, Round, Sidecar, Triaged, Verdict
from qrspi.core.named_tuple import NamedTuple

# Scope and intent are not here: no score can drop them.
THRESHOLDS: Mapping[ChangeType, int] = {"style": 80, "clarity": 80, "correctness": 70}


def partition(
    round: Round,
    *,
    verifier_enabled: bool,
    skipped: bool,
    thresholds: Mapping[ChangeType, int] = THRESHOLDS,
) -> tuple[Triaged, ...]:
    """`skipped`: a person chose to go on without scores, for this round only."""

    def judged(finding: Finding) -> Triaged:
        sidecar = round.sidecars.get(finding.stem)
        verdict, because = _judge(finding, sidecar, verifier_enabled, skipped, thresholds)
        return Triaged(finding, sidecar.score if sidecar else None, verdict, because)

    return tuple(map(judged, round.findings))


def _judge(
    finding: Finding,
    sidecar: Sidecar | None,
    verifier_enabled: bool,
    skipped: bool,
    thresholds: Mapping[ChangeType, int],
) -> tuple[Verdict, str]:
    threshold = thresholds.get(finding.effective_type)
    if threshold is None:
        return "pause", _for_a_person(finding)
    if not verifier_enabled:
        return "keep", "the verifier is off, so every finding is kept"
    passed, because = _measure(sidecar, threshold, finding.effective_type)
    if passed:
        return "keep", because
    if skipped:
        return "propose", f"{because}, and the round goes on without scores"
    if sidecar is None or sidecar.score is None:
        return "keep", f"{because}, so it is kept"
    return "drop", because


def _measure(sidecar: Sidecar | None, threshold: int, kind: str) -> tuple[bool, str]:
    if sidecar is None:
        return False, "it has no score"
    if sidecar.score is None:
        return False, "the verifier could not score it"
    if sidecar.score < threshold:
        return False, f"score {sidecar.score} is below {threshold} for {kind}"
    return True, f"score {sidecar.score} reaches {threshold} for {kind}"


def _for_a_person(finding: Finding) -> str:
    if finding.escalated:
        return (
            f"it names a feedback file, so it counts as {finding.effective_type}"
            f" instead of {finding.change_type}, and a person decides"
        )
    return f"a person decides about {finding.effective_type}, whatever the score"


class Tally(NamedTuple):
    scored: int
    kept: int
    dropped: int
    failed: int
    clean: int


def tally(round: Round, triaged: Iterable[Triaged]) -> Tally:
    dropped = sum(one.verdict == "drop" for one in triaged)
    scores = [one for finding in round.findings if (one := round.sidecars.get(finding.stem))]
    failed = sum(sidecar.score is None for sidecar in scores)
    return Tally(
        scored=len(scores) - failed,
        kept=len(round.findings) - dropped,
        dropped=dropped,
        failed=failed,
        clean=len(round.cleans),
    )
