"""The answers of a round, each with how it came there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from qrspi.core.findings.submission import HINTS, in_order
from qrspi.core.model import Problem, Round
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import audit_trail, evidence
from qrspi.core.records.evidence import Evidence
from qrspi.core.tree import Fault, Tree


class CameBy(NamedTuple):
    file: str  # run-relative
    evidence: Evidence
    reply: str = ""  # sha256 of what came back, or was handed in


def of_round(tree: Tree, read: Round) -> tuple[CameBy, ...]:
    """Findings, clean sentinels and scores, by name."""
    known = evidence.origins(audit_trail.lines(tree))
    return tuple(_came(tree, f"{read.directory}/{name}", known) for name in sorted(_names(read)))


def _names(read: Round) -> Iterator[str]:
    yield from (one.file for one in read.findings)
    yield from (one.file for one in read.cleans)
    yield from (one.file for one in read.sidecars.values())


def _came(tree: Tree, path: str, known: evidence.Origins) -> CameBy:
    data = tree.read(path)
    digest = "" if isinstance(data, Fault) else hashlib.sha256(data).hexdigest()
    found = evidence.of_answer(known, path, digest)
    return CameBy(path, found.evidence, found.reply)


def only_dispatched(tree: Tree, read: Round) -> Round:
    """For a run that lets only those count: any other is a violation, which its writer cannot put
    right, and which `retry` has made again."""
    wrong = tuple(_refused(one) for one in of_round(tree, read) if one.evidence != "dispatched")
    return read._replace(
        violations=in_order((*read.violations, *wrong)),
        blocking=in_order((*read.blocking, *wrong)),
    )


def _refused(answer: CameBy) -> Problem:
    return Problem(
        "not_dispatched",
        f"{answer.file}: it was {answer.evidence.replace('-', ' ')}, and config.md lets only what "
        "qrspi sent for count; expected an answer that was dispatched",
        file=answer.file,
        found=answer.evidence,
        expected="dispatched",
        hint=HINTS["not_dispatched"],
    )
