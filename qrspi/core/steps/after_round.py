"""What follows a closed round: the human gate, another round, or a question."""

from typing import NamedTuple

from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths, loop_choice
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.records import approvals
from qrspi.core.rounds import caps
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.caps import Cap
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter

CASCADING = ("questions", "research", "plan")


class Choice(NamedTuple):
    """What `loop.md` remembers: the answer given after round 1, and where caps restart."""

    mode: str = ""  # present, loop, or '' when nobody was asked yet
    caps_from: int = 0


class Gate(NamedTuple):
    """`then` is approve, prepare, ask (the question after round 1), cap or cascade."""

    then: str
    review: str  # how reviews stand, in the words a person reads
    clean: bool = False
    cap: Cap | None = None


def read_choice(tree: Tree, subject: Subject) -> Choice:
    data = tree.head(loop_choice(subject.reviews))
    front = None if isinstance(data, Fault) else frontmatter.read(data)
    if front is None or isinstance(front, Problem):
        return Choice()
    mode = frontmatter.text(front.fields, "mode") or ""
    since = frontmatter.text(front.fields, "caps_from") or "0"
    known = mode if mode in ("present", "loop") else ""
    return Choice(known, int(since) if since.isdecimal() and len(since) < 6 else 0)


def review_status(loop: Loop) -> tuple[str, bool]:
    """The sentence that goes with every approval, and whether it says clean."""
    number = loop.number
    unproven = loop.manifest is None and (loop.clean or loop.kept == 0)
    if not number or loop.stage != "closed" or unproven:
        return "Not reviewed", False
    if loop.clean and loop.fresh:
        return f"Reviews passed clean in round {number}", True
    if loop.clean:
        return f"Reviews passed clean in round {number}; the text is not re-verified since", False
    if loop.kept == 0:
        return f"Round {number} was skipped by a person", False
    found = f"Reviews found issues in round {number}"
    if not loop.to_apply:
        return f"{found} which were skipped by a person", False
    if loop.fresh:
        return f"{found}; the text was not changed", False
    return f"{found} which were fixed but not re-verified", False


def standing(facts: Facts, loop: Loop) -> tuple[str, bool]:
    """The same for a step that somebody approves, whatever stage it is at. What it was built on
    may have changed since a rewind, so a review from before it says nothing; and while a round
    is open, the one before it has the last word, unless that was clean."""
    entry = approvals.newest(facts.records, facts.step)
    if entry and entry.event == "rewind" and loop.number <= facts.base:
        return "Not reviewed", False
    if is_open(loop) and (before := _before(facts, loop)):
        review, clean = review_status(before)
        return (review, False) if not clean else ("Not reviewed", False)
    return review_status(loop)


def is_open(loop: Loop) -> bool:
    return loop.number > 0 and loop.stage not in ("none", "closed", "abandoned")


def _before(facts: Facts, loop: Loop) -> Loop | None:
    """The round before the open one, if it belongs to the same loop."""
    own = (number for number in loops.rounds(facts.tree, loop.subject) if number < loop.number)
    number = max(own, default=0)
    if number <= facts.base:
        return None
    before = loops.at(facts.tree, loop.subject, facts.config, number)
    return before._replace(clean=before.kept == 0 and not before.skipped)


def after_closed(tree: Tree, loop: Loop, config: Config, base: int) -> Gate:
    """The decision at the end of a closed round."""
    review, clean = review_status(loop)
    if loop.number <= base and not loop.fresh:
        return Gate("prepare", review)  # another text, in a new loop
    if clean:
        fires = cascades(tree, loop, config, base)
        return Gate("cascade" if fires else "approve", review, True)
    if loop.clean:
        return Gate("prepare", review)
    if loop.fresh or not loop.to_apply:
        return Gate("approve", review)
    choice = read_choice(tree, loop.subject)
    if not choice.mode:
        return Gate("ask", review)
    if choice.mode == "present":
        return Gate("approve", review)
    cap = caps.reached(caps.counted(tree, loop.subject, max(base, choice.caps_from)))
    return Gate("cap", review, cap=cap) if cap else Gate("prepare", review)


def cascades(tree: Tree, loop: Loop, config: Config, base: int) -> bool:
    """Whether a clean round may approve its step without a person. The count of kept
    findings is the one just taken from the files, never what a file says of itself."""
    read = loop.round
    return (
        config.pipeline == "quick"
        and loop.subject.key in CASCADING
        and loop.stage == "closed"
        and loop.clean
        and loop.fresh
        and loop.kept == 0
        and loop.manifest is not None
        and (loop.manifest.step, loop.manifest.round) == (loop.subject.key, loop.number)
        and loop.pause is None
        and not loop.skipped
        and _early_enough(tree, loop, base)
        and read is not None
        and _all_sent_and_answered(loop, config)
        and not any(warning.code == "unknown_file" for warning in read.warnings)
    )


def _all_sent_and_answered(loop: Loop, config: Config) -> bool:
    """Everybody the matrix names was sent and has written: of the manifest's own list only what
    it leaves out is believed."""
    from qrspi.core import reviewers as matrix

    assert loop.round is not None and loop.manifest is not None
    wrote = {finding.tag for finding in loop.round.findings}
    wrote |= {clean.tag for clean in loop.round.cleans}
    return wrote & set(loop.manifest.expected_tags) >= set(
        matrix.expected_tags(loop.subject, config)
    )


def _early_enough(tree: Tree, loop: Loop, base: int) -> bool:
    """Round 1 of the loop, or round 2 when round 1's findings were fixed."""
    if loop.number == base + 2:
        first = RoundPaths(loop.subject.reviews, base + 1)
        return not isinstance(tree.head(first.dispositions), Fault)
    return loop.number == base + 1


def rationale(number: int, base: int) -> str:
    return "initial-clean" if number - base == 1 else "first-fix-clean"
