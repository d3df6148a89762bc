"""A case of the trial in data/trial: texts for one reviewer, and the faults that were planted in
them. A reviewer is asked about a case, a verifier about each claim."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from qrspi.core.agents import prompts, roles
from qrspi.core.agents.prompt_lines import UNKNOWN_MODEL
from qrspi.core.agents.prompts import Parts, Reviewer, Source, Verifier
from qrspi.core.agents.roles import Role
from qrspi.core.digest import sha256
from qrspi.core.filenames import finding_file, sidecar_file
from qrspi.core.model import ChangeType, Severity
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.citations import Citation

# How many lines a citation may be off: a reviewer may cite the heading above a place, or the line
# below it.
NEARNESS = (0, 1)


class Planted(NamedTuple):
    """A fault, or something that only looks like one."""

    id: str
    is_fault: bool
    places: tuple[Citation, ...]
    says: tuple[str, ...]  # where a place is not enough: one of these words is in the message
    but_not: tuple[str, ...]
    severity: Severity
    change_type: ChangeType
    claim: str  # as a reviewer would report it, rightly or wrongly
    why: str  # why it is a fault, or none

    def is_meant(self, cited: tuple[Citation, ...], message: str, slack: int = 0) -> bool:
        told = message.lower()
        if self.says and not any(word in told for word in self.says):
            return False
        if any(word in told for word in self.but_not):
            return False
        return any(_touch(place, one, slack) for place in self.places for one in cited)


def _touch(place: Citation, cited: Citation, slack: int) -> bool:
    if place.path != cited.path.removeprefix("./"):
        return False
    if place.start is None or place.end is None:
        return True
    if cited.start is None or cited.end is None:
        return False
    return cited.start - slack <= place.end and place.start <= cited.end + slack


class Case(NamedTuple):
    name: str
    role: str
    step: str
    artifact: str
    body: tuple[str, ...]  # what is under review
    upstream: tuple[str, ...]
    planted: tuple[Planted, ...]
    files: Mapping[str, bytes]  # all of them, images too

    @property
    def tag(self) -> str:
        return f"{self.role.removeprefix('reviewer-')}-claude"

    @property
    def is_about_code(self) -> bool:
        return self.artifact not in self.body

    @property
    def faults(self) -> tuple[Planted, ...]:
        return tuple(one for one in self.planted if one.is_fault)


def read(name: str, text: bytes, files: Mapping[str, bytes]) -> Case:
    """Our own data: a mistake in it is a bug, and a KeyError or ValueError says where."""
    table = json.loads(text)
    assert roles.is_name(table["role"]), name
    return Case(
        name=name,
        **{key: table[key] for key in ("role", "step", "artifact")},
        body=tuple(table["body"]),
        upstream=tuple(table["upstream"]),
        planted=tuple(_planted(item, files) for item in table["items"]),
        files=files,
    )


def _planted(item: Mapping[str, Any], files: Mapping[str, bytes]) -> Planted:
    return Planted(
        is_fault=item["fault"],
        places=tuple(_place(files, *place) for place in item["at"]),
        says=tuple(item.get("says", ())),
        but_not=tuple(item.get("but_not", ())),
        **{key: item[key] for key in ("id", "severity", "change_type", "claim", "why")},
    )


def _place(
    files: Mapping[str, bytes], path: str, first: str | None, last: str | None = None
) -> Citation:
    """Lines are named by words in them, so a place stays right when the text is edited."""
    if first is None:
        return Citation(path) if path in files else Citation(_missing(path, "the file"))
    lines = files[path].decode().split("\n")
    start = _only(lines, path, first)
    if last is None:
        return Citation(path, start, start)
    end = next((at for at, line in enumerate(lines, 1) if at >= start and last in line), 0)
    return Citation(path, start, end or _missing(path, last))


def _only(lines: list[str], path: str, words: str) -> int:
    found = [at for at, line in enumerate(lines, 1) if words in line]
    if len(found) != 1:
        raise ValueError(f"{path}: {words!r} is in {len(found)} lines, expected one")
    return found[0]


def _missing(path: str, words: str) -> Any:
    raise ValueError(f"{path}: {words!r} is not there")


VERIFIER = "verifier"
ROUND = 1


class Question(NamedTuple):
    name: str  # of its file and of the answer's: quality-plan, verify-3f9a2c
    role: Role
    case: Case
    claim: Planted | None = None  # a verifier's


def questions(
    cases: Iterable[Case], role: Callable[[str], Role], only: tuple[str, ...] = ()
) -> Iterator[Question]:
    """Reviewers first. `only` limits it to these roles."""
    listed = tuple(cases)
    for case in listed:
        if not only or case.role in only:
            yield Question(case.name, role(case.role), case)
    if only and VERIFIER not in only:
        return
    claims = ((claim_name(case, one), case, one) for case in listed for one in case.planted)
    for name, case, claim in sorted(claims, key=lambda known: known[0]):
        yield Question(name, role(VERIFIER), case, claim)


def claim_name(case: Case, claim: Planted) -> str:
    """Neither the name nor the order by it says which text it is about, or whether it is true."""
    return f"verify-{sha256(f'{case.name} {claim.id}'.encode()).hexdigest()[:6]}"


def told(asked: Question, rules: str, parts: Parts, place: str, model: str = "") -> str:
    """The prompt. `place` is the absolute folder of the case's files; a verifier judges by `rules`,
    the text of the reviewer's role."""
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
    file = claim_file(case)
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


def claim_file(case: Case) -> str:
    return f"reviews/{finding_file(case.tag, 1)}"


def material(asked: Question) -> dict[str, bytes]:
    """All that the agent may open, without anything about what is planted."""
    claim = {claim_file(asked.case): finding(asked.case, asked.claim)} if asked.claim else {}
    return {**asked.case.files, **claim}


def finding(case: Case, claim: Planted) -> bytes:
    """True and false claims look alike: all have one severity, since harmless things were given the
    lower ones."""
    cited = ", ".join(dict.fromkeys(_cited(place) for place in claim.places[:2]))
    return f"""\
---
finding_id: R{ROUND}-F01
severity: medium
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
