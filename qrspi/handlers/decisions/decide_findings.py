"""Decisions about findings that wait for a person, kept in the round's pause file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from qrspi.core.errors import Refusal, accepted
from qrspi.core.filenames import pause_file
from qrspi.core.model import Problem, Verdict
from qrspi.core.pipeline import STEP, Subject
from qrspi.core.records.approvals import ABOUT_STEPS, FILE, Record
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.pause_file import Choice
from qrspi.core.steps import permits
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.decisions import rewind
from qrspi.handlers.jobs.job import Job


def about(job: Job, subject: Subject | None) -> Job:
    """The same for a subject other than the next one, such as one of several tasks."""
    if subject is None or (job.loop and job.loop.subject == subject):
        return job
    base = 0 if subject.is_task else job.facts._replace(step=subject.step).base
    loop = loops.evaluate(job.workspace, subject, job.facts.config, base, job.facts.records)
    return job._replace(loop=loop)


def waiting(job: Job, verdicts: Iterable[Verdict] = ("pause", "propose")) -> tuple[str, ...]:
    wanted = tuple(verdicts)
    pause = job.loop.pause if job.loop else None
    undecided = pause.undecided if pause else ()
    triaged = job.loop.triaged if job.loop else ()
    names = tuple(
        item.finding.name
        for item in triaged
        if item.verdict in wanted and item.finding.name in undecided
    )
    if not names:
        what = "proposed finding" if wanted == ("propose",) else "finding"
        raise Refusal(permits.nothing_to_decide(job.run, job.next, what=what))
    return names


def full_name(job: Job, word: str) -> str:
    """The word itself when no finding or several have it, so that the refusal lists them."""
    pause = job.loop.pause if job.loop else None
    known = (item.finding.name for item in (job.loop.triaged if job.loop else ()))
    for names in (pause.undecided if pause else (), known):
        named = [name for name in names if name.endswith(f".{word}")]
        if named:
            return named[0] if len(named) == 1 else word
    return word


def plan(
    job: Job,
    names: Iterable[str],
    choice: Literal["apply", "skip"],
    named: str = "",
    note: str = "",
) -> ChangeSet:
    chosen = tuple(dict.fromkeys(names))
    problems = (permits.decide(job.run, job.next, job.loop, name) for name in chosen)
    if problem := next(filter(None, problems), None):
        if _is_cut_off(job, chosen, choice):
            return _on_record(job, (), chosen)
        raise Refusal(problem)
    loop = job.round_loop
    if problem := _tells(job, loop, chosen, note):
        raise Refusal(problem)
    edit = _edit(job, loop, chosen, choice)
    key, number = loop.subject.key, loop.round
    about = change_set.decision(job, "decide", key, number, edit)._replace(option=choice, note=note)
    decided = [about._replace(finding=name) for name in chosen]
    known = _are_told(job, decided, named)
    workspace, surface = job.workspace, job.options.actor
    lines = () if known else (change_set.signed(workspace, surface, decided, named),)
    return _on_record(job, (*lines, edit), chosen)


def _tells(job: Job, loop: Loop, names: tuple[str, ...], note: str) -> Problem | None:
    """The fixer of research reads the words."""
    if loop.subject.key != "research":
        return None
    from qrspi.core.steps import isolation

    problem = isolation.told_by(job.workspace, job.run, note)
    hint = f"qrspi decide {job.run} {names[0]} apply -m TEXT"
    return problem._replace(hint=hint) if problem else None


def _on_record(job: Job, edits: tuple[Edit, ...], chosen: tuple[str, ...]) -> ChangeSet:
    loop = job.round_loop
    change = ChangeSet("decide", loop.subject.key, loop.round, edits, concerns=chosen)
    return change_set.on_record_in_git(job, change, "decide about findings")


def _is_cut_off(job: Job, names: tuple[str, ...], choice: Choice) -> bool:
    """Whether all of it is decided so already, and only the commit is missing."""
    loop = job.loop
    decisions = loop.pause.decisions if loop and loop.pause else {}
    if loop is None or not all(decisions.get(name) == choice for name in names):
        return False
    proven = all(loop.decided.proves(name, choice) for name in names)
    file = pause_file(loop.subject.key, loop.round)
    return bool(names) and proven and change_set.lacks_commit(job, (file, FILE))


def _are_told(job: Job, decided: list[Record], named: str) -> bool:
    """Whether a command that was killed after its lines has left the rest to be done."""
    newest = job.facts.records[-len(decided) :]
    unsigned = [record._replace(who="", user="", when="", surface="") for record in newest]
    return unsigned == [one._replace(named=named) for one in decided]


def _edit(job: Job, loop: Loop, names: tuple[str, ...], choice: Choice) -> Edit:
    path = pause_file(loop.subject.key, loop.round)
    data = job.workspace.read(path)
    assert not isinstance(data, Fault)
    changed = accepted(pauses.decide(data, dict.fromkeys(names, choice), path, loop.triaged))
    what = ", ".join(f"{name}: {choice}" for name in names)
    return Edit("replace", path, what, changed, data)


def target(job: Job, name: str, to: str | None) -> str:
    """Where a loop back for this finding goes, including one that a kill cut off."""
    begun = _begun(job, name)
    if begun and to in (None, begun):
        return begun
    if problem := permits.decide(job.run, job.next, job.loop, name):
        raise Refusal(problem)
    return accepted(permits.loop_back(job.facts, job.round_loop, name, to))


def _begun(job: Job, name: str) -> str:
    last = next((r for r in reversed(job.facts.records) if r.event in ABOUT_STEPS), None)
    if last is None or last.event != "rewind" or last.finding != name:
        return ""
    return last.step if rewind.half_done(job, last.step) else ""


def loop_back(job: Job, name: str, to: str | None, who: str = "", note: str = "") -> ChangeSet:
    step = target(job, name, to)
    words = _for_author(job, name, step, note)
    return rewind.plan(job, step, who, name, words)._replace(handler="loop-back")


def _for_author(job: Job, name: str, step: str, note: str) -> bytes | None:
    """The finding that is the reason, below a person's words. After a kill, what is left to do does
    not need them."""
    triaged = job.loop.triaged if job.loop else ()
    finding = next((item.finding for item in triaged if item.finding.name == name), None)
    if finding is None:
        return None
    from qrspi.core.steps import isolation

    where = f"{name} of {job.round_loop.subject.key} round {job.round_loop.round}"
    said = frontmatter.body(finding.data).decode(errors="replace").strip()
    if step == "research" and isolation.told_by(job.workspace, job.run, said):
        said = ""  # whoever looks for facts is not told what they are wanted for
    about = f"This goes back to {STEP[step].artifact} for {where}{':' if said else '.'}"
    return "\n\n".join(filter(None, (note, about, said))).encode()
