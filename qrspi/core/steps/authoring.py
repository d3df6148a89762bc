"""When a step's text must be written, and by whom."""

from __future__ import annotations

from qrspi.core.filenames import feedback_file
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Ask, Next, counted
from qrspi.core.pipeline import STEP, subject_of, upstream
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.artifacts.inquiry import QuestionGroup
    from qrspi.core.steps.research_sources import OpenQuestions

# What `init` writes before a person has said anything, in the shape that its author is told.
EMPTY_GOALS = """---
status: draft
---

# Goals

What this is about, and for whom.

## G1 Short name

Type: known-fix or exploratory

**Problem**:

**Why we care**:

**What we know so far**:

## Limits we must keep

-

## Not wanted

-

## Open points

-
"""
# What earlier versions wrote
_WITH_CRITERIA = EMPTY_GOALS.replace("Type: known-fix or exploratory\n\n", "").replace(
    "## Limits", "**Done when**:\n\n## Limits"
)
_HEADINGS = b"""
# Goals

Say in plain words what should be true when this run is done.

## What we want

-

## Why we care

-

## What we know so far

-

## Limits we must keep

-
"""


def needed(facts: Facts) -> tuple[str, ...]:
    """Why somebody must write the artifact; empty when the text can be reviewed."""
    artifact = STEP[facts.step].artifact
    if facts.statuses.get(facts.step) == "missing":
        return (f"{artifact} does not exist",)
    data = facts.tree.read(artifact)
    if isinstance(data, Fault):
        return ()
    if facts.step == "goals" and _is_empty_draft(data):
        return (f"{artifact} is still the empty draft that init wrote",)
    if path := rejected_by(facts, data):
        return (f"{artifact} is still the text that {path} rejects",)
    if is_returned(facts):
        return (f"{artifact} was returned to draft and has not changed since",)
    return _outdated(facts) if facts.step == "research" else ()


def is_returned(facts: Facts) -> bool:
    entry = approvals.newest(facts.records, facts.step)
    if entry is None or entry.event not in ("rewind", "phase"):
        return False
    subject = subject_of(facts.step)
    if not step_text.may_be_unchanged(facts.tree, subject, entry.body_hash):
        return False
    from qrspi.core.rounds import round_list

    # Unless a person had it reviewed as it is.
    return round_list.highest(facts.tree, subject) <= entry.round


def _outdated(facts: Facts) -> tuple[str, ...]:
    if not any(record.made for record in approvals.newest_first(facts.records, approvals.MADE)):
        return ()
    from qrspi.core.steps import research_sources

    files = sorted(research_sources.outdated(facts.tree, facts.records))
    if STEP["research"].artifact in files:
        return (f"{STEP['research'].artifact} is from before the answers changed",)
    return (f"{', '.join(files)}: the question has changed since",) if files else ()


def _is_empty_draft(goals: bytes) -> bool:
    drafts = (EMPTY_GOALS.encode(), _WITH_CRITERIA.encode(), _HEADINGS)
    return frontmatter.text_of(goals) in map(frontmatter.text_of, drafts)


_RETURNS = {"reject": "rejected", "rewind": "returned to draft", "unapprove": "taken back"}


def returned(facts: Facts) -> str:
    """Who sent the text back and when, said before what is asked for now."""
    entry = approvals.newest(facts.records, facts.step)
    word = _RETURNS.get(entry.event) if entry else ""
    if entry is None or not word:
        return ""
    artifact = STEP[facts.step].artifact
    path = _words_with(facts, entry)
    read = f": read {path}" if path else ""
    return f"{artifact} was {word}{_signed(entry)}{read}. "


def _words_with(facts: Facts, entry: Record) -> str:
    """The words of whoever sent it back."""
    return entry.feedback or rejected_by(facts, facts.tree.read(STEP[facts.step].artifact))


def _signed(entry: Record) -> str:
    by = f" by {entry.person}" if entry.person else ""
    return f"{by} on {entry.when[:10]}" if entry.when else by


