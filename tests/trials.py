"""Answers to the questions of a role trial, made from what was planted."""

from __future__ import annotations

from pathlib import Path

from qrspi.core.agents import trial_case
from qrspi.core.agents.trial_case import Case, Planted
from qrspi.core.findings.printed_reply import BOUNDARY, NOTHING
from qrspi.world.agents import trial_files

CASES = trial_files.cases()


def case(name: str) -> Case:
    return next(one for one in CASES if one.name == name)


def item(about: Case, id: str) -> Planted:
    return next(one for one in about.planted if one.id == id)


def report(about: Case, *ids: str) -> str:
    """What a reviewer prints who reports just these."""
    findings = []
    for number, id in enumerate(ids, 1):
        text = trial_case.finding(about, item(about, id)).decode()
        findings.append(f"{BOUNDARY}\n{text.replace('R1-F01', f'R1-F{number:02}')}")
    return "".join(findings) or f"{NOTHING}\n"


def claim(about: Case, id: str) -> str:
    """The name under which this claim is asked about."""
    return trial_case.claim_name(about, item(about, id))


def score(number: int) -> str:
    return f'score: {number}\nreason: "Looked."\nactual_model: unknown\nverified_by: m\n'


def write_all(folder: Path, *, keep: int = 95, drop: int = 5) -> None:
    """Somebody who finds every fault and nothing else."""
    folder.mkdir(exist_ok=True)
    for about in CASES:
        faults = (one.id for one in about.faults)
        (folder / f"{about.name}.md").write_text(report(about, *faults))
        for one in about.planted:
            told = score(keep if one.is_fault else drop)
            (folder / f"{trial_case.claim_name(about, one)}.md").write_text(told)
