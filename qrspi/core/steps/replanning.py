"""Between two phases: what a person chose, and how far the move to the next phase has come.

Everything is read from approvals.jsonl: the choice counts from the approval that ended the phase.
"""

from __future__ import annotations

import re

from qrspi.core.filenames import task_key
from qrspi.core.model import Ask, Next, NextKind, Option
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import MARKER, STEP, subject_of
from qrspi.core.records import step_text
from qrspi.core.records.approvals import Record
from qrspi.core.steps import next_actions
from qrspi.core.steps.facts import Facts
from qrspi.core.text import headings
from qrspi.core.tree import Tree
from qrspi.core.yaml import frontmatter

TARGETS = ("goals", "design", "phasing", "structure", "plan")


class Course(NamedTuple):
    """What is on record since the phase's tests were approved."""

    minor: Record | None = None  # with the hash of the plan as it was then
    major: Record | None = None  # the record that names every text it takes back
    archiving: bool = False  # the finished phase is being put away


def course(facts: Facts) -> Course:
    so_far = Course()
    for record in facts.records:
        match record.event:
            case "approve" if record.step == "test":
                so_far = Course()
            case "replan":
                so_far = so_far._replace(minor=record)
            case "rewind" if record.replan == "major":
                so_far = so_far._replace(major=record)
            case "phase":
                so_far = so_far._replace(archiving=True)
    return so_far


def finished_phase(tree: Tree) -> int:
    """The phase that the marker says is done; 0 when it does not say."""
    return frontmatter.number(frontmatter.fields(tree.head(MARKER)), "phase")


PROPOSAL = STEP["replan"].artifact


def _rejected_by(facts: Facts) -> str:
    if PROPOSAL not in facts.names:
        return ""
    from qrspi.core.steps import authoring

    return authoring.rejected_by(facts, facts.tree.read(PROPOSAL))


def ask(facts: Facts) -> Next:
    """A person decides; an agent may propose what, as it may draft goals."""
    feedback = _rejected_by(facts)
    proposed = PROPOSAL if PROPOSAL in facts.names and not feedback else ""
    minor, major = f"qrspi replan minor {facts.run}", f"qrspi replan major {facts.run} --to STEP"
    author = (
        f"; `qrspi prompt {facts.run} author` prints what to tell an agent that proposes it first, "
        f"in {PROPOSAL}"
    )
    read = f"read {proposed}, then " if proposed else ""
    return Next(
        action="replan",
        who="human",
        summary=f"Phase {facts.phase} is done and another follows: {read}say how the plan changes "
        f"with `{minor}` or `{major}`{'' if proposed else author}.",
        because=(f"{MARKER} is there",),
        step="replan",
        inputs=tuple(filter(None, (proposed, feedback))),
        asks=() if proposed else (Ask("author", "replan"),),
        options=(
            Option("minor", "only the remaining plan and tasks change"),
            Option("major", "an earlier artifact changes: say which with --to"),
        ),
        command=minor,
        kind="replan",
    )


def answer(facts: Facts) -> Next | None:
    return under_way(facts) or _edit(facts)


def under_way(facts: Facts) -> Next | None:
    chosen = course(facts)
    if chosen.major:
        return _finish(facts, "replan-major", f"Go back to {chosen.major.step}")
    replanned = facts.step == "replan" and facts.statuses.get("plan") == "approved"
    if chosen.archiving or (chosen.minor and replanned):
        number = finished_phase(facts.tree) or facts.phase
        return _finish(facts, "archive-phase", f"Put phase {number} away and begin the next")
    return None


def _finish(facts: Facts, kind: NextKind, what: str) -> Next:
    because = ("a person chose so, and it is not finished",)
    following = next_actions.by_engine(facts, "replan", kind, what, because, missing=(MARKER,))
    return following._replace(step="replan")


def of_plan(facts: Facts) -> Facts:
    """After `replan minor` the run stands at replan, while its plan is written, reviewed and
    approved for the next phase."""
    if facts.step != "replan" or facts.statuses.get("plan") != "replan-draft":
        return facts
    chosen = course(facts)
    if chosen.minor is None or chosen.major or chosen.archiving:
        return facts
    return facts._replace(step="plan")


def _edit(facts: Facts) -> Next | None:
    """An agent changes the plan first; from then on it is reviewed like any other draft."""
    chosen = course(facts).minor
    if chosen is None or (facts.step, facts.statuses.get("plan")) != ("plan", "replan-draft"):
        return None
    why = _unedited(facts, chosen)
    return _author(facts, why) if why else None


def _unedited(facts: Facts, chosen: Record) -> tuple[str, ...]:
    from qrspi.core.steps import authoring

    if path := authoring.rejected_by(facts, facts.tree.read(STEP["plan"].artifact)):
        return (f"the plan is still the text that {path} rejects",)
    if step_text.may_be_unchanged(facts.tree, subject_of("plan"), chosen.body_hash):
        return ("the plan is open for the next phase, and has not changed since",)
    return () if _open_tasks(facts) else ("no task of the next phase has a file",)


def _open_tasks(facts: Facts) -> list[str]:
    """Those of the phase that is over stay approved."""
    return [key for key, status in facts.tasks.items() if status != "approved"]


def _author(facts: Facts, why: tuple[str, ...]) -> Next:
    from qrspi.core.steps import authoring

    run, number = facts.run, (finished_phase(facts.tree) or facts.phase) + 1
    proposed = f", as {PROPOSAL} proposes" if PROPOSAL in facts.names else ""
    as_it_is = ""
    if _open_tasks(facts):
        approve = f"qrspi approve {run} plan --unreviewed"
        as_it_is = f" Where nothing has to change, a person approves it as it is: `{approve}`."
    feedback = authoring.newest_feedback(facts.tree, "plan") if "feedback" in facts.names else ""
    return Next(
        action="replan",
        who="agent",
        summary=f"Change plan.md and tasks/ for phase {number}{proposed}, then run "
        f"`qrspi next {run}`. `qrspi prompt {run} author` prints what to tell an agent.{as_it_is}",
        because=why,
        step="plan",
        inputs=tuple(filter(None, (feedback,))),
        missing=(STEP["plan"].artifact, *_wanted_task(facts)),
        asks=(Ask("author", "plan"),),
        command=f"qrspi next {run}",
        kind="replan-edit",
    )


def _wanted_task(facts: Facts) -> tuple[str, ...]:
    """Where no task is left for the next phase, the first one that may be written."""
    if _open_tasks(facts):
        return ()
    from qrspi.core.artifacts import task_file

    numbers = [int(found[0]) for key in facts.tasks if (found := re.search(r"\d+", key))]
    key = task_key(f"{max(numbers, default=0) + 1:02d}")
    return (task_file.task_path(key),) if key else ()


def names_unknown_scope(replan: bytes) -> bool:
    """Whether a change has the class `scope-unknown`, which needs a major replan."""
    lines = replan.decode(errors="replace").split("\n")
    spans = [span for span in headings.read(replan).spans if span.title == "What changes"]
    parts = [lines[span.start : span.end] for span in spans] or [lines]
    return any(re.search(r"\bscope-unknown\b", line) for part in parts for line in part)
