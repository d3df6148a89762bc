"""What follows a closed round: the human gate, another round, or a question."""

from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths, loop_choice
from qrspi.core.hints import Literal
from qrspi.core.model import Problem, Unseen
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records import approvals
from qrspi.core.records.decisions import UNRECORDED
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import round_list
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.round_list import Cap
from qrspi.core.steps.facts import Facts, changed_by_hand
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter

CASCADING = ("questions", "research", "plan")
UNASKED = "recommended default, nobody was asked"  # how `loop.md` says who chose
CONFIGURED = "review_mode in config.md is loop"


class Choice(NamedTuple):
    """What `loop.md` remembers: the answer given after round 1, and where caps start again."""

    mode: str = ""  # present, loop, or '' when nobody was asked yet
    caps_from: int = 0
    again_after: int = 0  # the round after which a person wanted another one


class Gate(NamedTuple):
    # ask: present, or loop on? ask-again: the same, of a person and nobody else
    then: Literal["approve", "prepare", "ask", "ask-again", "cap", "cascade"]
    review: str  # how reviews stand, in words for people
    clean: bool = False
    cap: Cap | None = None


def read_choice(tree: Tree, subject: Subject) -> Choice:
    fields = frontmatter.fields(tree.head(loop_choice(subject.reviews)))
    mode = frontmatter.text(fields, "mode") or ""
    known = mode if mode in ("present", "loop") else ""
    return Choice(known, *(frontmatter.number(fields, key) for key in Choice._fields[1:]))


def review_status(loop: Loop) -> tuple[str, bool]:
    """The sentence that goes with every approval, and whether it says clean."""
    number = loop.round
    if loop.imported and loop.stage == "closed":
        from qrspi.core.rounds import provenance

        return provenance.sentence(loop), False
    unproven = loop.manifest is None and (loop.clean or loop.kept == 0)
    if not number or loop.stage != "closed" or unproven:
        return "Not reviewed", False
    if not loop.is_proven:
        return f"Round {number} is unproven: no record says that qrspi opened it", False
    if loop.clean and loop.fresh:
        return f"Reviews passed clean in round {number}", True
    if loop.clean:
        changed = loop.moved or "the text has changed since"
        return f"Reviews passed clean in round {number}; {changed} and is not re-verified", False
    if loop.kept == 0:
        return _without_findings(loop), False
    sentence = f"Reviews found issues in round {number}"
    if loop.settled:
        moved = f"; {loop.moved}" if loop.moved else ""
        return f"{sentence} which were skipped by a person{moved}", False
    if not loop.to_apply:
        by = "a dispositions file" if not loop.unrecorded else "a pause file"
        return f"{sentence}, closed by {by}; {UNRECORDED}", False
    if loop.fresh:
        return f"{sentence}; the text was not changed", False
    return f"{sentence} which were fixed but not re-verified", False


def _without_findings(loop: Loop) -> str:
    """A round without kept findings that is not clean: somebody went on without it."""
    if loop.skipped and "skip" in loop.decided.menu:
        return f"Round {loop.round} was skipped by a person"
    how = f"skipped by {loop.paths.skipped}" if loop.skipped else "closed by a dispositions file"
    return f"Round {loop.round} was {how}; {UNRECORDED}"


def standing(facts: Facts, loop: Loop) -> tuple[str, bool]:
    """The same for a step that somebody approves at any stage. While a round is open, the round
    before it decides, unless that one was clean."""
    is_before = is_before_rewind(facts, loop)
    if not is_before and is_open(loop) and (before := _before(facts, loop)):
        review, clean = review_status(before)
        return (review, False) if not clean else ("Not reviewed", False)
    return at_gate(facts, loop)


def at_gate(facts: Facts, loop: Loop) -> tuple[str, bool]:
    """How the reviews of a closed loop stand for a person."""
    review, clean = review_status(loop)
    if not is_before_rewind(facts, loop):
        return review, clean
    return f"{review}, before the rewind; not reviewed since" if clean else "Not reviewed", False


def is_before_rewind(facts: Facts, loop: Loop) -> bool:
    """Such a review says nothing, since what the step was built on may have changed."""
    entry = approvals.newest(facts.records, facts.step)
    return entry is not None and entry.event == "rewind" and loop.round <= facts.base


def is_settled(facts: Facts, loop: Loop) -> bool:
    """A person decided about all findings, and wants none applied."""
    return loop.settled and not is_before_rewind(facts, loop)


def is_open(loop: Loop) -> bool:
    return loop.round > 0 and loop.stage not in ("none", "closed", "abandoned")


def _before(facts: Facts, loop: Loop) -> Loop | None:
    """The round before the open one, if it belongs to the same loop."""
    own = (number for number in round_list.rounds(facts.tree, loop.subject) if number < loop.round)
    number = max(own, default=0)
    if number <= facts.base:
        return None
    before = loops.at(facts.tree, loop.subject, facts.config, number, records=facts.records)
    return before._replace(clean=before.kept == 0 and not before.skipped)


def after_closed(facts: Facts, loop: Loop) -> Gate:
    tree, base = facts.tree, facts.base
    review, clean = at_gate(facts, loop)
    if loop.round <= base and not loop.fresh:
        return Gate("prepare", review)  # it was another text, in an earlier loop
    if loop.imported:
        return Gate("prepare", review)  # nobody here has looked at the text
    if clean:
        fires = cascades(facts, loop)
        return Gate("cascade" if fires else "approve", review, True)
    choice, is_before = read_choice(tree, loop.subject), is_before_rewind(facts, loop)
    if loop.clean and not is_before:
        return Gate("prepare", review)
    if loop.round == choice.again_after and (is_before or loop.round > base):
        return Gate("prepare", review)
    if is_before or loop.fresh or not loop.to_apply:
        return Gate("approve", review)
    if not choice.mode:
        return Gate("ask", review)
    if choice.mode == "present":
        return Gate("approve", review)
    if _goes_no_further(facts, loop, choice):
        return Gate("ask-again", review)
    since = max(base, choice.caps_from, _last_imported(facts, loop))
    cap = round_list.cap(tree, loop.subject, since)
    return Gate("cap", review, cap=cap) if cap else Gate("prepare", review)


