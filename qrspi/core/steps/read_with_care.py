"""What a person at a gate should read with care: what changed since somebody last decided about it,
what reviewers kept, and what the engine decided by itself."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.filenames import RoundPaths, loop_choice
from qrspi.core.findings import near_names
from qrspi.core.model import counted
from qrspi.core.pipeline import CODE_STEPS, STEP, subject_of
from qrspi.core.records import approvals, decisions, step_text
from qrspi.core.records.approvals import Part, Record
from qrspi.core.rounds import round_list, unread_files
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import text_parts
from qrspi.core.steps.after_round import UNASKED
from qrspi.core.steps.facts import Facts
from qrspi.core.text import shortened
from qrspi.core.text.shortened import listed
from qrspi.core.tree import exists
from qrspi.core.yaml import frontmatter

BEGIN = "Read with care:"
MOST_SECTIONS = 3
_DID = {
    "approve": "approved it",
    "reject": "rejected it",
    "unapprove": "took it back",
    "rewind": "went back to it",
    "replan": "opened it for the next phase",
    "phase": "began the next phase",
}


def lines(facts: Facts, loop: Loop) -> tuple[str, ...]:
    said = _changed(facts, loop), _weighed(facts, loop), _unread(facts, loop), _said(facts)
    return tuple(filter(None, said))


def _unread(facts: Facts, loop: Loop) -> str:
    """What may be findings: agents left it in rounds, under names that no round knows."""
    found = unread_files.of_loop(facts.tree, loop.subject, facts.config, facts.base)
    if not found:
        return ""
    first, more = found[0], f" (+{len(found) - 1} more)" if len(found) > 1 else ""
    meant = near_names.hint(first.found, first.expected) or "."
    return f"Read by nobody: {first.file}{more}, as no round knows its name{meant}"


def _said(facts: Facts) -> str:
    """Comments that nobody has dealt with: an approval would leave them behind."""
    if not exists(facts.tree, approvals.COMMENTS):
        return ""
    from qrspi.core.records import comments

    open_ = comments.open_about(facts.tree, facts.step)
    what = f"{counted(len(open_), 'comment')} about it, which whoever writes it next would read"
    return f"Not dealt with: {what} (`qrspi comment list {facts.run}`)." if open_ else ""


def _changed(facts: Facts, loop: Loop) -> str:
    """What is new in the text for the person who last decided about it, or for its reviewers."""
    seen = approvals.newest(facts.records, facts.step)
    if seen and seen.event in _DID:
        return _since_decided(facts, seen)
    if facts.step in CODE_STEPS or not loop.round:
        return ""
    how = f"is the text that round {loop.round} reviewed"
    if silent := loop.files.silent_tags if loop.skipped and loop.files else ():
        how = f"is the text of round {loop.round}, without an answer from {', '.join(silent)}"
    elif not loop.fresh:
        how = f"has changed since round {loop.round} reviewed it, see {loop.paths.dispositions}"
    text = f"{loop.subject.artifact}{_with_more(facts)}"
    return f"{BEGIN} {text} {how}; nobody has decided about it before."


def _with_more(facts: Facts) -> str:
    """What is approved with the artifact."""
    count = len(step_text.companions(facts.tree, facts.step))
    noun = {"plan": "task", "research": "answer"}.get(facts.step, "file")
    return f" with its {counted(count, noun)}" if count else ""


def _since_decided(facts: Facts, seen: Record) -> str:
    artifact = STEP[facts.step].artifact
    by, on = seen.person or "somebody", f" on {seen.when[:10]}" if seen.when else ""
    since = f"since {by} {_DID[seen.event]}{on}"
    if step_text.is_unchanged(facts.tree, subject_of(facts.step), seen.body_hash):
        return f"{BEGIN} {artifact} has not changed {since}."
    if step_text.only_body_is_known(facts.tree, subject_of(facts.step), seen.body_hash):
        return f"{BEGIN} the body of {artifact} has not changed {since}."
    changed = _changed_parts(facts, seen)
    files = text_parts.changed_files(facts.tree, facts.step, seen)
    titles = _first([_shown(one.section) for one in changed if one.file == artifact])
    have = "has" if len(files) == 1 else "have"
    where = f" ({', '.join(titles)})" if titles else ""
    named = [f"{file}{where if file == artifact else ''}" for file in _first(files)]
    return f"{BEGIN} {listed(named)} {have} changed {since}."


def _changed_parts(facts: Facts, seen: Record) -> tuple[Part, ...]:
    """None where the record does not say what the text was made of."""
    before = text_parts.about(facts.step, seen.parts)
    return text_parts.changed(before, text_parts.of_step(facts.tree, facts.step)) if before else ()


def _first(names: Sequence[str]) -> list[str]:
    more = len(names) - MOST_SECTIONS
    return [*names[:MOST_SECTIONS], *([f"{more} more"] if more > 0 else [])]


def _shown(title: str) -> str:
    """A heading made fit for a sentence: no command, and not too long."""
    if title == text_parts.BEGINNING:
        return "its beginning"
    return shortened.at_words(" ".join(title.replace("`", "").split()), 60)


def _weighed(facts: Facts, loop: Loop) -> str:
    """The findings of the whole loop, not only those of its last round."""
    rounds = [one for one in round_list.rounds(facts.tree, loop.subject) if one > facts.base]
    heads = [facts.tree.head(RoundPaths(loop.subject.reviews, one).verified) for one in rounds]
    counts = [frontmatter.fields(head) for head in heads]
    kept = sum(frontmatter.number(one, "kept") for one in counts)
    dropped = sum(frontmatter.number(one, "dropped") for one in counts)
    engine = _by_engine(facts, loop, dropped)
    where = f"{_rounds(rounds)}{_skipped(facts, loop, rounds)}" if rounds else ""
    found = f"Findings: {kept} kept in {where}." if rounds else ""
    return " ".join(filter(None, (found, f"By the engine: {engine}." if engine else "")))


def _skipped(facts: Facts, loop: Loop, rounds: list[int]) -> str:
    """Of those kept: what people decided to leave as it is."""
    made = [decisions.of_round(facts.records, loop.subject.key, one) for one in rounds]
    skips = [skip for one in made for name in one.findings if (skip := one.skip_of(name))]
    people = list(dict.fromkeys(skip.person or "somebody" for skip in skips))
    return f", {len(skips)} of them skipped by {listed(people)}" if skips else ""


def _by_engine(facts: Facts, loop: Loop, dropped: int) -> str:
    choice = frontmatter.fields(facts.tree.head(loop_choice(loop.subject.reviews)))
    looped = frontmatter.text(choice, "chosen") == UNASKED
    before = facts.route[: facts.route.index(facts.step)] if facts.step in facts.route else ()
    approved = [
        step
        for step in before
        if facts.statuses[step] == "approved"
        and approvals.approval(facts.records, step) == "engine"
    ]
    did = (
        f"{dropped} dropped for {'its score' if dropped == 1 else 'their scores'}"
        if dropped
        else "",
        "this text sent to reviewers again without asking you" if looped else "",
        f"{listed(approved)} approved without you" if approved else "",
    )
    return ", ".join(filter(None, did))


def _rounds(numbers: list[int]) -> str:
    first, last = numbers[0], numbers[-1]
    return f"round {first}" if first == last else f"rounds {first} to {last}"
