"""A whole run as one document: for a pull request, or for an archive.

It says nothing about now: the same files give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.model import Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject
from qrspi.core.records import approvals, task_records
from qrspi.core.records.approvals import Record
from qrspi.render.terminal import one_line
from qrspi.web.parts import finding_cards, navigation, review_rounds, words
from qrspi.web.parts.finding_cards import Card
from qrspi.web.parts.navigation import Stop
from qrspi.web.parts.review_rounds import Plot, RoundFigures
from qrspi.world.runs.committed_tree import CommittedTree

_BOXES = {"pending": " ", "in_progress": "~", "completed": "x"}


_WORKED_ON = "implement"  # the step that has the tasks


class ReportRound(NamedTuple):
    figures: RoundFigures
    findings: list[Card]


class StepReport(NamedTuple):
    state: dict[str, Any]
    rounds: tuple[ReportRound, ...]
    plot: Plot | None
    tasks: tuple[TaskReport, ...] = ()

    @property
    def is_told(self) -> bool:
        return bool(self.rounds or self.tasks)

    @property
    def figures(self) -> tuple[RoundFigures, ...]:
        return tuple(one.figures for one in self.rounds)


class TaskReport(NamedTuple):
    state: dict[str, Any]  # as `task list` has it
    said: str  # by its implementer: concerns, or what blocks it
    reviews: StepReport

    @property
    def standing(self) -> str:
        """Where it stands, and what its implementer says, which may be another matter."""
        state, report, reason = (self.state[name] for name in ("state", "report", "reason"))
        listed = (state, f"reported {report}" if report else "", reason or "")
        return ", ".join(filter(None, listed))


class Decision(NamedTuple):
    time: str
    who: str
    what: str


class Report(NamedTuple):
    run: dict[str, Any]
    steps: tuple[StepReport, ...]
    decisions: tuple[Decision, ...]  # of people, and what a quick run approved by itself
    spend: dict[str, Any]
    proof: dict[str, Any]

    @property
    def track(self) -> tuple[Stop, ...]:
        return navigation.stops(self.run)

    @property
    def spent(self) -> str:
        total = self.spend["total"]
        tokens = total["input_tokens"] + total["output_tokens"]
        calls, unpriced = counted(total["calls"], "call"), total["unpriced"]
        measured = f"{calls}, {counted(tokens, 'token')}" if tokens or not unpriced else calls
        if not unpriced:
            return f"{measured}, {total['usd']:.4f} USD."
        known = f", {total['usd']:.4f} USD" if total["usd"] else ""
        return f"{measured}{known}. Nobody said what {counted(unpriced, 'call')} cost."

    @property
    def proven(self) -> str:
        checked = counted(self.proof.get("checked", 0), "thing")
        gaps = len(self.proof.get("gaps", ()))
        return f"{checked} derived again: {f'{gaps} missing' if gaps else 'nothing is missing'}."

    @property
    def doubts(self) -> list[str]:
        doubts: list[str] = []
        for gap in self.proof.get("gaps", ()):
            doubts.append(f"{_where(gap)}{gap['missing']}: {gap['because']}")
        for unproven in self.proof.get("unproven", ()):
            doubts.append(f"{_where(unproven)}unproven: {unproven['because']}")
        return doubts


def _where(doubt: dict[str, Any]) -> str:
    number = f" round {doubt['round']}" if doubt["round"] else ""
    return f"{doubt['step']}{number}: " if doubt["step"] else ""


def gather(commands: Commands, name: str, path: str) -> Report:
    run = commands.ask("status", name)["runs"][0]
    tree = CommittedTree(path)
    return Report(
        run,
        tuple(_step(commands, tree, name, one) for one in run["steps"]),
        tuple(_decisions(tree)),
        commands.ask("spend", name),
        commands.run("verify", name).document,
    )


def _decisions(tree: CommittedTree) -> Iterator[Decision]:
    """Not from the trail, which a clone does not have."""
    records = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    for record in () if isinstance(records, Problem) else records:
        yield Decision(record.when, record.person, _in_words(record))


def _in_words(record: Record) -> str:
    alone = "by itself" if record.surface == approvals.CASCADE else ""
    head = " ".join(filter(None, (record.event, record.step, alone)))
    chosen = " ".join(filter(None, (record.finding, record.option)))
    return ": ".join(filter(None, (head, chosen, record.reason or record.note)))


def _step(commands: Commands, tree: CommittedTree, run: str, state: dict[str, Any]) -> StepReport:
    reviewed = subject(state["step"])
    figures = review_rounds.of_step(tree, reviewed) if reviewed else ()
    rounds = tuple(ReportRound(one, _findings(commands, run, state, one)) for one in figures)
    tasks = _tasks(commands, tree, run) if state["step"] == _WORKED_ON else ()
    return StepReport(state, rounds, review_rounds.plot(figures), tuple(tasks))


def _tasks(commands: Commands, tree: CommittedTree, run: str) -> Iterator[TaskReport]:
    answer = commands.run("task", "list", run)
    for state in () if answer.status else answer.document["tasks"]:
        report = task_records.report(tree, state["task"])
        text = report.text if isinstance(report, task_records.Report) else ""
        yield TaskReport(state, text, _step(commands, tree, run, {"step": state["task"]}))


def _findings(
    commands: Commands, run: str, state: dict[str, Any], figures: RoundFigures
) -> list[Card]:
    answer = commands.run("show", run, state["step"], "--round", str(figures.number))
    return [] if answer.status else finding_cards.there(answer.document["findings"])


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    run = report.run
    yield f"# {_plain(run['run'])}"
    yield ""
    yield f"{words.pipeline(run)}."
    yield ""
    yield from (f"- [{_BOXES[one.state['progress']]}] {one.state['step']}" for one in report.steps)
    yield ""
    yield f"Next: {_plain(run['next']['summary'])}"
    for step in report.steps:
        yield from _step_lines(step)
    yield from ("", "## Decisions", "")
    yield from (_decision(decision) for decision in report.decisions)
    yield from ("", "## Spend", "", report.spent)
    yield from ("", "## Proof", "", report.proven)
    yield from (f"- {_plain(doubt)}" for doubt in report.doubts)


def _step_lines(step: StepReport) -> Iterator[str]:
    if not step.is_told:
        return
    yield from ("", f"## {step.state['step']}")
    for task in step.tasks:
        yield from _task_lines(task)
    if step.rounds:
        yield from _round_lines(step)


def _task_lines(task: TaskReport) -> Iterator[str]:
    state = task.state
    yield from ("", f"### {_plain(state['task'])}: {_plain(state['title'])}", "")
    yield f"{_plain(task.standing)}."
    if task.said:
        yield from ("", *_quoted(task.said))
    if task.reviews.rounds:
        yield from _round_lines(task.reviews)


def _round_lines(step: StepReport) -> Iterator[str]:
    yield ""
    yield "| round | stage | kept | dropped | looked at |"
    yield "|---|---|---|---|---|"
    for round in step.rounds:
        number, stage, kept, dropped, _, looks = round.figures
        yield f"| {number} | {stage} | {kept} | {dropped} | {words.LOOKS[looks]} |"
    for round in step.rounds:
        for card in round.findings:
            yield from ("", f"**{card.name}** {_verdict(card.finding)}", "")
            yield from _quoted(card.finding["message"])


def _quoted(text: str) -> Iterator[str]:
    lines = (_plain(line) for line in text.strip().split("\n"))
    return (f"> {_BEGINNING.sub(_as_words, line)}".rstrip() for line in lines)


# What would make a heading, a list, a table's rule or a fence of a line.
_BEGINNING = re.compile(r"^\s*(?:[=+\-`~]|[0-9]+(?=[.)]))")


def _as_words(found: re.Match[str]) -> str:
    begins = found[0]
    return f"{begins}\\" if begins[-1].isdigit() else f"{begins[:-1]}\\{begins[-1]}"


def _verdict(finding: dict[str, Any]) -> str:
    kind = f"{finding['severity']}, {finding['effective_type']}"
    verdict = "" if finding["decision"] else f"{words.VERDICT[finding['verdict']]}, "
    return f"({kind}): {verdict}{_plain(finding['because'])}"


def _decision(decision: Decision) -> str:
    time, who, what = map(_plain, decision)
    return f"- {time} {who}: {what}"


def _plain(text: str) -> str:
    """One line that no reader of Markdown takes for anything but words."""
    marked = one_line(text)
    for sign in "\\*_[]<>#|&~":
        marked = marked.replace(sign, f"\\{sign}")
    return marked