def _to_write(facts: Facts) -> str:
    """What became of an earlier text is asked of git only where one was reviewed or decided
    about."""
    artifact, entry = STEP[facts.step].artifact, approvals.newest(facts.records, facts.step)
    if facts.statuses.get(facts.step) != "missing":
        return f"{returned(facts)}Write {artifact}"
    if entry:
        word = {"approve": "approved", **_RETURNS}.get(entry.event, "")
        before = f"was {word}{_signed(entry)}" if word else ""
    else:
        from qrspi.core.rounds import round_list

        reviewed = round_list.newest(facts.tree, subject_of(facts.step))
        before = f"was reviewed in round {reviewed}" if reviewed else ""
    if not before:
        return f"Write {artifact}"
    command = facts.tree.to_restore(artifact)
    back = f"bring it back with `{command}`, or write it anew" if command else "write it anew"
    return f"{artifact}, which {before}, is gone: {back}"


def newest_feedback(tree: Tree, step: str) -> str:
    from qrspi.core.records import feedback

    number = feedback.newest(tree, step)
    return feedback_file(step, number) if number else ""


def rejected_by(facts: Facts, artifact: bytes | Fault) -> str:
    """The newest feedback, if the artifact is still the text that it rejects."""
    if "feedback" not in facts.names or isinstance(artifact, Fault):
        return ""
    from qrspi.core.records import feedback

    path = newest_feedback(facts.tree, facts.step)
    data = facts.tree.read(path) if path else Fault("absent")
    if isinstance(data, Fault) or not feedback.quotes(data, artifact):
        return ""
    return "" if _is_changed_beside(facts, path) else path


def _is_changed_beside(facts: Facts, path: str) -> bool:
    """The words may be about a task alone. The summary of research is written anew from answers."""
    entry = approvals.newest(facts.records, facts.step)
    if entry is None or entry.feedback != path or not entry.body_hash or facts.step == "research":
        return False
    subject = subject_of(facts.step)
    return not step_text.may_be_unchanged(facts.tree, subject, entry.body_hash)


def asked(facts: Facts, why: tuple[str, ...]) -> Next:
    if facts.step == "research":
        # Only a run at its research pays for reading questions.
        from qrspi.core.steps import research_sources

        found = research_sources.asked(facts)
        if found.inquiry.open:
            return _answers(facts, why, found)
        why += found.inquiry.not_dispatched
    inputs = [*upstream(facts.step, facts.route, facts.names), *_as_it_is(facts)]
    if "feedback" in facts.names:
        sources = (_why_reset(facts), newest_feedback(facts.tree, facts.step))
        inputs += filter(None, (*dict.fromkeys(sources), *_comments(facts)))
    return Next(
        action="author",
        who="human" if facts.step == "goals" else "agent",
        summary=f"{_to_write(facts)}, then run `qrspi next {facts.run}`. "
        f"`qrspi prompt {facts.run} author` prints what to tell an agent"
        f"{_taken_in(facts)}.{_as_it_was(facts)}",
        because=why,
        step=facts.step,
        missing=(STEP[facts.step].artifact, *_first_task(facts)),
        inputs=tuple(inputs),
        asks=(Ask("author", facts.step),),
        command=f"qrspi next {facts.run}",
        kind="author",
    )


def _taken_in(facts: Facts) -> str:
    if facts.step != "research":
        return ""
    from qrspi.core.steps import sending

    return f"; {sending.taken_in(facts)}"


def _first_task(facts: Facts) -> tuple[str, ...]:
    """A plan has at least one, and one file for each."""
    return ("tasks/task-01.md",) if facts.step == "plan" and not facts.tasks else ()


def _reset(facts: Facts) -> Record | None:
    """The rewind to an earlier step, if it is the newest decision about this one."""
    records = approvals.newest_first(facts.records, approvals.naming(facts.step))
    entry = next((record for record in records if record.mark(facts.step)), None)
    return entry if entry and entry.event == "rewind" and entry.step != facts.step else None