def _goes_no_further(facts: Facts, loop: Loop, choice: Choice) -> bool:
    """A quick run corrects by itself, once, what it approves by itself. If the second round keeps
    findings too, a person says how it goes on."""
    second = facts.base + 2
    answered = max(choice.again_after, choice.caps_from)
    cascading = facts.config.pipeline == "quick" and loop.subject.key in CASCADING
    return cascading and loop.round >= second > answered


def cascades(facts: Facts, loop: Loop) -> bool:
    """Whether a clean round may approve its step without a person. Kept findings are counted from
    the files, never taken from what a file says about itself. A person who took the step back wants
    to see it again."""
    read, config = loop.files, facts.config
    return (
        config.pipeline == "quick"
        and config.cascade == "on"
        and loop.subject.key in CASCADING
        and loop.stage == "closed"
        and loop.clean
        and loop.fresh
        and loop.kept == 0
        and loop.manifest is not None
        and loop.opening == "opened"
        and (loop.manifest.step, loop.manifest.round) == (loop.subject.key, loop.round)
        and loop.pause is None
        and not loop.skipped
        and _early_enough(facts, loop)
        and not approvals.is_objected_to(facts.records, loop.subject.key)
        and read is not None
        and _all_sent_and_answered(loop, config)
        and not _nobody_read(facts, loop)
        and not remarks(loop)
        and not _last_imported(facts, loop)
        and not loop.manifest.unseen
        and not changed_by_hand(facts)
        and not _odd_record(facts)
    )


def _nobody_read(facts: Facts, loop: Loop) -> bool:
    """Whether a file of the loop may be a finding under a wrong name."""
    from qrspi.core.rounds import unread_files

    return bool(unread_files.of_loop(facts.tree, loop.subject, facts.config, facts.base))


def _last_imported(facts: Facts, loop: Loop) -> int:
    from qrspi.core.records import import_record

    return import_record.last(facts.tree, loop.subject.reviews)


_SHOWN = 300


def remarks(loop: Loop) -> tuple[str, ...]:
    """Long remarks of reviewers that found nothing; a person reads them before anything passes."""
    from qrspi.core.findings import clean
    from qrspi.core.text import shortened

    return tuple(
        f'{loop.paths.directory}/{one.file} says besides: "{shortened.remark(text, _SHOWN)}"'
        for one in (loop.files.cleans if loop.files else ())
        if (text := clean.remark(one))
    )


def to_know(facts: Facts, loop: Loop) -> tuple[str, ...]:
    return (*remarks(loop), *unseen(loop), *_went_back(facts, loop), *_by_hand(facts))


def _went_back(facts: Facts, loop: Loop) -> tuple[str, ...]:
    """Why a clean round of a quick run waits, where others of its kind do not."""
    config, step = facts.config, loop.subject.key
    alone = config.pipeline == "quick" and config.cascade == "on" and step in CASCADING
    if alone and loop.clean and loop.fresh and approvals.is_objected_to(facts.records, step):
        return ("A person went back to it, so a person approves it",)
    return ()


def _by_hand(facts: Facts) -> tuple[str, ...]:
    return tuple(problem.message for problem in (*changed_by_hand(facts), *_odd_record(facts)))


def _odd_record(facts: Facts) -> tuple[Problem, ...]:
    # Imported here: only where a person is asked, or nobody need be.
    from qrspi.core.records import vanished

    return (*vanished.cut_record(facts.tree), *vanished.put_by_hand(facts.tree))


def unseen(loop: Loop) -> tuple[str, ...]:
    """Changed files that not every reviewer could read: a person looks at them."""
    found = loop.manifest.unseen if loop.manifest else ()
    return tuple(map(_not_read, found))


def _not_read(unseen: Unseen) -> str:
    from qrspi.core.text import shortened

    path, digest, commit = (
        shortened.remark(one, _SHOWN) for one in (unseen.path, unseen.sha256, unseen.commit)
    )
    if not path:
        return f"No reviewer could read {unseen.size} more files"
    if unseen.cut:
        return (
            f"The change of '{path}' is too long for a prompt: whoever opens no files was not "
            f"shown {unseen.cut} bytes of it"
        )
    what = f"binary ({unseen.size} bytes, sha256 {digest})" if digest else "deleted"
    what = f"a submodule, now at commit {commit}" if commit else what
    return f"No reviewer could read '{path}', which is {what}"


def _all_sent_and_answered(loop: Loop, config: Config) -> bool:
    """Whether every reviewer that the matrix names was sent and has written. The manifest's own
    list counts only for what it leaves out."""
    from qrspi.core import reviewers

    assert loop.manifest is not None
    heard = set(loop.answered) & set(loop.manifest.expected_tags)
    return heard >= set(reviewers.expected_tags(loop.subject, config))


def _early_enough(facts: Facts, loop: Loop) -> bool:
    """Round 1 of the loop, or round 2 when round 1's findings were fixed."""
    base = facts.base
    if loop.round == base + 2:
        first = RoundPaths(loop.subject.reviews, base + 1)
        return not isinstance(facts.tree.head(first.dispositions), Fault)
    return loop.round == base + 1
