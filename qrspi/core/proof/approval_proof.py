"""Approvals, derived again: each needs its record for exactly this text, and its rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qrspi.core.config.reader import Config
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject_of
from qrspi.core.proof.vanished import Gap
from qrspi.core.records import approvals, decisions, written_lines
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import round_list
from qrspi.core.steps.facts import artifact_status, claim_of
from qrspi.core.tree import Tree, content

if TYPE_CHECKING:
    from qrspi.core.proof.round_proof import RoundProof
    from qrspi.core.records.import_record import ImportRecord


class ApprovalProof(NamedTuple):
    gaps: tuple[Gap, ...]
    adopted: tuple[str, ...]
    unproven: tuple[str, ...]  # steps


def check(
    tree: Tree,
    config: Config,
    records: tuple[Record, ...],
    rounds: Iterable[RoundProof],
    imported: ImportRecord,
) -> ApprovalProof:
    gaps: list[Gap] = []
    adopted: list[str] = []
    unproven: list[str] = []
    states = _states(rounds)
    for step in config.route or ():
        if artifact_status(tree, step)[0] != "approved":
            continue
        known = approvals.last_approval(records, step)
        if known:
            gaps += _recorded(tree, step, known)
        elif found := states.get(step):
            gaps.append(_gap(step, f"no record says who approved it, and {_reviewed(found)}"))
        elif imported.rounds.get(STEP[step].reviews):
            unproven.append(step)
        else:
            adopted.append(STEP[step].artifact)
    return ApprovalProof(tuple(gaps), tuple(adopted), tuple(unproven))


def by_hand(tree: Tree, config: Config, records: tuple[Record, ...]) -> Iterator[Gap]:
    """Approvals in the record that no command wrote, and about which nobody has decided since."""
    for one in written_lines.not_settled(tree, config.commit, records):
        why = decisions.not_written(one.number).partition(": ")[2]
        step, number = one.record.step, one.record.round
        yield Gap(step, number, "approval by a command", why, approvals.FILE)


def _states(rounds: Iterable[RoundProof]) -> dict[str, frozenset[str]]:
    by_step: dict[str, frozenset[str]] = {}
    for proof in rounds:
        step = "implement" if proof.step == "implement-gate" else proof.step
        by_step[step] = by_step.get(step, frozenset()) | {proof.state}
    return by_step


def _reviewed(states: frozenset[str]) -> str:
    """A round may be a copy, or written by hand."""
    return "it was reviewed here" if "proven" in states else "no round of it is proven"


def _gap(step: str, because: str, missing: str = "record of its approval", number: int = 0) -> Gap:
    return Gap(step, number, missing, because, STEP[step].artifact)


def _recorded(tree: Tree, step: str, known: Record) -> Iterator[Gap]:
    artifact = STEP[step].artifact
    claim, by = claim_of(tree, (known,), step), known.person or "somebody"
    if claim and not claim.gone:
        why = f"{artifact} is another text than the one that {by} approved on {known.when[:10]}"
        if claim.only_body:
            why = f"what {by} approved on {known.when[:10]} is on record without its frontmatter"
        yield _gap(step, why, "the approved text", known.round)
    if known.round > round_list.highest(tree, subject_of(step)):
        why = f"it was approved after round {known.round}, which is gone"
        yield _gap(step, why, f"round {known.round}", known.round)
    if known.surface == approvals.CASCADE and not _is_logged(tree, step):
        why = f"the engine approved {step} by itself, and its log does not say so"
        yield _gap(step, why, f"line in {approvals.CASCADES}", known.round)


def _is_logged(tree: Tree, step: str) -> bool:
    return f'"artifact": "{step}"'.encode() in content(tree, approvals.CASCADES, approvals.LIMIT)
