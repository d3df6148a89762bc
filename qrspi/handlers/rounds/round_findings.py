"""The findings of one round, to be shown; nothing is carried out here."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.model import Finding, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import finding_history, provenance, round_list, unread_files
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.finding_history import ShownFinding
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.provenance import CameBy
from qrspi.core.text import shortened
from qrspi.core.tree import Tree
from qrspi.handlers.rounds import named_round

_UNSCORED = ("reviewing", "guarded", "verifying", "failed")
_SHOWN = 300


class Findings(NamedTuple):
    shown: tuple[ShownFinding, ...] = ()
    number: int = 0
    silent: tuple[str, ...] = ()  # reviewers that it still waits for
    unscored: frozenset[str] = frozenset()  # findings without a score that it waits for
    answers: tuple[CameBy, ...] = ()
    unread: tuple[Problem, ...] = ()  # why a file is no answer


def findings(tree: Tree, subject: Subject, number: int | None) -> Findings:
    if number is None and not round_list.newest(tree, subject):
        return Findings()
    facts, loop = named_round.read(tree, subject, number)
    if loop.files is None and loop.problem:
        raise Refusal(loop.problem)
    silent = loop.files.silent_tags if loop.files and loop.stage == "reviewing" else ()
    unscored = _unscored(loop) if loop.stage in _UNSCORED else frozenset()
    config = finding_history.config_of(tree, loop, facts.config)
    if config != facts.config:
        loop = loops.at(tree, subject, config, loop.round)
    shown = tuple(_told(one, loop, unscored) for one in finding_history.shown(tree, loop, config))
    came = provenance.answers(tree, loop.files) if loop.files else ()
    unread = (*(loop.files.violations if loop.files else ()), *unread_files.of_round(loop))
    return Findings(shown, loop.round, silent, unscored, answers=came, unread=unread)


def _unscored(loop: Loop) -> frozenset[str]:
    return frozenset(
        item.finding.name
        for item in loop.triaged
        if item.verdict == "keep" and _waits(item.finding, loop)
    )


def _waits(finding: Finding, loop: Loop) -> bool:
    """For a score, or for somebody to say what becomes of one that was refused."""
    if loop.files is None:
        return False
    refused = loop.files.sidecars.get(finding.stem)
    failed = loop.stage == "failed" and refused is not None and refused.score is None
    return failed or finding.stem in loop.files.unscored


def _told(shown: ShownFinding, loop: Loop, unscored: frozenset[str]) -> ShownFinding:
    """With what the verifier says that could not score it; none is kept while that is open."""
    finding, because = shown.item.finding, shown.item.because
    refused = loop.files.sidecars.get(finding.stem) if loop.files else None
    if finding.name in unscored:
        because = "the verifier could not score it" if refused else "it has no score yet"
    if refused and refused.score is None and shown.item.verdict in ("keep", "propose"):
        because += f'; it says: "{shortened.remark(refused.reason, _SHOWN)}"'
    return shown._replace(item=shown.item._replace(because=because))
