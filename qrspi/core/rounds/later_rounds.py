"""Who is sent to a later round: everybody, or those who had something to say and one more."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core import reviewers
from qrspi.core.config.reader import Config
from qrspi.core.filenames import FindingName, RoundPaths, parse_round_file
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import round_list
from qrspi.core.tree import Tree, entries

FIRST = 3  # the round of a loop from which on `raisers` makes a difference


class Chosen(NamedTuple):
    tags: tuple[str, ...]
    because: str = ""  # '' when nobody is left out


def base(subject: Subject, records: Iterable[Record]) -> int:
    """The last round that was about another text: it was rejected, or the run went back."""
    return approvals.loop_base(records, subject.key if subject.is_task else subject.step)


def choose(
    tree: Tree, subject: Subject, config: Config, tags: tuple[str, ...], number: int, base: int
) -> Chosen:
    """Choose among those whom matrix and config.md name. Rounds up to `base` were about another
    text. The one more is another one in each round, so that in time everybody looks again."""
    if config.later_rounds != "raisers" or number - base < FIRST:
        return Chosen(tags)
    raised = raisers(tree, subject, number, base)
    quiet = [tag for tag in tags if tag not in raised and tag != reviewers.visual_tag()]
    if len(quiet) < 2:
        return Chosen(tags)
    one = quiet[(number - base - FIRST) % len(quiet)]
    left_out = [tag for tag in quiet if tag != one]
    because = f"later_rounds is raisers: not sent to round {number}, as they had no finding in "
    because += f"an earlier one, are {', '.join(left_out)}; {one} had none either and looks again"
    return Chosen(tuple(tag for tag in tags if tag not in left_out), because)


def raisers(tree: Tree, subject: Subject, number: int, base: int) -> frozenset[str]:
    """Those who wrote a finding, kept or not, in a round after `base` and before this one."""
    rounds = (one for one in round_list.rounds(tree, subject) if base < one < number)
    folders = (RoundPaths(subject.reviews, one).directory for one in rounds)
    names = (parse_round_file(entry.name) for folder in folders for entry in entries(tree, folder))
    return frozenset(name.tag for name in names if isinstance(name, FindingName))
