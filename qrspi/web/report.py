"""A whole run as one document: for a pull request, or for an archive.

It says nothing about now: the same files give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.model import Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject
from qrspi.core.records import approvals, audit_trail
from qrspi.render.terminal import one_line
from qrspi.web.parts import finding_cards, review_rounds, track, words
from qrspi.web.parts.finding_cards import Card
from qrspi.web.parts.review_rounds import Plot, RoundFigures
from qrspi.web.parts.track import Stop
from qrspi.world.runs.committed_tree import CommittedTree

_BOXES = {"pending": " ", "in_progress": "~", "completed": "x"}


class Reviewed(NamedTuple):
    figures: RoundFigures
    findings: list[Card]


class StepReport(NamedTuple):
    state: dict[str, Any]
    rounds: tuple[Reviewed, ...]
    plot: Plot | None

    @property
    def figures(self) -> tuple[RoundFigures, ...]:
        return tuple(one.figures for one in self.rounds)


class Report(NamedTuple):
    run: dict[str, Any]
    steps: tuple[StepReport, ...]
    decisions: list[dict[str, Any]]  # of people and of the engine, as git has them
    spend: dict[str, Any]
    proof: dict[str, Any]

    @property
    def track(self) -> tuple[Stop, ...]:
        return track.stops(self.run)

    @property
    def spent(self) -> str:
        total = self.spend["total"]
        tokens = total["input_tokens"] + total["output_tokens"]
        return f"{counted(total['calls'], 'call')}, {tokens} tokens, {total['usd']:.4f} USD."

    @property
    def proven(self) -> str:
        checked = counted(self.proof.get("checked", 0), "thing")
        gaps = len(self.proof.get("gaps", ()))
        return f"{checked} derived again: {f'{gaps} missing' if gaps else 'nothing was skipped'}."

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
        _decisions(tree),
        commands.ask("spend", name),
        commands.run("verify", name).document,
    )


def _decisions(tree: CommittedTree) -> list[dict[str, Any]]:
    """Not from the trail, which a clone does not have."""
    found = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    if isinstance(found, Problem):
        return []
    return [audit_trail.render(audit_trail.of_decision(record)) for record in found]


def _step(commands: Commands, tree: CommittedTree, run: str, state: dict[str, Any]) -> StepReport:
    about = subject(state["step"])
    figures = review_rounds.of_step(tree, about) if about else ()
    rounds = tuple(Reviewed(one, _findings(commands, run, state, one)) for one in figures)
    return StepReport(state, rounds, review_rounds.plot(figures))


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
    for one in report.steps:
        yield from _step_lines(one)
    yield from ("", "## Decisions", "")
    yield from (_decision(one) for one in report.decisions)
    yield from ("", "## Spend", "", report.spent)
    yield from ("", "## Proof", "", report.proven)
    yield from (f"- {_plain(doubt)}" for doubt in report.doubts)


def _step_lines(step: StepReport) -> Iterator[str]:
    if not step.rounds:
        return
    yield from ("", f"## {step.state['step']}", "")
    yield "| round | stage | kept | dropped | looked at |"
    yield "|---|---|---|---|---|"
    for one in step.rounds:
        number, stage, kept, dropped, _, looks = one.figures
        yield f"| {number} | {stage} | {kept} | {dropped} | {words.LOOKS[looks]} |"
    for one in step.rounds:
        for card in one.findings:
            yield from ("", f"**{card.name}** {_verdict(card.finding)}", "")
            yield f"> {_plain(card.finding['message'])}"


def _verdict(finding: dict[str, Any]) -> str:
    kind = f"{finding['severity']}, {finding['effective_type']}"
    said = "" if finding["decision"] else f"{words.VERDICT[finding['verdict']]}, "
    return f"({kind}): {said}{_plain(finding['because'])}"


def _decision(line: dict[str, Any]) -> str:
    time, who, event = (_plain(line.get(name, "")) for name in ("time", "who", "event"))
    about = f" {_plain(line['step'])}" if line["step"] else ""
    return f"- {time} {who}: {event}{about}"


def _plain(text: str) -> str:
    """One line that no reader of Markdown takes for anything but words."""
    marked = one_line(text)
    for sign in "\\*_[]<>#|":
        marked = marked.replace(sign, f"\\{sign}")
    return marked
