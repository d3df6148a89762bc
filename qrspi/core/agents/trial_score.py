"""What came of a trial: the faults that were found and missed, and what was wrongly reported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from qrspi.core.agents.trial_case import NEARNESS, ROUND, Case, Planted, Question
from qrspi.core.filenames import FindingName, SidecarName, finding_file, sidecar_file
from qrspi.core.findings import printed_reply, round_files
from qrspi.core.findings.submission import Place, finished
from qrspi.core.findings.triage import THRESHOLDS
from qrspi.core.model import Finding, Problem, Sidecar
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject_of
from qrspi.core.text import citations, printed_files

State = Literal["answered", "unusable", "absent"]


class Elsewhere(NamedTuple):
    """A finding at a place where nothing was planted: nobody has judged it."""

    cited: tuple[str, ...]
    message: str


class Outcome(NamedTuple):
    """An agent that did not answer has neither found nor missed anything."""

    name: str
    role: str
    case: str
    state: State
    found: tuple[str, ...] = ()  # faults, by their ids
    missed: tuple[str, ...] = ()
    false: tuple[str, ...] = ()  # reported or confirmed, although it is no fault
    elsewhere: tuple[Elsewhere, ...] = ()
    problem: str = ""  # why the answer is of no use


def outcome(asked: Question, answer: str | Problem | None) -> Outcome:
    blank = Outcome(asked.name, asked.role.name, asked.case.name, "absent")
    if answer is None:
        return blank
    read: Outcome | Problem
    if isinstance(answer, Problem):
        read = answer
    elif asked.claim:
        read = _scored(asked.case, asked.claim, answer)
    else:
        read = _reviewed(asked.case, answer)
    if isinstance(read, Problem):
        missed = tuple(one.id for one in _asked_about(asked) if one.is_fault)
        return blank._replace(state="unusable", missed=missed, problem=read.message)
    return read._replace(name=asked.name, role=asked.role.name, case=asked.case.name)


def _asked_about(asked: Question) -> tuple[Planted, ...]:
    return (asked.claim,) if asked.claim else asked.case.planted


def _reviewed(case: Case, text: str) -> Outcome | Problem:
    findings = _findings(case, text)
    if isinstance(findings, Problem):
        return findings
    meant: list[Planted | None] = []
    for one in findings:
        meant.append(_meant(case, one, {known.id for known in meant if known}))
    ids = {planted.id for planted in meant if planted}
    return Outcome(
        name="",
        role="",
        case="",
        state="answered",
        found=tuple(one.id for one in case.faults if one.id in ids),
        missed=tuple(one.id for one in case.faults if one.id not in ids),
        false=tuple(one.id for one in case.planted if one.id in ids and not one.is_fault),
        elsewhere=tuple(
            Elsewhere(one.referenced_files, one.message.strip())
            for one, planted in zip(findings, meant, strict=True)
            if planted is None
        ),
    )


def _meant(case: Case, finding: Finding, known: Collection[str]) -> Planted | None:
    """Faults are tried before things that only look like one: a finding that cites both means the
    fault. Of two faults at one place it means the one that was not reported yet."""
    parsed = (citations.parse(entry) for entry in finding.referenced_files)
    cited = tuple(one for one in parsed if one)
    by_kind = sorted(case.planted, key=lambda one: (not one.is_fault, one.id in known))
    for slack in NEARNESS:
        for one in by_kind:
            if one.is_meant(cited, finding.message, slack):
                return one
    return None


def _findings(case: Case, text: str) -> tuple[Finding, ...] | Problem:
    split = printed_reply.split(finished(text.strip().encode()), case.tag, ROUND)
    if isinstance(split, Problem):
        return split
    place = Place(subject_of(case.step), ROUND)
    found = []
    for number, (name, data) in enumerate(split.files if not split.clean else (), 1):
        read = round_files.examine(FindingName(case.tag, number), name, data, place)
        if not isinstance(read.record, Finding) or read.violations:
            return _unusable(name, read.violations)
        found.append(read.record)
    return tuple(found)


def _scored(case: Case, claim: Planted, text: str) -> Outcome | Problem:
    stem = finding_file(case.tag, 1).removesuffix(".md")
    data = finished(printed_files.unfenced(text, "score").strip().encode())
    place = Place(subject_of(case.step), ROUND)
    read = round_files.examine(SidecarName(stem, "score.yml"), sidecar_file(stem), data, place)
    if not isinstance(read.record, Sidecar) or read.violations:
        return _unusable(sidecar_file(stem), read.violations)
    kept, ids = _is_kept(claim, read.record), (claim.id,)
    return Outcome(
        name="",
        role="",
        case="",
        state="answered",
        found=ids if claim.is_fault and kept else (),
        missed=ids if claim.is_fault and not kept else (),
        false=ids if kept and not claim.is_fault else (),
    )


def _is_kept(claim: Planted, sidecar: Sidecar) -> bool:
    """As in a round. Where a person decides in any case, the threshold of correctness is used."""
    bar = THRESHOLDS.get(claim.change_type, THRESHOLDS["correctness"])
    return sidecar.score is None or sidecar.score >= bar


def _unusable(file: str, violations: tuple[Problem, ...]) -> Problem:
    why = violations[0].message if violations else "it is not what was asked for"
    return Problem("reply-malformed", why, file=file, found=why)


class Tally(NamedTuple):
    role: str
    asked: int
    answered: int
    unusable: int
    faults: int  # in what was answered, or answered unusably
    found: int
    missed: int
    harmless: int  # things in the same texts that only look like faults
    false: int
    elsewhere: int


def tallies(outcomes: Iterable[Outcome], asked: Mapping[str, Question]) -> tuple[Tally, ...]:
    by_role: dict[str, list[Outcome]] = {}
    for one in outcomes:
        by_role.setdefault(one.role, []).append(one)
    return tuple(_tally(role, listed, asked) for role, listed in by_role.items())


def _tally(role: str, listed: list[Outcome], asked: Mapping[str, Question]) -> Tally:
    heard = [one for one in listed if one.state != "absent"]
    planted = [item for one in heard for item in _asked_about(asked[one.name])]
    return Tally(
        role=role,
        asked=len(listed),
        answered=sum(one.state == "answered" for one in heard),
        unusable=sum(one.state == "unusable" for one in heard),
        faults=sum(item.is_fault for item in planted),
        found=sum(len(one.found) for one in heard),
        missed=sum(len(one.missed) for one in heard),
        harmless=sum(not item.is_fault for item in planted),
        false=sum(len(one.false) for one in heard),
        elsewhere=sum(len(one.elsewhere) for one in heard),
    )