def _why_reset(facts: Facts) -> str:
    """Whoever looks for facts is not told, as the words are about what they are wanted for."""
    entry = _reset(facts)
    return entry.feedback if entry and facts.step != "research" else ""


def _as_it_was(facts: Facts) -> str:
    """Where only an earlier step was found wanting, the text may stand."""
    entry = approvals.newest(facts.records, facts.step)
    if entry is None or entry.event != "rewind" or not is_returned(facts):
        return ""
    if facts.step == "research" or (_reset(facts) is None and _words_with(facts, entry)):
        return ""
    again = f" `qrspi next {facts.run} --anyway` has {STEP[facts.step].artifact} reviewed as it is"
    if _reset(facts) is None:
        return f"{again}."
    return f"{again}, `qrspi approve {facts.run} {facts.step} --unreviewed` approves it so."


def _as_it_is(facts: Facts) -> tuple[str, ...]:
    """The step's own text so far, and for a text made from a plan each task of it."""
    own = () if facts.statuses.get(facts.step) == "missing" else (STEP[facts.step].artifact,)
    tasks = step_text.companions(facts.tree, "plan") if facts.step == "parallelize" else ()
    return (*tasks, *own, *step_text.companions(facts.tree, facts.step))


def _why_open(asked: OpenQuestions) -> tuple[str, ...]:
    names = [each.name for each in asked.inquiry.open]
    returned = ", ".join(name for name in names if name in asked.sent_back)
    before = ", ".join(name for name in names if name in asked.changed)
    known = asked.sent_back | asked.changed
    new = sum(len(each.questions) for each in asked.inquiry.open if each.name not in known)
    reasons = (
        f"{new} question{'s have' if new > 1 else ' has'} no answer yet" if new else "",
        f"the feedback names {returned}, and the answer is still what it was" if returned else "",
        f"the question has changed since {before} was answered" if before else "",
    )
    return tuple(filter(None, reasons))


def _comments(facts: Facts) -> tuple[str, ...]:
    from qrspi.core.records import comments

    open_ = comments.open_about(facts.tree, facts.step)
    return (comments.page_file(facts.step),) if open_ else ()


def _where(asked: tuple[QuestionGroup, ...]) -> str:
    """A file that is for one question says so by its name."""
    files = [f"{each.file}{_for_several(each)}" for each in asked]
    if len(files) == 1:
        return f"in {files[0]}"
    own = " of its own" if all(len(each.questions) == 1 for each in asked) else ""
    return f"each in a file{own} ({', '.join(files)})"


def _for_several(asked: QuestionGroup) -> str:
    *first, last = asked.ids
    return f" for {', '.join(first)} and {last}" if first else ""


def _answers(facts: Facts, why: tuple[str, ...], asked: OpenQuestions) -> Next:
    """One author for each question, or for several that are answered together. The summary is
    written when all have answered."""
    from qrspi.core.steps import sending

    questions = asked.inquiry.open
    files = tuple(each.file for each in questions)
    sent_back = newest_feedback(facts.tree, facts.step) if "feedback" in facts.names else ""
    first = questions[0].name
    count = counted(sum(len(each.questions) for each in questions), "question")
    who = "the first" if len(files) > 1 else "an agent"
    return Next(
        action="author",
        who="agent",
        summary=f"{returned(facts)}Answer {count} of questions.md, {_where(questions)}, then run "
        f"`qrspi next {facts.run}`. `qrspi prompt {facts.run} {first}` prints what to tell {who}; "
        f"{sending.taken_in(facts, first)}.",
        because=(*why, *_why_open(asked), *asked.inquiry.not_dispatched),
        step=facts.step,
        missing=files,
        inputs=tuple(filter(None, ("questions.md", sent_back))),
        asks=tuple(Ask("research-question", facts.step, target=one.name) for one in questions),
        command=f"qrspi next {facts.run}",
        kind="author",
    )
