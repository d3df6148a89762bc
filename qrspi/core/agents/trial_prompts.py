"""What the agents of a trial are asked: a reviewer about a case, a verifier about each claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from qrspi.core.agents import prompts
from qrspi.core.agents.prompt_lines import UNKNOWN_MODEL
from qrspi.core.agents.prompts import Parts, Reviewer, Source, Verifier
from qrspi.core.agents.roles import Role
from qrspi.core.agents.trial_case import Case, Planted
from qrspi.core.filenames import finding_file, sidecar_file
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.citations import Citation

VERIFIER = "verifier"
ROUND = 1


class Question(NamedTuple):
    """One prompt, and whom it is for."""

    name: str  # of its file and of the answer's: quality-plan, quality-plan.verify-a
    role: Role
    case: Case
    claim: Planted | None = None  # a verifier's


def questions(
    cases: Iterable[Case], role: Callable[[str], Role], only: tuple[str, ...] = ()
) -> Iterator[Question]:
    """Reviewers first. `only`: these roles."""
    listed = tuple(cases)
    for case in listed:
        if not only or case.role in only:
            yield Question(case.name, role(case.role), case)
    if only and VERIFIER not in only:
        return
    for case in listed:
        for claim in case.planted:
            yield Question(f"{case.name}.verify-{claim.id}", role(VERIFIER), case, claim)


def told(asked: Question, rules: str, parts: Parts, place: str, model: str = "") -> str:
    """The prompt. `place` is the absolute folder in which the case's files lie, `rules` the text of
    the reviewer's role: a verifier judges by it."""
    if asked.claim:
        return prompts.verifier_prompt(_verifier(asked, asked.claim, rules, place, model), parts)
    return prompts.reviewer_prompt(_reviewer(asked, place, model), parts)


def _reviewer(asked: Question, place: str, model: str) -> Reviewer:
    case = asked.case
    return Reviewer(
        role=asked.role,
        tag=case.tag,
        step=case.step,
        round=ROUND,
        round_subdir="",
        body=_sources(case, case.body),
        body_name="subject_code" if case.is_about_code else "artifact_body",
        artifact_path=f"{place}/{case.artifact}",
        worktree=place if case.is_about_code else "",
        upstream=_sources(case, case.upstream),
        upstream_paths=tuple(f"{place}/{path}" for path in case.upstream),
        actual_model=model,
        prints=True,
    )


def _verifier(asked: Question, claim: Planted, rules: str, place: str, model: str) -> Verifier:
    case = asked.case
    file = f"reviews/{finding_file(case.tag, 1)}"
    others = _sources(case, dict.fromkeys((*case.body, *case.upstream)))
    return Verifier(
        role=asked.role,
        step=case.step,
        rules=rules,
        finding=f"{case.tag}.R{ROUND}-F01",
        finding_file_path=f"{place}/{file}",
        sidecar_path=f"{place}/{sidecar_file(file.removesuffix('.md'))}",
        artifact_path=f"{place}/{case.artifact}",
        worktree=place if case.is_about_code else "",
        upstream_paths=tuple(f"{place}/{path}" for path in case.upstream),
        sources=(Source(file, finding(case, claim)), *others),
        actual_model=model,
        prints=True,
    )


def finding(case: Case, claim: Planted) -> bytes:
    """A claim as the file of a finding: true ones and others look alike."""
    cited = ", ".join(dict.fromkeys(_cited(place) for place in claim.places[:2]))
    return f"""\
---
finding_id: R{ROUND}-F01
severity: {claim.severity}
change_type: {claim.change_type}
referenced_files: [{cited}]
artifact: {case.step}
round: {ROUND}
reviewer: {case.tag}
actual_model: {UNKNOWN_MODEL}
---
{claim.claim}
""".encode()


def _cited(place: Citation) -> str:
    if place.start is None:
        return place.path
    lines = f"L{place.start}" if place.end == place.start else f"L{place.start}-L{place.end}"
    return f"{place.path}:{lines}"


def _sources(case: Case, paths: Iterable[str]) -> tuple[Source, ...]:
    return tuple(Source(path, case.files[path]) for path in paths)
