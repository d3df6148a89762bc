"""Answers to menus that are not about one finding; `Next.kind` names the menu.

A new menu is a line in MENUS; its keys are the options that the derivation offers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from qrspi.core.errors import Refusal
from qrspi.core.findings import rejected
from qrspi.core.model import NextKind, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, Subject
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.steps import permits, review_action
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import decide_findings
from qrspi.handlers.jobs.job import Job

# The module, imported when its menu is answered, and the function in it.
MENUS: dict[NextKind, tuple[str, str]] = {
    "failure": ("failure", "plan"),
    "fix-files": ("failure", "plan"),
    "review": ("failure", "plan"),
    "verify": ("failure", "plan"),
    "loop": ("loop", "choose"),
    "loop-again": ("loop", "again"),
    "approve": ("loop", "again"),
    "cap": ("loop", "at_cap"),
    "escape": ("loop", "at_cap"),
    "imported-round": ("loop", "imported_round"),
    "baseline": ("tests", "at_baseline"),
    "batch": ("tasks", "at_batch_end"),
    "test": ("tests", "at_gate"),
    "test-failure": ("tests", "about_failure"),
    "quality": ("tasks", "without_pass"),
    "test-rejected": ("tests", "at_gate"),
}
# The options that approve a text, and the step whose text it is.
APPROVALS: dict[tuple[str, str], str] = {
    ("batch", "continue"): "implement",
    ("test", "ship"): "test",
}
ELSEWHERE: dict[NextKind, str] = {
    "config": "config.md is to be put right: say the number of one of the ways that status lists",
    "audit-rejected": "the audit rejects the plan: change its text, or reject it with your reasons",
    "pause": "findings wait, and each is decided by its own name",
    "approve": "a text waits for a yes or a no: approve it, or reject it",
    "task": "a task waits: take it with task accept or leave it with task skip, with a "
    "reason; task retry sends the agent of a blocked one again",
    "checkpoint-task": "a task asks for review: answer it with checkpoint review",
    "checkpoint-cap": "a task was reviewed too often: answer it with checkpoint review --anyway",
    "test-command": "say what runs the tests: config set RUN gates.test_command 'CMD', or none",
    "onto": "say which branch the tasks are merged into: next RUN --onto BRANCH",
    "replan": "say how the plan changes: replan minor, or replan major --to STEP",
}


class More(NamedTuple):
    to: str | None = None
    who: str = ""
    reason: str = ""  # why something is shipped although tests or findings speak against it
    text: str = ""  # the hash of the text that the option approves, as `approve --text` has it


Plan = Callable[[Job, str, More], ChangeSet]


def approves(change: ChangeSet) -> bool:
    """Whichever menu it is of. The commit that a killed approval lacks is part of it."""
    told = approvals.told_of("approve").encode()
    lines = (edit.data for edit in change.edits if edit.path == approvals.FILE)
    return change.handler == "approve" or any(told in data for data in lines)


def about(job: Job, subject: Subject | None) -> Job:
    other = decide_findings.about(job, subject)
    if other is job:
        return job
    facts = job.facts._replace(step=other.round_loop.subject.step)
    return other._replace(next=review_action.from_loop(facts, other.round_loop))


def named(job: Job, number: int) -> str:
    """The key of the option with this number. Beside a wait for agents, the page shows no menu."""
    options = job.next.menu if job.next.who == "human" else ()
    return options[number - 1].key if 0 < number <= len(options) else ""


def plan(job: Job, key: str, more: More) -> ChangeSet:
    if problem := objection(job, key) or _unnamed(job, key, more.text):
        if change := _cut_off(job, key) or _uncommitted(job, key):
            return change
        raise Refusal(problem)
    name, function = MENUS[job.next.kind]
    build: Plan = getattr(importlib.import_module(f"qrspi.handlers.menus.{name}"), function)
    return _on_record(job, key, more, build(job, key, more))


def _cut_off(job: Job, key: str) -> ChangeSet | None:
    """The commit of an approval, where a kill came before it: its menu is closed already."""
    from qrspi.handlers.decisions import approve

    step = next((step for (_, option), step in APPROVALS.items() if option == key), "")
    return approve.plan(job, step) if step and approve.lacks_commit(job, step) else None


def _uncommitted(job: Job, key: str) -> ChangeSet | None:
    """The commit of any other choice, where a kill came before it."""
    last = next(iter(job.facts.records[-1:]), None)
    if last is None or (last.event, last.option) != ("resolve", key):
        return None
    if not change_set.lacks_commit(job, (approvals.FILE,)):
        return None
    change = ChangeSet("resolve", last.step, last.round, ())
    return change_set.on_record_in_git(job, change, f"choose {key}")


def _on_record(job: Job, key: str, more: More, change: ChangeSet) -> ChangeSet:
    """A line of its own, before the choice is carried out. `stop` decides nothing."""
    if not change.edits:
        return _uncommitted(job, key) or change
    if not change.message:
        change = change_set.on_record_in_git(job, change, f"choose {key}")
    written = (edit for edit in change.edits if edit.path != approvals.FILE)
    step, number = job.next.step or job.facts.step, job.next.round
    record = change_set.decision(job, "resolve", step, number, next(written, None))
    decided = record._replace(option=key)
    if _is_told(job, decided._replace(named=more.who), change):
        return change
    return change._replace(edits=(change_set.on_record(job, decided, more.who), *change.edits))


def _is_told(job: Job, decided: Record, change: ChangeSet) -> bool:
    """Whether a command that was killed after its line has left the rest to be done."""
    records = job.facts.records
    if (job.next.kind, decided.option) in APPROVALS or change.handler == "rewind":
        # The text says what it is about. Which file comes first depends on the moment of the kill.
        decided = decided._replace(file="", file_hash="")
        did = bool(records) and records[-1].event in ("approve", "rewind")
        records = records[:-1] if did else records
        records = tuple(record._replace(file="", file_hash="") for record in records[-1:])
    elif decided.option == "retry":
        records = tuple(_as_first(one, decided, change) for one in records[-1:])
    elif not decided.file_hash:
        return False
    if not records:
        return False
    return records[-1]._replace(who="", user="", when="", surface="") == decided


def _as_first(last: Record, decided: Record, change: ChangeSet) -> Record:
    """The last retry, as if it began with the same file, unless this one keeps another answer."""
    kept = next((edit.path for edit in change.edits if edit.kind == "create"), "")
    if kept and rejected.number_of(kept) != rejected.number_of(last.file):
        return last
    return last._replace(file=decided.file, file_hash=decided.file_hash)


def _unnamed(job: Job, key: str, text: str) -> Problem | None:
    """A person who approves on the page says which text was on the screen."""
    approved = APPROVALS.get((job.next.kind, key), "")
    if approved and not text and job.options.actor == "web":
        asked = f"{key} approves {STEP[approved].artifact}: name the text that was on the screen"
    elif text and not approved:
        asked = f"--text names a text that is approved, and {key} approves none"
    else:
        return None
    return Problem("usage", asked, field="--text", found=text, hint=f"qrspi status {job.run}")


def stop(step: str, number: int = 0, note: str = "nothing was changed") -> ChangeSet:
    return ChangeSet("stop", step, number, (), notes=(note,))


def objection(job: Job, key: str) -> Problem | None:
    waits = job.next
    if waits.kind not in MENUS or not waits.menu:
        how = ELSEWHERE.get(waits.kind, f"no menu is open: {permits.now(waits)}")
        own = next((one.command for one in waits.options if one.key == key), "")
        how = f"`{own}` takes {key} here" if own else how
        return Problem("no-menu", how, field="OPTION", found=key, hint=own or waits.hint(job.run))
    keys = [option.key for option in waits.menu]
    if key in keys:
        return None
    listed = ", ".join(keys)
    text = f"{key!r} is not offered now, {permits.now(waits)}; options: {listed}"
    return Problem(
        "not-offered", text, field="OPTION", found=key, expected=listed, hint=waits.hint(job.run)
    )
