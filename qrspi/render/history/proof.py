"""`qrspi verify`: for people, for programs, as annotations on GitHub, and as SARIF."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from qrspi import __version__
from qrspi.core.model import counted
from qrspi.core.proof.run_proof import RunProof, Unproven
from qrspi.core.proof.vanished import Gap
from qrspi.render.terminal import one_line


def document(proofs: Sequence[RunProof]) -> dict[str, Any]:
    gaps = [_gap(proof.run, gap) for proof in proofs for gap in proof.gaps]
    return {
        "schema": "qrspi/verify/v1",
        "ok": not gaps,
        "gaps": gaps,
        "checked": sum(proof.checked for proof in proofs),
        "unproven": [
            {"run": proof.run, **one._asdict(), "round": one.round or None}
            for proof in proofs
            for one in proof.unproven
        ],
        "adopted": [f"{proof.run}/{name}" for proof in proofs for name in proof.adopted],
        "rounds": [
            {
                "run": proof.run,
                "step": one.step,
                "round": one.round,
                "state": one.state,
                "evidence": dict(one.evidence),
            }
            for proof in proofs
            for one in proof.rounds
        ],
    }


def _gap(run: str, gap: Gap) -> dict[str, Any]:
    fields = gap._asdict()
    return {"run": run, **fields, "step": gap.step or None, "round": gap.round or None}


def lines(proofs: Sequence[RunProof], folder: str) -> list[str]:
    rows: list[str] = []
    for proof in proofs:
        rows += [*_run_lines(proof), ""]
    return [*rows, _sum(proofs)]


def _run_lines(proof: RunProof) -> Iterator[str]:
    yield proof.run
    for gap in proof.gaps:
        yield f"  gap: {_where(gap)}{one_line(gap.missing)}: {one_line(gap.because)}"
    yield from (f"  unproven: {one_line(line)}" for line in _grouped(proof.unproven))
    if proof.adopted:
        yield f"  adopted: {', '.join(proof.adopted)}, approved without a record or a round"
    yield from _states(proof)


def _where(gap: Gap) -> str:
    number = f" round {gap.round}" if gap.round else ""
    return f"{gap.step}{number}: " if gap.step else ""


def _grouped(unproven: Iterable[Unproven]) -> Iterator[str]:
    """One line for all rounds of a step with the same reason."""
    groups: dict[tuple[str, str], list[int]] = {}
    for proof in unproven:
        groups.setdefault((proof.step, proof.because), []).append(proof.round)
    for (step, because), numbers in groups.items():
        listed = ", ".join(str(number) for number in numbers if number)
        word = "round" if len(numbers) == 1 else "rounds"
        heading = f"{step} {word} {listed}: " if listed else f"{step}: " if step else ""
        yield f"{heading}{because}"


def _states(proof: RunProof) -> Iterator[str]:
    states = Counter(one.state for one in proof.rounds)
    if states["proven"]:
        yield f"  {counted(states['proven'], 'round')} proven{_evidence(proof)}"
    if states["open"]:
        yield f"  {counted(states['open'], 'round')} still open, not looked at"
    if states["left"]:
        yield f"  {counted(states['left'], 'round')} left by a decision, not looked at"


def _evidence(proof: RunProof) -> str:
    total: Counter[str] = Counter()
    for round in proof.rounds:
        total.update(round.evidence)
    sums = ", ".join(f"{count} {word}" for word, count in total.items() if count)
    return f"; answers: {sums}" if sums else ""


def _sum(proofs: Sequence[RunProof]) -> str:
    proven = sum(proof.checked for proof in proofs)
    unproven = sum(len(proof.unproven) for proof in proofs)
    gaps = sum(len(proof.gaps) for proof in proofs)
    return f"{proven} proven, {unproven} unproven, {counted(gaps, 'gap')}"


def github(proofs: Sequence[RunProof], folder: str) -> list[str]:
    """Workflow commands: one annotation for each gap, a notice for what is unproven."""
    lines: list[str] = []
    for rule, path, text in _doubts(proofs, folder):
        level, text = ("error", text) if rule == "gap" else ("notice", f"unproven: {text}")
        lines.append(f"::{level} file={_property(path)},title=qrspi verify::{_data(text)}")
    return [*lines, _sum(proofs)]


def _doubts(proofs: Sequence[RunProof], folder: str) -> Iterator[tuple[str, str, str]]:
    """The rule, the file or the run, and what is missing or not proven."""
    for proof in proofs:
        for gap in proof.gaps:
            path = f"{folder}/{proof.run}/{gap.file}".rstrip("/")
            yield "gap", path, f"{_where(gap)}{gap.missing}: {gap.because}"
        for line in _grouped(proof.unproven):
            yield "unproven", f"{folder}/{proof.run}", line


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_RULES = {
    "gap": "Something that a closed round or an approval rests on is not there.",
    "unproven": "Nothing on record proves it.",
}


def sarif(proofs: Sequence[RunProof], folder: str) -> list[str]:
    results = [_result(*doubt) for doubt in _doubts(proofs, folder)]
    rules = [{"id": key, "shortDescription": {"text": text}} for key, text in _RULES.items()]
    driver = {"name": "qrspi", "version": __version__, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return [json.dumps(log, indent=2)]


def _result(rule: str, path: str, text: str) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": quote(path)}}
    return {
        "ruleId": rule,
        "level": "error" if rule == "gap" else "note",
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


FORMATS: dict[str, Callable[[Sequence[RunProof], str], list[str]]] = {
    "text": lines,
    "json": lambda proofs, folder: [json.dumps(document(proofs))],
    "github": github,
    "sarif": sarif,
}
