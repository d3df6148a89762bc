"""What the next round looks at, and who is sent: only the last fixes or the whole artifact again;
all reviewers, or those with findings and one more."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qrspi.core import reviewers
from qrspi.core.config.reader import Config
from qrspi.core.filenames import FindingName, RoundPaths, parse_round_file
from qrspi.core.model import Decision, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import round_list, scope_set
from qrspi.core.rounds.scope_set import FULL, ScopeSet
from qrspi.core.tree import Fault, Tree, entries

ScopeSetFile = ScopeSet | Problem | None  # None: the file is absent


class _Verdict(NamedTuple):
    rule: str
    narrow_to: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()


def decide(
    number: int,
    *,
    step: str,
    tagger_enabled: bool,
    flag: bool,
    previous: ScopeSetFile,
    current: ScopeSetFile,
    head_parent: str | None,
    previous_anchor: str | None,
    in_git: bool,
) -> Decision:
    """The ref of round `number` + 1; `previous` and `current` are rounds number-1 and number.
    `head_parent` is what HEAD~1 resolves to, `previous_anchor` the commit recorded for the previous
    round; each is None when it cannot be read."""
    if not tagger_enabled or step == "test":
        verdict = _Verdict("CNV-01")
    else:
        verdict = _by_sets(number, flag, previous, current)
        if verdict.narrow_to:
            verdict = _anchored(number, verdict, head_parent, previous_anchor, in_git)
        absent = _absent(number, previous, current)
        verdict = verdict._replace(diagnostics=absent + verdict.diagnostics)
    return Decision(
        round=number + 1,
        narrow=bool(verdict.narrow_to),
        rule=verdict.rule,
        scope_hint=verdict.narrow_to,
        diagnostics=verdict.diagnostics,
        consumes_flag=flag,
    )


def _by_sets(number: int, flag: bool, previous: ScopeSetFile, current: ScopeSetFile) -> _Verdict:
    if flag:
        return _Verdict("CNV-02")
    if number + 1 <= 2:
        return _Verdict("CNV-03")
    if not isinstance(previous, ScopeSet) or not isinstance(current, ScopeSet):
        return _Verdict("CNV-04")
    before, now = set(previous.tags), set(current.tags)
    if FULL in before | now:
        return _Verdict("CNV-05")
    if not before or not now:
        return _Verdict("CNV-06")
    if now == before:
        return _Verdict("CNV-07", current.tags)
    if now < before:
        return _Verdict("CNV-08", previous.tags)
    return _Verdict("CNV-09")


def _anchored(
    number: int, narrow: _Verdict, parent: str | None, anchor: str | None, in_git: bool
) -> _Verdict:
    """A narrow decision holds only while HEAD~1 is the commit of the previous round."""
    if not in_git:
        return _Verdict("CNV-10")
    if anchor and anchor == parent:
        return narrow
    line = (
        "HEAD~1 is not the prior per-round commit — broadening for round"
        f" {number + 1:02d} (expected {anchor or '(none)'}; HEAD~1 is {parent or '(none)'})"
    )
    return _Verdict("CNV-10", diagnostics=(line,))


_EARLY = (
    " (rounds 1–2 broaden by default; absence may indicate tagger failure or zero-kept-findings)"
)


def _absent(number: int, previous: ScopeSetFile, current: ScopeSetFile) -> tuple[str, ...]:
    bad = tuple(
        scope_set.malformed_line(at, file.message)
        for at, file in ((number - 1, previous), (number, current))
        if isinstance(file, Problem)
    )
    after = f" — broadening for round {number + 1:02d}{_EARLY if number <= 2 else ''}"
    if previous is None and number > 1:
        cause = f"Round {number - 1:02d} scope-set absent (no earlier scope-tagger output?)"
        return (cause + after, *bad)
    if current is None:
        return (f"Round {number:02d} scope-set absent{after}", *bad)
    return bad


# What people are told; the rule's id is for programs.
REASONS = {
    "CNV-01": "this step keeps no scope sets",
    "CNV-02": "an earlier artifact was reworked, so everything is looked at again",
    "CNV-03": "the first two rounds look at everything",
    "CNV-04": "a scope set that it takes to compare two rounds is not there",
    "CNV-05": "a finding was about the whole artifact",
    "CNV-06": "one of the last two rounds kept no finding",
    "CNV-07": "the last two rounds were about the same parts",
    "CNV-08": "the last round was about fewer parts than the one before",
    "CNV-09": "the last round was about parts that the one before was not",
    "CNV-10": "the commit before HEAD is not that of the previous round",
}


def flag_persists(number: int) -> str:
    return (
        f"Round {number:02d}: backward-loop flag delete failed — flag persists;"
        " manual remove may be required"
    )


def anchor(content: bytes | Fault) -> str | None:
    """The commit that `round-NN-commit.txt` names; None when it cannot be read as one."""
    match = None if isinstance(content, Fault) else re.fullmatch(rb"([0-9a-f]{40})\s*", content)
    return match[1].decode() if match else None


FIRST_OF_RAISERS = 3  # the round of a loop from which on `raisers` makes a difference


class ChosenReviewers(NamedTuple):
    tags: tuple[str, ...]
    because: str = ""  # '' when nobody is left out


def base_of(subject: Subject, records: Iterable[Record]) -> int:
    """The last round about another text, before a rejection or a step back."""
    return approvals.loop_base(records, subject.key if subject.is_task else subject.step)


def choose_reviewers(
    tree: Tree, subject: Subject, config: Config, tags: tuple[str, ...], number: int, base: int
) -> ChosenReviewers:
    """`tags` are those that the matrix and config.md name; rounds up to `base` were about another
    text. The additional reviewer changes from round to round, so in time everybody looks again."""
    if config.later_rounds != "raisers" or number - base < FIRST_OF_RAISERS:
        return ChosenReviewers(tags)
    raised = raisers(tree, subject, number, base)
    quiet = [tag for tag in tags if tag not in raised and tag != reviewers.visual_tag()]
    if len(quiet) < 2:
        return ChosenReviewers(tags)
    again = quiet[(number - base - FIRST_OF_RAISERS) % len(quiet)]
    left_out = [tag for tag in quiet if tag != again]
    because = f"later_rounds is raisers: not sent to round {number}, as they had no finding in "
    because += f"an earlier one, are {', '.join(left_out)}; {again} had none either and looks again"
    return ChosenReviewers(tuple(tag for tag in tags if tag not in left_out), because)


def raisers(tree: Tree, subject: Subject, number: int, base: int) -> frozenset[str]:
    """The reviewers with a finding, kept or not, in a round after `base` and before this one."""
    rounds = (one for one in round_list.rounds(tree, subject) if base < one < number)
    folders = (RoundPaths(subject.reviews, one).directory for one in rounds)
    names = (parse_round_file(entry.name) for folder in folders for entry in entries(tree, folder))
    return frozenset(name.tag for name in names if isinstance(name, FindingName))
